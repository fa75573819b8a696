/* SPDX-License-Identifier: MIT */
#include "cmd/pick_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "inspect/inspect.h"
#include "session/session.h"
#include "ui/ui.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#define ENTER_SCREEN "\x1b[?1049h\x1b[?25l"
#define LEAVE_SCREEN "\x1b[?25h\x1b[?1049l"

enum {
	ROUND_MS = 250, /* how often the size of the terminal is looked at */
	ESCAPE_MS = 50, /* what follows an escape sooner than this belongs to it */
	AROUND = 2,	/* lines around the list: the title, and one between it and the preview */
};

struct screen {
	int fd;
	struct termios before;
	struct session *session;
	const struct ckpt_record *const *records;
	const struct strlist *paths;
	struct strlist *previews; /* one for each record, made when first seen */
	struct picklist list;
	size_t lines, columns;
	char keys[64]; /* typed, but not processed yet */
	size_t keys_nr;
};

/* --- preview --- */

static void add_changes(struct strlist *out, const struct compare_list *changes)
{
	size_t back = 0, changed = 0, removed = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		back += changes->items[i].kind == CHANGE_DELETED;
		removed += changes->items[i].kind == CHANGE_ADDED;
	}
	changed = changes->nr - back - removed;
	if (!changes->nr)
		strlist_add(out, "already as in this checkpoint: nothing to restore");
	else
		strlist_addf(out, "to restore: %zu to bring back, %zu to change, %zu to remove", back,
			     changed, removed);
	for (size_t i = 0; i < changes->nr; i++) {
		struct strbuf path = STRBUF_INIT;
		enum change_kind kind = changes->items[i].kind;

		quote_path(&path, changes->items[i].path);
		strlist_addf(out, "  %c %s",
			     kind == CHANGE_DELETED ? '+' : kind == CHANGE_ADDED ? '-' : '~', path.buf);
		strbuf_release(&path);
	}
}

static void make_preview(struct strlist *out, const struct screen *screen,
			 const struct ckpt_record *record)
{
	const struct strlist *paths = screen->paths->nr ? screen->paths : NULL;
	char time[CLOCK_ISO_SIZE], *line = report_reason_line(record);
	struct diff diff;

	strlist_addf(out, "%s  %s  %s", record->id, clock_format_iso(time, record->created_at),
		     record->source);
	strlist_addf(out, "    %s", line);
	strlist_add(out, "");
	if (record->state_only)
		strlist_add(out, "it holds only state: no file would be touched");
	else if (diff_worktree(&diff, screen->session, record, paths, NULL))
		strlist_add(out, ckpt_error_last());
	else {
		add_changes(out, &diff.changes);
		diff_release(&diff);
	}
	free(line);
}

/* --- drawing --- */

static void measure(struct screen *screen)
{
	struct winsize size;
	size_t room;

	if (ioctl(screen->fd, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col) {
		size.ws_row = 24;
		size.ws_col = 80;
	}
	screen->lines = size.ws_row;
	screen->columns = size.ws_col > 2 ? size.ws_col : 2;
	/* At most half of the screen: the rest is for the preview. */
	room = screen->lines / 2 > AROUND ? screen->lines / 2 - AROUND : 1;
	picklist_resize(&screen->list, room < screen->list.nr ? room : screen->list.nr);
}

/* The rows of the list, aligned, as lines of `width` columns. */
static void format_rows(struct strbuf *out, const struct screen *screen, unsigned width)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },  { NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_SPARE },  { NULL, TABLE_LEFT, 10, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 40, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	int64_t now = clock_now();

	for (size_t i = 0; i < screen->list.nr; i++) {
		const struct ckpt_record *record = screen->records[i];
		char age[CLOCK_ISO_SIZE], *line = report_marked_reason(record, now);

		table_add(table, record->id);
		table_add(table, clock_format_age_short(age, record->created_at, now));
		table_addf(table, "%llu changed", (unsigned long long)record->changed);
		table_add(table, record->source);
		table_add(table, line);
		free(line);
	}
	table_format(out, table, width);
	table_free(table);
}

static void draw_line(struct strbuf *out, const struct screen *screen, const char *text, bool chosen)
{
	size_t used;

	strbuf_addstr(out, chosen ? "\x1b[7m" : "");
	used = term_add_cut(out, text, screen->columns - 1);
	if (chosen)
		strbuf_addf(out, "%*s\x1b[m", (int)(screen->columns - 1 - used), "");
	strbuf_addstr(out, "\x1b[K\r\n");
}

static void draw_list(struct strbuf *out, const struct screen *screen)
{
	struct strbuf rows = STRBUF_INIT;
	char *rest = NULL, *row;
	size_t i = 0;

	format_rows(&rows, screen, (unsigned)screen->columns - 1);
	for (row = strtok_r(rows.buf, "\n", &rest); row; row = strtok_r(NULL, "\n", &rest), i++)
		if (i >= screen->list.top && i < screen->list.top + screen->list.rows)
			draw_line(out, screen, row, i == screen->list.at);
	strbuf_release(&rows);
}

/* False if it could not be drawn. */
static bool draw(const struct screen *screen)
{
	const struct strlist *preview = &screen->previews[screen->list.at];
	size_t above = screen->list.rows + AROUND;
	size_t left = screen->lines > above ? screen->lines - above : 0;
	struct strbuf out = STRBUF_INIT;
	bool drawn;

	strbuf_addstr(&out, "\x1b[H");
	draw_line(&out, screen,
		  "Which checkpoint to restore?  up, down: move   Enter: choose   q: quit", false);
	draw_list(&out, screen);
	draw_line(&out, screen, "", false);
	/* The last line of the screen has no newline after it, or everything would scroll up. */
	for (size_t i = 0; i < preview->nr && i + 1 < left; i++) {
		if (i + 2 == left && preview->nr > i + 1) {
			struct strbuf more = STRBUF_INIT;

			strbuf_addf(&more, "  and %zu more", preview->nr - i);
			draw_line(&out, screen, more.buf, false);
			strbuf_release(&more);
		} else {
			draw_line(&out, screen, preview->items[i], false);
		}
	}
	strbuf_addstr(&out, "\x1b[J");
	drawn = !fs_write_all(screen->fd, out.buf, out.len);
	strbuf_release(&out);
	return drawn;
}

/* --- keys --- */

/* Wait for bytes; false if no more will come. */
static bool read_keys(struct screen *screen, int timeout_ms)
{
	struct pollfd pollfd = { .fd = screen->fd, .events = POLLIN };
	int ready = poll(&pollfd, 1, timeout_ms);
	ssize_t n;

	if (ready <= 0)
		return ready == 0 || errno == EINTR;
	n = read(screen->fd, screen->keys + screen->keys_nr, sizeof(screen->keys) - screen->keys_nr);
	if (n > 0)
		screen->keys_nr += (size_t)n;
	return n > 0 || (n < 0 && errno == EINTR);
}

static bool key_waits(const struct screen *screen)
{
	struct pollfd pollfd = { .fd = screen->fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) > 0;
}

static enum pick_key next_key(struct screen *screen)
{
	size_t used = 0, before = screen->keys_nr;
	enum pick_key key;

	if (!screen->keys_nr)
		return PICK_NOTHING;
	key = picklist_decode(&used, screen->keys, screen->keys_nr);
	if (key == PICK_MORE && (!read_keys(screen, ESCAPE_MS) || screen->keys_nr == before))
		return PICK_LEAVE;
	memmove(screen->keys, screen->keys + used, screen->keys_nr - used);
	screen->keys_nr -= used;
	return key;
}

/* --- everything --- */

static int open_screen(struct screen *screen)
{
	struct termios raw;

	screen->fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (screen->fd < 0 || tcgetattr(screen->fd, &screen->before) < 0) {
		fs_close(screen->fd);
		return ckpt_error_errno("unable to use the terminal");
	}
	raw = screen->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	(void)tcsetattr(screen->fd, TCSADRAIN, &raw);
	(void)fs_write_all(screen->fd, ENTER_SCREEN, strlen(ENTER_SCREEN));
	return 0;
}

static void close_screen(struct screen *screen)
{
	(void)fs_write_all(screen->fd, LEAVE_SCREEN, strlen(LEAVE_SCREEN));
	(void)tcsetattr(screen->fd, TCSADRAIN, &screen->before);
	close(screen->fd);
}

static enum pick_key choose(struct screen *screen)
{
	for (;;) {
		enum pick_key key = next_key(screen);

		if (key == PICK_TAKE || key == PICK_LEAVE)
			return key;
		picklist_move(&screen->list, key);
		if (screen->keys_nr)
			continue;
		measure(screen);
		/* Draw the position at once; what needs a scan comes later, if no key does. */
		if (!draw(screen))
			return PICK_LEAVE;
		if (!screen->previews[screen->list.at].nr && !key_waits(screen))
			make_preview(&screen->previews[screen->list.at], screen,
				     screen->records[screen->list.at]);
		else if (!read_keys(screen, ROUND_MS) || cancel_signal())
			return PICK_LEAVE;
	}
}

int pick_on_screen(size_t *at_out, struct session *session,
		   const struct ckpt_record *const *records, size_t nr, const struct strlist *paths)
{
	struct screen screen = { .session = session,
				 .records = records,
				 .paths = paths,
				 .list = { .nr = nr, .rows = 1 } };
	int err = open_screen(&screen);

	if (err)
		return err;
	screen.previews = xcalloc(nr, sizeof(*screen.previews));
	if (choose(&screen) == PICK_TAKE)
		*at_out = screen.list.at;
	else
		err = CKPT_EREFUSED;
	close_screen(&screen);
	for (size_t i = 0; i < nr; i++)
		strlist_release(&screen.previews[i]);
	free(screen.previews);
	if (cancel_signal())
		return ckpt_error_set(CKPT_ECANCELLED, "interrupted, nothing was touched");
	return err;
}
