/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

enum {
	DELAY_MS = 1000,
	REDRAW_MS = 100,
	RATE_MS = 1000, /* a rate over less than this says nothing */
};

/*
 * `next_ms` is when the next line may be drawn, 0 if no work has begun. It is
 * read without the lock, since most calls have nothing to do but look at it.
 */
static atomic_bool enabled;
static _Atomic int64_t next_ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t drawn; /* columns of the line that is shown; under the lock */

/* The period over which the rate is measured; under the lock. */
static struct {
	char what[64];
	size_t total, done;
	int64_t begin_ms;
} stretch;

static int64_t now_ms(void)
{
	return (int64_t)(clock_monotonic() * 1000);
}

void progress_setup(const char *when, bool quiet)
{
	bool on;

	if (quiet || (when && !strcmp(when, "never")))
		on = false;
	else if (when && !strcmp(when, "always"))
		on = true;
	else
		on = isatty(STDERR_FILENO);
	atomic_store(&enabled, on);
	atomic_store(&next_ms, 0);
}

bool progress_enabled(void)
{
	return atomic_load(&enabled);
}

/* A job in the background must not overwrite what the user is doing. */
static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group < 0 || group == getpgrp();
}

static size_t count_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

static void compose_line(struct strbuf *line, const char *what, size_t done, size_t total)
{
	char some[UNITS_SIZE], all[UNITS_SIZE];

	if (!total) {
		strbuf_addf(line, "%s: %s %s", what, units_format_count(some, done),
			    done == 1 ? "file" : "files");
		return;
	}
	done = done < total ? done : total;
	strbuf_addf(line, "%s: %3u%% (%s/%s)", what, (unsigned)((double)done * 100 / (double)total),
		    units_format_count(some, done), units_format_count(all, total));
}

/* 75 as "1m 15s", 7500 as "2h 5m". */
static void add_duration(struct strbuf *out, int64_t seconds)
{
	if (seconds < 60)
		strbuf_addf(out, "%llds", (long long)seconds);
	else if (seconds < 3600)
		strbuf_addf(out, "%lldm %llds", (long long)(seconds / 60), (long long)(seconds % 60));
	else
		strbuf_addf(out, "%lldh %lldm", (long long)(seconds / 3600),
			    (long long)(seconds % 3600 / 60));
}

/* How fast it goes, and how long it will take if it goes on like that. */
static void compose_rate(struct strbuf *line, const char *what, size_t done, size_t total, int64_t now)
{
	char number[UNITS_SIZE];
	double rate;

	if (strcmp(stretch.what, what) || stretch.total != total || done < stretch.done) {
		snprintf(stretch.what, sizeof(stretch.what), "%s", what);
		stretch.total = total;
		stretch.done = done;
		stretch.begin_ms = now;
	}
	if (now - stretch.begin_ms < RATE_MS || done == stretch.done)
		return;
	rate = (double)(done - stretch.done) * 1000 / (double)(now - stretch.begin_ms);
	strbuf_addf(line, ", %s/s", units_format_count(number, (uint64_t)(rate + 0.5)));
	if (total > done) {
		strbuf_addstr(line, ", ");
		add_duration(line, (int64_t)((double)(total - done) / rate + 0.5));
		strbuf_addstr(line, " left");
	}
}

/* The line, and spaces over the rest of the previous one. */
static void draw_line(const char *what, size_t done, size_t total, int64_t now)
{
	struct strbuf line = STRBUF_INIT;
	size_t width, room = count_columns() - 1;

	strbuf_addch(&line, '\r');
	compose_line(&line, what, done, total);
	compose_rate(&line, what, done, total, now);
	width = term_text_width(line.buf + 1);
	/* A line that wraps could not be removed again; words are short, so this is a tiny window. */
	if (width <= room) {
		if (drawn > width)
			strbuf_addf(&line, "%*s", (int)(drawn - width), "");
		(void)fs_write_all(STDERR_FILENO, line.buf, line.len);
		drawn = width;
	}
	strbuf_release(&line);
}

void progress_show(const char *what, size_t done, size_t total, void *payload UNUSED)
{
	int64_t now, next;

	if (!atomic_load_explicit(&enabled, memory_order_relaxed))
		return;
	now = now_ms();
	next = atomic_load_explicit(&next_ms, memory_order_relaxed);
	if (!next) {
		/* Whoever is first starts the work; the second finds it started. */
		atomic_compare_exchange_strong(&next_ms, &next, now + DELAY_MS);
		return;
	}
	/* If another thread is drawing, its line will do. */
	if (now < next || pthread_mutex_trylock(&lock))
		return;
	if (now >= atomic_load(&next_ms) && atomic_load(&next_ms)) {
		atomic_store(&next_ms, now + REDRAW_MS);
		if (in_foreground())
			draw_line(what, done, total, now);
	}
	pthread_mutex_unlock(&lock);
}

void progress_clear(void)
{
	struct strbuf line = STRBUF_INIT;

	pthread_mutex_lock(&lock);
	if (drawn) {
		strbuf_addf(&line, "\r%*s\r", (int)drawn, "");
		(void)fs_write_all(STDERR_FILENO, line.buf, line.len);
		strbuf_release(&line);
	}
	drawn = 0;
	stretch.what[0] = '\0';
	atomic_store(&next_ms, 0);
	pthread_mutex_unlock(&lock);
}
