/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include "unit.h"

#include "onterminal.h"

#include <pthread.h>
#include <time.h>

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void pause_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void *progress_thread(void *payload)
{
	(void)payload;
	for (int i = 0; i < 140; i++) {
		progress_show("Scanning", 12345, 0, NULL);
		pause_ms(10);
	}
	return NULL;
}

static void show_progress(void)
{
	pthread_t threads[2];

	progress_setup("auto", false);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, progress_thread, NULL))
			_exit(2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pause_ms(110);
	progress_show("Storing", 5432, 12000, NULL);
	pause_ms(110);
	progress_show("At", 1, 1, NULL);
	progress_clear();
	progress_clear();
}

static void test_progress(void **state)
{
	static const char line[] = "\rScanning: 12,345 files";
	static const char tail[] = "\rStoring:  45% (5,432/12,000)"
				   "\rAt: 100% (1/1)              "
				   "\r              \r";
	struct strbuf out = STRBUF_INIT;
	size_t draws = 0;
	const char *p;
	int64_t began = now_ms();

	(void)state;
	assert_int_equal(on_terminal(&out, 80, show_progress), 0);
	for (p = out.buf; !strncmp(p, line, strlen(line)); p += strlen(line))
		draws++;
	/* At most ten times a second, however long it took on a busy machine. */
	assert_in_range(draws, 1, (now_ms() - began) / 100 + 1);
	assert_string_equal(p, tail);
	strbuf_release(&out);
}

static void show_rate(void)
{
	progress_setup("auto", false);
	progress_show("Storing", 0, 100000, NULL);
	pause_ms(1010);
	progress_show("Storing", 1000, 100000, NULL);
	pause_ms(1010);
	progress_show("Storing", 2000, 100000, NULL);
	pause_ms(110);
	/* Another stretch of work: its rate is its own. */
	progress_show("Writing", 50, 100, NULL);
	progress_clear();
}

static void test_progress_has_a_rate(void **state)
{
	struct strbuf out = STRBUF_INIT;
	unsigned rate, minutes, seconds;
	const char *line;

	(void)state;
	assert_int_equal(on_terminal(&out, 80, show_rate), 0);
	assert_non_null(strstr(out.buf, "\rStoring:   1% (1,000/100,000)\r"));
	line = strstr(out.buf, "(2,000/100,000), ");
	assert_non_null(line);
	/* A thousand in a second or more, so that 98,000 take 98 seconds or more. */
	assert_int_equal(sscanf(line, "(2,000/100,000), %u/s, %um %us left", &rate, &minutes, &seconds), 3);
	assert_in_range(rate, 1, 1000);
	assert_true(minutes * 60 + seconds >= 98);
	line = strstr(line, "Writing:  50% (50/100)");
	assert_non_null(line);
	assert_null(strstr(line, "/s"));
	strbuf_release(&out);
}

static void show_short_progress(void)
{
	progress_setup("auto", false);
	for (int i = 0; i < 10; i++) {
		progress_show("Scanning", 1, 0, NULL);
		pause_ms(20);
	}
	progress_clear();
}

static void show_quiet_progress(void)
{
	progress_setup("always", true);
	progress_show("Scanning", 1, 0, NULL);
	pause_ms(1050);
	progress_show("Scanning", 1, 0, NULL);
	progress_setup("never", false);
	progress_show("Scanning", 1, 0, NULL);
	progress_clear();
}

/* Work that is done within a second shows nothing; a busy machine may need several attempts. */
static void expect_short_is_silent(void)
{
	struct strbuf out = STRBUF_INIT;
	int64_t began;

	do {
		strbuf_reset(&out);
		began = now_ms();
		assert_int_equal(on_terminal(&out, 80, show_short_progress), 0);
	} while (out.len && now_ms() - began >= 1000);
	assert_string_equal(out.buf, "");
	strbuf_release(&out);
}

static void test_progress_silent(void **state)
{
	(void)state;
	expect_short_is_silent();
	expect_on_terminal(80, show_quiet_progress, "");
}

/* With stderr in a pipe: nothing on "auto", a line on "always". */
static void progress_into_pipe(void)
{
	int pipefd[2];
	char buf[64] = "";

	if (pipe2(pipefd, O_NONBLOCK) || dup2(pipefd[1], 2) < 0)
		_exit(2);
	for (int always = 0; always < 2; always++) {
		progress_setup(always ? "always" : "auto", false);
		progress_show("Scanning", 1, 0, NULL);
		pause_ms(1050);
		progress_show("Scanning", 1, 0, NULL);
		progress_clear();
		if ((read(pipefd[0], buf, sizeof(buf) - 1) > 0) != always)
			_exit(3);
	}
	if (strncmp(buf, "\rScanning: 1 file\r", 18) != 0)
		_exit(4);
}

static void test_progress_pipe(void **state)
{
	(void)state;
	expect_on_terminal(80, progress_into_pipe, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_progress_has_a_rate),
		cmocka_unit_test(test_progress_silent),
		cmocka_unit_test(test_progress_pipe),
	};

	return cmocka_run_group_tests_name("progress", tests, terminal_setup, unit_teardown);
}
