/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_ONTERMINAL_H
#define CKPT_TESTS_ONTERMINAL_H

/* What appears on a terminal. After unit.h. */

#include <pty.h>

/* Skip the test where no terminal can be had, as in a chroot without /dev/pts. */
static void require_terminal(void)
{
	int master, terminal;

	if (openpty(&master, &terminal, NULL, NULL, NULL) < 0) {
		print_message("# needs a pseudo terminal; is /dev/pts mounted?\n");
		skip();
	}
	close(master);
	close(terminal);
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
	pid_t pid;

	require_terminal();
	pid = forkpty(&master, NULL, NULL, &size);
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

/* For cmocka_run_group_tests(): no pager, no colour and no width of the caller's. */
static int terminal_setup(void **state)
{
	static const char *const unset[] = { "PAGER", "LESS", "LV", "COLUMNS", "NO_COLOR" };

	for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
		unsetenv(unset[i]);
	setenv("TERM", "xterm", 1);
	return unit_setup(state);
}

#endif
