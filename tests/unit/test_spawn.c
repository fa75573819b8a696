/* SPDX-License-Identifier: MIT */
#include "base/spawn.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "unit.h"

/*
 * Environment, signals and descriptors belong to the whole process: what
 * changes them is tried in a child, which says what went wrong by its status.
 */
#define IN_CHILD(body)                      \
	do {                                \
		pid_t child_pid;            \
		fflush(NULL);               \
		child_pid = fork();         \
		if (!child_pid) {           \
			body;               \
			_exit(0);           \
		}                           \
		expect_exit(child_pid, 20); \
	} while (0)

/* In a child: end it with the number of the line. */
#define MUST(condition)                                                         \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                               \
		}                                                               \
	} while (0)

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* ---- env ---- */

static void scrub_and_look(void)
{
	clearenv();
	setenv("GIT_DIR", "/somewhere", 1);
	setenv("GIT_EMPTY", "", 1);
	setenv("GIT_", "bare", 1);
	setenv("GIT_EQUALS", "a=b=c", 1);
	setenv("GITX", "stays", 1);
	setenv("git_dir", "stays", 1);
	setenv("XGIT_DIR", "stays", 1);
	for (int i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%d", i % 2 ? "GIT_N" : "OTHER", i);
		setenv(name, "x", 1);
	}
	env_scrub();
	for (char **var = environ; *var; var++)
		MUST(strncmp(*var, "GIT_", 4));
	MUST(same(getenv("GITX"), "stays") && same(getenv("git_dir"), "stays") &&
	     same(getenv("XGIT_DIR"), "stays") && same(getenv("OTHER100"), "x"));
	MUST(same(env_git("GIT_DIR"), "/somewhere") && same(env_git("GIT_EMPTY"), "") &&
	     same(env_git("GIT_EQUALS"), "a=b=c") && same(env_git("GIT_N199"), "x") &&
	     same(env_git("GIT_"), "bare"));
	MUST(!env_git("GIT_DI") && !env_git("GIT_DIRX") && !env_git("GITX") &&
	     !env_git("OTHER100") && !env_git(""));
	MUST(!getenv("GIT_DIR") && !getenv("GIT_EMPTY"));
}

static void test_env_scrub_takes_out_git_and_remembers(void **state)
{
	(void)state;
	IN_CHILD(scrub_and_look());
}

/* ---- spawn_capture ---- */

static int capture(struct strbuf *out, const char *dir, const char *script)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	strbuf_reset(out);
	return spawn_capture(out, dir, argv);
}

static void test_spawn_capture_gives_output_and_failure(void **state)
{
	const char *const missing[] = { "no-such-program-here", NULL };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&out, "kept ");
	{
		const char *const argv[] = { "printf", "%s|%s", "a b", "$HOME", NULL };

		assert_int_equal(spawn_capture(&out, NULL, argv), 0);
		assert_string_equal(out.buf, "kept a b|$HOME");
	}
	assert_int_equal(capture(&out, NULL, "printf 'a\\0b'"), 0);
	assert_int_equal(out.len, 3);
	assert_memory_equal(out.buf, "a\0b", 4);
	assert_int_equal(capture(&out, NULL, "exit 3"), CKPT_ERROR);
	assert_non_null(strstr(ckpt_error_last(), "status 3"));
	assert_int_equal(capture(&out, NULL, "kill -9 $$"), CKPT_ERROR);
	assert_non_null(strstr(ckpt_error_last(), "status 137"));
	{
		/* Where all of PATH can be searched: else nobody can say that it is not there. */
		char *path = xstrdup(getenv("PATH"));

		setenv("PATH", "/usr/bin:/bin", 1);
		assert_int_equal(spawn_capture(&out, NULL, missing), CKPT_ENOTFOUND);
		setenv("PATH", path, 1);
		free(path);
	}
	assert_non_null(strstr(ckpt_error_last(), "no-such-program-here"));
	strbuf_release(&out);
}

static void test_spawn_capture_large_output_does_not_block(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(capture(&out, NULL, "head -c 5000000 /dev/zero | tr '\\0' x"), 0);
	assert_int_equal(out.len, 5000000);
	for (size_t i = 0; i < out.len; i += 997)
		assert_int_equal(out.buf[i], 'x');
	strbuf_release(&out);
}

static void test_spawn_capture_directory_and_descriptors(void **state)
{
	struct strbuf out = STRBUF_INIT, inherited = STRBUF_INIT;

	(void)state;
	sh("mkdir -p there");
	assert_int_equal(capture(&out, in_scratch("there"), "pwd -P"), 0);
	strbuf_trim(&out);
	assert_string_equal(out.buf, in_scratch("there"));
	assert_int_equal(capture(&out, in_scratch("not-there"), "pwd"), CKPT_ERROR);
	/* It can neither read from us nor write over our messages. */
	assert_int_equal(capture(&out, NULL, "cat; readlink /proc/self/fd/0 /proc/$$/fd/2"), 0);
	assert_string_equal(out.buf, "/dev/null\n/dev/null\n");
	/* It gets no descriptor that any other child would not get. */
	assert_int_equal(capture(&out, NULL, "ls /proc/$$/fd"), 0);
	ask(&inherited, "ls /proc/$$/fd");
	assert_string_equal(out.buf, inherited.buf);
	strbuf_release(&inherited);
	strbuf_release(&out);
}

static void capture_environment(void)
{
	struct strbuf out = STRBUF_INIT;

	setenv("GIT_DIR", "/elsewhere", 1);
	setenv("GIT_INDEX_FILE", "/elsewhere", 1);
	setenv("GIT_CONFIG_GLOBAL", "/of/the/user", 1);
	env_scrub();
	MUST(!capture(&out, NULL, "env | grep ^GIT_ || :"));
	MUST(!out.len);
	strbuf_release(&out);
}

static void test_spawn_capture_shows_no_git_variables(void **state)
{
	(void)state;
	IN_CHILD(capture_environment());
}

/* ---- spawn_sink ---- */

static void test_spawn_sink_reads_what_is_written(void **state)
{
	struct strbuf out = STRBUF_INIT;
	pid_t pid = -1;
	int fd = -1;

	(void)state;
	assert_int_equal(spawn_sink(&pid, &fd, "cat >sunk; exit 5"), 0);
	assert_int_equal(fs_write_all(fd, "one\n", 4), 0);
	assert_int_equal(fs_write_all(fd, "two\n", 4), 0);
	close(fd);
	assert_int_equal(spawn_wait(pid), 5);
	get_bytes(&out, in_scratch("sunk"));
	assert_string_equal(out.buf, "one\ntwo\n");
	assert_int_equal(spawn_sink(&pid, &fd, "kill -15 $$"), 0);
	assert_int_equal(spawn_wait(pid), 128 + SIGTERM);
	close(fd);
	/* Gone already: no such child. */
	assert_int_equal(spawn_wait(pid), -1);
	strbuf_release(&out);
}

/* ---- cancel ---- */

static void cancel_by(int sig)
{
	cancel_install();
	MUST(!cancel_check() && !cancel_signal());
	raise(sig);
	MUST(cancel_check() == CKPT_ECANCELLED && cancel_signal() == sig);
	MUST(strstr(ckpt_error_last(), "interrupted"));
	MUST(cancel_check() == CKPT_ECANCELLED);
}

static void test_cancel_notes_the_signal(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		IN_CHILD(cancel_by(signals[i]));
}

static void cancel_under_nohup(void)
{
	signal(SIGHUP, SIG_IGN);
	cancel_install();
	raise(SIGHUP);
	MUST(!cancel_check());
	raise(SIGINT);
	MUST(cancel_signal() == SIGINT);
}

static void test_cancel_keeps_what_is_ignored(void **state)
{
	(void)state;
	IN_CHILD(cancel_under_nohup());
}

static void test_cancel_second_signal_ends_the_program(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		cancel_install();
		raise(SIGTERM);
		if (cancel_signal() != SIGTERM)
			_exit(1);
		raise(SIGTERM);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_env_scrub_takes_out_git_and_remembers),
		cmocka_unit_test(test_spawn_capture_gives_output_and_failure),
		cmocka_unit_test(test_spawn_capture_large_output_does_not_block),
		cmocka_unit_test(test_spawn_capture_directory_and_descriptors),
		cmocka_unit_test(test_spawn_capture_shows_no_git_variables),
		cmocka_unit_test(test_spawn_sink_reads_what_is_written),
		cmocka_unit_test(test_cancel_notes_the_signal),
		cmocka_unit_test(test_cancel_keeps_what_is_ignored),
		cmocka_unit_test(test_cancel_second_signal_ends_the_program),
	};

	/* A caller in the background, or under nohup, has some of them ignored. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	return cmocka_run_group_tests_name("spawn", tests, unit_setup, unit_teardown);
}
