/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include "base/alloc.h"
#include "base/env.h"
#include "git/gitconfig.h"
#include "git/repo.h"

#include "unit.h"

#include "onterminal.h"

static void print_paged(void)
{
	term_set_color("auto");
	pager_start(NULL);
	printf("%sone%s %u\n", term_color(TERM_RED), term_color(TERM_RESET), term_width());
	pager_end();
	printf("two\n");
}

static void print_paged_by_git_pager(void)
{
	setenv("GIT_PAGER", "sed s/^/git:/", 1);
	env_scrub();
	print_paged();
}

static void print_and_leave(void)
{
	term_set_color("never");
	pager_start(NULL);
	for (int i = 0; i < 3; i++)
		printf("row %d\n", i);
	/* No pager_end(): leaving the program must wait for the pager all the same. */
	exit(0);
}

static void test_pager(void **state)
{
	(void)state;
	setenv("PAGER", "sed s/^/paged:/", 1);
	expect_on_terminal(61, print_paged, "paged:\x1b[31mone\x1b[m 61\ntwo\n");
	expect_on_terminal(61, print_paged_by_git_pager, "git:\x1b[31mone\x1b[m 61\ntwo\n");
	setenv("PAGER", "printf '%s %s ' \"$LESS\" \"$LV\"; cat", 1);
	expect_on_terminal(61, print_paged, "FRX -c \x1b[31mone\x1b[m 61\ntwo\n");
	setenv("PAGER", "sleep 0.2; sed s/^/late:/", 1);
	expect_on_terminal(50, print_and_leave, "late:row 0\nlate:row 1\nlate:row 2\n");
	unsetenv("PAGER");
}

static void test_pager_none(void **state)
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
	pager_start(NULL);
	printf("plain");
	fflush(stdout);
	if (read(pipefd[0], buf, sizeof(buf) - 1) != 5 || strcmp(buf, "plain") != 0)
		_exit(3);
}

static void test_pager_only_on_terminal(void **state)
{
	(void)state;
	setenv("PAGER", "sed s/^/paged:/", 1);
	expect_on_terminal(80, page_into_pipe, "");
	unsetenv("PAGER");
}

static void print_for_ever(void)
{
	signal(SIGPIPE, SIG_IGN);
	pager_start(NULL);
	for (int i = 0; i < 1000000; i++)
		printf("line %d\n", i);
	_exit(9);
}

static void test_pager_quits(void **state)
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
	pager_start(config);
	printf("one\n");
	pager_end();
	gitconfig_close(config);
	repo_free(repo);
}

/* A repository must not make us run anything; what the user configured counts before PAGER. */
static void test_pager_config(void **state)
{
	(void)state;
	sh("git init -q .; git config core.pager 'sed s/^/evil:/';"
	   "git config -f global core.pager 'sed s/^/mine:/'");
	setenv("PAGER", "sed s/^/paged:/", 1);
	expect_on_terminal(80, print_with_config, "paged:one\n");
	setenv("GIT_CONFIG_GLOBAL", in_scratch("global"), 1);
	expect_on_terminal(80, print_with_config, "mine:one\n");
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	unsetenv("PAGER");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pager),
		cmocka_unit_test(test_pager_none),
		cmocka_unit_test(test_pager_only_on_terminal),
		cmocka_unit_test(test_pager_quits),
		cmocka_unit_test(test_pager_config),
	};

	return cmocka_run_group_tests_name("pager", tests, terminal_setup, unit_teardown);
}
