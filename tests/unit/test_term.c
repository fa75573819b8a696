/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/fsio.h"
#include "base/strbuf.h"
#include "git/gitconfig.h"
#include "git/repo.h"
#include "ui/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *scratch;

static void pause_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/*
 * Run `fn` in a child whose standard descriptors are a terminal of `columns`
 * columns, and collect what appears there, carriage returns before newlines
 * removed. Returns the status as of waitpid().
 */
static int on_terminal(struct strbuf *out, unsigned short columns, void (*fn)(void))
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	int master, status;
	char buf[4096];
	ssize_t n;
	pid_t pid = forkpty(&master, NULL, NULL, &size);

	assert_true(pid >= 0);
	if (!pid) {
		alarm(20);
		fn();
		fflush(stdout);
		_exit(0);
	}
	while ((n = read(master, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] == '\n' && out->len && out->buf[out->len - 1] == '\r')
				strbuf_setlen(out, out->len - 1);
			strbuf_addch(out, buf[i]);
		}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(master);
	return status;
}

static void expect_on_terminal(unsigned short columns, void (*fn)(void), const char *want)
{
	struct strbuf out = STRBUF_INIT;
	int status = on_terminal(&out, columns, fn);

	assert_string_equal(out.buf, want);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	strbuf_release(&out);
}

static int setup(void **state)
{
	static const char *const unset[] = { "GIT_PAGER", "PAGER",    "LESS", "LV",
					     "COLUMNS",	  "NO_COLOR", NULL };
	const char *tmp = getenv("TMPDIR");

	(void)state;
	scratch = xstrfmt("%s/test_term.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch))
		return -1;
	for (size_t i = 0; unset[i]; i++)
		unsetenv(unset[i]);
	unsetenv("GIT_DIR");
	unsetenv("GIT_WORK_TREE");
	unsetenv("GIT_CONFIG_PARAMETERS");
	unsetenv("GIT_CONFIG_COUNT");
	unsetenv("GIT_PAGER_IN_USE");
	setenv("TERM", "xterm", 1);
	setenv("HOME", scratch, 1);
	setenv("XDG_CONFIG_HOME", scratch, 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fs_remove_tree(AT_FDCWD, scratch);
	free(scratch);
	return 0;
}

/* ---- width ---- */

static void test_term_text_width(void **state)
{
	(void)state;
	assert_int_equal(term_text_width(""), 0);
	assert_int_equal(term_text_width("plain"), 5);
	assert_int_equal(term_text_width("\xc3\xa4\xc3\xb6"), 2);
	assert_int_equal(term_text_width("\xe2\x80\xa6"), 1);
	assert_int_equal(term_text_width("e\xcc\x81"), 1);
	assert_int_equal(term_text_width("a\xe2\x80\x8b" "b"), 2);
	assert_int_equal(term_text_width("\xe2\x9c\x93\xef\xb8\x8f"), 1);
	assert_int_equal(term_text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	assert_int_equal(term_text_width("\xed\x95\x9c"), 2);
	assert_int_equal(term_text_width("\xef\xbc\xa1"), 2);
	assert_int_equal(term_text_width("\xf0\x9f\x98\x80"), 2);
	assert_int_equal(term_text_width("\xff\xfe"), 2);
	assert_int_equal(term_text_width("\xe6\xbc"), 2);
}

static void print_width(void)
{
	printf("%u", term_width());
}

static void test_term_width(void **state)
{
	int null = open("/dev/null", O_WRONLY), saved = dup(1);

	(void)state;
	fflush(stdout);
	dup2(null, 1);
	assert_int_equal(term_width(), 80);
	setenv("COLUMNS", "132", 1);
	assert_int_equal(term_width(), 132);
	setenv("COLUMNS", "0", 1);
	assert_int_equal(term_width(), 80);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(term_width(), 80);
	dup2(saved, 1);
	close(saved);
	close(null);
	expect_on_terminal(57, print_width, "57");
	unsetenv("COLUMNS");
}

/* ---- colour ---- */

static void print_colored(void)
{
	term_set_color("auto");
	printf("%sx%s", term_color(TERM_RED), term_color(TERM_RESET));
}

static void test_term_color(void **state)
{
	int null = open("/dev/null", O_WRONLY), saved = dup(1);

	(void)state;
	fflush(stdout);
	dup2(null, 1);
	term_set_color("auto");
	assert_string_equal(term_color(TERM_RED), "");
	term_set_color("always");
	assert_string_equal(term_color(TERM_RED), "\x1b[31m");
	assert_string_equal(term_color(TERM_RESET), "\x1b[m");
	term_set_color("never");
	assert_string_equal(term_color(TERM_BOLD), "");
	dup2(saved, 1);
	close(saved);
	close(null);

	expect_on_terminal(80, print_colored, "\x1b[31mx\x1b[m");
	setenv("NO_COLOR", "", 1);
	expect_on_terminal(80, print_colored, "\x1b[31mx\x1b[m");
	setenv("NO_COLOR", "1", 1);
	expect_on_terminal(80, print_colored, "x");
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	expect_on_terminal(80, print_colored, "x");
	setenv("TERM", "xterm", 1);
}

/* ---- table ---- */

static const struct table_column columns[] = {
	{ "id", TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
	{ "files", TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
	{ "reason", TABLE_LEFT, 40, TERM_RESET, TABLE_KEEP },
	{ "source", TABLE_LEFT, 20, TERM_RESET, TABLE_KEEP },
};

static struct table *sample(void)
{
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	table_add(table, "chk_1");
	table_addf(table, "%d", 12345);
	table_add(table, "before the big change of everything");
	table_add(table, "cli");
	table_add(table, "chk_22");
	table_add(table, "7");
	table_add(table, "\xc3\xa4\n\x1b[2J\xe6\xbc\xa2\xff\xc2\x9b|");
	table_add(table, NULL);
	return table;
}

static void expect_table(const struct table *table, unsigned width, const char *want)
{
	struct strbuf out = STRBUF_INIT;

	table_format(&out, table, width);
	assert_string_equal(out.buf, want);
	strbuf_release(&out);
}

static void test_term_table(void **state)
{
	struct table *table = sample();

	(void)state;
	term_set_color("never");
	expect_table(table, 0,
		     "id      files  reason                               source\n"
		     "chk_1   12345  before the big change of everything  cli\n"
		     "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
	expect_table(table, 58,
		     "id      files  reason                               source\n"
		     "chk_1   12345  before the big change of everything  cli\n"
		     "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
	/* Eight too many: the reason is over its share and pays alone. */
	expect_table(table, 50,
		     "id      files  reason                       source\n"
		     "chk_1   12345  before the big change of e…  cli\n"
		     "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
	/* A wide character that would be cut in half goes whole. */
	expect_table(table, 31,
		     "id      files  reason    source\n"
		     "chk_1   12345  before …  cli\n"
		     "chk_22      7  \xc3\xa4  [2J…\n");
	table_free(table);
}

static void test_term_table_too_narrow(void **state)
{
	struct table *table = sample();
	struct strbuf out = STRBUF_INIT;

	(void)state;
	term_set_color("never");
	table_format(&out, table, 5);
	/* What may not be cut stays whole. */
	assert_non_null(strstr(out.buf, "chk_22      7  "));
	assert_non_null(strstr(out.buf, "bef…"));
	strbuf_release(&out);
	table_free(table);
}

static void test_term_table_untitled(void **state)
{
	static const struct table_column plain[] = {
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_GREEN, TABLE_KEEP },
	};
	struct table *table = table_new(plain, 2);

	(void)state;
	term_set_color("always");
	table_add(table, "1");
	table_add(table, "one");
	table_add(table, "10");
	table_end_row(table);
	table_end_row(table);
	expect_table(table, 0, " 1  \x1b[32mone\x1b[m\n10\n");
	term_set_color("never");
	table_free(table);
	table_free(NULL);
}

static void test_term_table_spares_columns(void **state)
{
	static const struct table_column some[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE },
		{ NULL, TABLE_LEFT, 50, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(some, ARRAY_SIZE(some));

	(void)state;
	term_set_color("never");
	table_add(table, "chk");
	table_add(table, "first");
	table_add(table, "second");
	table_add(table, "a reason of twenty-seven co");
	expect_table(table, 0, "chk  first  second  a reason of twenty-seven co\n");
	/* The last column can have its half of 40: shortening it is enough. */
	expect_table(table, 40, "chk  first  second  a reason of twenty-…\n");
	/* Not of 38: then the last that can be spared goes, and leaves more room than that. */
	expect_table(table, 38, "chk  first  a reason of twenty-seven …\n");
	expect_table(table, 22, "chk  a reason of twen…\n");
	expect_table(table, 10, "chk  a re…\n");
	table_free(table);
}

static void test_term_table_spares_the_last(void **state)
{
	static const struct table_column some[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_LAST },
		{ NULL, TABLE_LEFT, 50, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(some, ARRAY_SIZE(some));

	(void)state;
	term_set_color("never");
	table_add(table, "chk");
	table_add(table, "first");
	table_add(table, "a reason");
	/* There is room as long as beginnings can be shown. */
	expect_table(table, 16, "chk  first  a r…\n");
	expect_table(table, 15, "chk  a reason\n");
	expect_table(table, 9, "chk  a r…\n");
	table_free(table);
}

static void print_table(void)
{
	struct table *table = sample();

	term_set_color("never");
	table_print(table);
	table_free(table);
}

static void test_term_table_fits_terminal(void **state)
{
	(void)state;
	expect_on_terminal(50, print_table,
			   "id      files  reason                       source\n"
			   "chk_1   12345  before the big change of e…  cli\n"
			   "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
}

/* ---- pager ---- */

static void print_paged(void)
{
	term_set_color("auto");
	term_pager_start(NULL);
	printf("%sone%s %u\n", term_color(TERM_RED), term_color(TERM_RESET), term_width());
	term_pager_end();
	printf("two\n");
}

static void print_paged_by_git_pager(void)
{
	setenv("GIT_PAGER", "sed s/^/git:/", 1);
	env_scrub();
	print_paged();
}

static void print_paged_table(void)
{
	term_set_color("never");
	term_pager_start(NULL);
	print_table();
	/* No term_pager_end(): leaving the program must wait for the pager all the same. */
	exit(0);
}

static void test_term_pager(void **state)
{
	(void)state;
	setenv("PAGER", "sed s/^/paged:/", 1);
	expect_on_terminal(61, print_paged, "paged:\x1b[31mone\x1b[m 61\ntwo\n");
	expect_on_terminal(61, print_paged_by_git_pager, "git:\x1b[31mone\x1b[m 61\ntwo\n");
	setenv("PAGER", "printf '%s %s ' \"$LESS\" \"$LV\"; cat", 1);
	expect_on_terminal(61, print_paged, "FRX -c \x1b[31mone\x1b[m 61\ntwo\n");
	setenv("PAGER", "sleep 0.2; sed s/^/late:/", 1);
	expect_on_terminal(50, print_paged_table,
			   "late:id      files  reason                       source\n"
			   "late:chk_1   12345  before the big change of e…  cli\n"
			   "late:chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
	unsetenv("PAGER");
}

static void test_term_pager_none(void **state)
{
	static const char *const none[] = { "", "cat", "no-such-pager-here --flag" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		setenv("PAGER", none[i], 1);
		expect_on_terminal(61, print_paged, "\x1b[31mone\x1b[m 61\ntwo\n");
	}
	unsetenv("PAGER");
}

static void page_into_pipe(void)
{
	int pipefd[2];
	char buf[64] = "";

	if (pipe(pipefd) || dup2(pipefd[1], 1) < 0)
		_exit(2);
	term_pager_start(NULL);
	printf("plain");
	fflush(stdout);
	if (read(pipefd[0], buf, sizeof(buf) - 1) != 5 || strcmp(buf, "plain") != 0)
		_exit(3);
}

static void test_term_pager_only_on_terminal(void **state)
{
	(void)state;
	setenv("PAGER", "sed s/^/paged:/", 1);
	expect_on_terminal(80, page_into_pipe, "");
	unsetenv("PAGER");
}

static void print_for_ever(void)
{
	signal(SIGPIPE, SIG_IGN);
	term_pager_start(NULL);
	for (int i = 0; i < 1000000; i++)
		printf("line %d\n", i);
	_exit(9);
}

static void test_term_pager_quits(void **state)
{
	struct strbuf out = STRBUF_INIT;
	int status;

	(void)state;
	setenv("PAGER", "head -n 2", 1);
	status = on_terminal(&out, 80, print_for_ever);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	assert_string_equal(out.buf, "line 0\nline 1\n");
	strbuf_release(&out);
	unsetenv("PAGER");
}

static void print_with_config(void)
{
	struct gitconfig *config = NULL;
	struct repo *repo = NULL;

	env_scrub();
	if (repo_open_at(&repo, scratch) || gitconfig_open(&config, repo))
		_exit(2);
	term_pager_start(config);
	printf("one\n");
	term_pager_end();
	gitconfig_close(config);
	repo_free(repo);
}

static void write_file(const char *name, const char *text)
{
	char *path = xstrfmt("%s/%s", scratch, name);

	assert_int_equal(fs_write_file(AT_FDCWD, path, text, strlen(text), 0644, FS_FAST), 0);
	free(path);
}

/* A repository must not make us run anything; what the user configured counts before PAGER. */
static void test_term_pager_config(void **state)
{
	char *git = xstrfmt("%s/.git", scratch), *refs = xstrfmt("%s/.git/refs", scratch);
	char *objects = xstrfmt("%s/.git/objects", scratch);
	char *global = xstrfmt("%s/global", scratch);

	(void)state;
	assert_int_equal(mkdir(git, 0755) | mkdir(refs, 0755) | mkdir(objects, 0755), 0);
	write_file(".git/HEAD", "ref: refs/heads/main\n");
	write_file(".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
				  "\tpager = sed s/^/evil:/\n");
	write_file("global", "[core]\n\tpager = sed s/^/mine:/\n");
	setenv("PAGER", "sed s/^/paged:/", 1);
	expect_on_terminal(80, print_with_config, "paged:one\n");
	setenv("GIT_CONFIG_GLOBAL", global, 1);
	expect_on_terminal(80, print_with_config, "mine:one\n");
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	unsetenv("PAGER");
	free(global);
	free(objects);
	free(refs);
	free(git);
}

/* ---- progress ---- */

static void *progress_thread(void *payload)
{
	(void)payload;
	for (int i = 0; i < 140; i++) {
		term_progress("Scanning", 12345, 0, NULL);
		pause_ms(10);
	}
	return NULL;
}

static void show_progress(void)
{
	pthread_t threads[2];

	term_progress_setup("auto", false);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, progress_thread, NULL))
			_exit(2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pause_ms(110);
	term_progress("Storing", 5432, 12000, NULL);
	pause_ms(110);
	term_progress("At", 1, 1, NULL);
	term_progress_clear();
	term_progress_clear();
}

static void test_term_progress(void **state)
{
	static const char line[] = "\rScanning: 12,345 files";
	static const char tail[] = "\rStoring:  45% (5,432/12,000)"
				   "\rAt: 100% (1/1)              "
				   "\r              \r";
	struct strbuf out = STRBUF_INIT;
	size_t draws = 0;
	const char *p;

	(void)state;
	assert_int_equal(on_terminal(&out, 80, show_progress), 0);
	for (p = out.buf; !strncmp(p, line, strlen(line)); p += strlen(line))
		draws++;
	/* 0.4 seconds at most ten times a second, and a busy machine may be late. */
	assert_in_range(draws, 1, 6);
	assert_string_equal(p, tail);
	strbuf_release(&out);
}

static void show_rate(void)
{
	term_progress_setup("auto", false);
	term_progress("Storing", 0, 100000, NULL);
	pause_ms(1010);
	term_progress("Storing", 1000, 100000, NULL);
	pause_ms(1010);
	term_progress("Storing", 2000, 100000, NULL);
	pause_ms(110);
	/* Another stretch of work: its rate is its own. */
	term_progress("Writing", 50, 100, NULL);
	term_progress_clear();
}

static void test_term_progress_has_a_rate(void **state)
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
	term_progress_setup("auto", false);
	for (int i = 0; i < 10; i++) {
		term_progress("Scanning", 1, 0, NULL);
		pause_ms(20);
	}
	term_progress_clear();
}

static void show_quiet_progress(void)
{
	term_progress_setup("always", true);
	term_progress("Scanning", 1, 0, NULL);
	pause_ms(1050);
	term_progress("Scanning", 1, 0, NULL);
	term_progress_setup("never", false);
	term_progress("Scanning", 1, 0, NULL);
	term_progress_clear();
}

static void test_term_progress_silent(void **state)
{
	(void)state;
	expect_on_terminal(80, show_short_progress, "");
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
		term_progress_setup(always ? "always" : "auto", false);
		term_progress("Scanning", 1, 0, NULL);
		pause_ms(1050);
		term_progress("Scanning", 1, 0, NULL);
		term_progress_clear();
		if ((read(pipefd[0], buf, sizeof(buf) - 1) > 0) != always)
			_exit(3);
	}
	if (strncmp(buf, "\rScanning: 1 file\r", 18) != 0)
		_exit(4);
}

static void test_term_progress_pipe(void **state)
{
	(void)state;
	expect_on_terminal(80, progress_into_pipe, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_term_text_width),
		cmocka_unit_test(test_term_width),
		cmocka_unit_test(test_term_color),
		cmocka_unit_test(test_term_table),
		cmocka_unit_test(test_term_table_too_narrow),
		cmocka_unit_test(test_term_table_untitled),
		cmocka_unit_test(test_term_table_spares_columns),
		cmocka_unit_test(test_term_table_spares_the_last),
		cmocka_unit_test(test_term_table_fits_terminal),
		cmocka_unit_test(test_term_pager),
		cmocka_unit_test(test_term_pager_none),
		cmocka_unit_test(test_term_pager_only_on_terminal),
		cmocka_unit_test(test_term_pager_quits),
		cmocka_unit_test(test_term_pager_config),
		cmocka_unit_test(test_term_progress),
		cmocka_unit_test(test_term_progress_has_a_rate),
		cmocka_unit_test(test_term_progress_silent),
		cmocka_unit_test(test_term_progress_pipe),
	};

	return cmocka_run_group_tests_name("term", tests, setup, teardown);
}
