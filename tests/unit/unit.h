/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_UNIT_H
#define CKPT_TESTS_UNIT_H

/*
 * What many unit tests need: a scratch directory that is also HOME, chance that
 * can be repeated, other programs and processes. To be included once, by a
 * test's .c.
 */

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/strlist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often to try: the thread sanitizer is slow, and looks for something else. */
UNUSED static int rounds(int n)
{
#ifdef __SANITIZE_THREAD__
	return n / 8 + 1;
#else
	return n;
#endif
}

/* ---- chance ---- */

static uint64_t unit_seed = 0x5eed;

UNUSED static uint64_t rnd64(void)
{
	uint64_t x = unit_seed += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

UNUSED static unsigned rnd(unsigned below)
{
	return (unsigned)((rnd64() >> 33) % below);
}

UNUSED static void rnd_bytes(void *out, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((unsigned char *)out)[i] = (unsigned char)rnd64();
}

/* A text of `len` bytes, none of them NUL, of which every other is a troublesome one. */
UNUSED static void rnd_text(char *out, size_t len)
{
	static const char odd[] =
		"\n\r\t \"'\\|:#%~!$`*?[]{}()<>&;=-\x01\x1b\x7f\x80\xc3\xa4\xe2\x82\xac\xff";

	for (size_t i = 0; i < len; i++)
		out[i] = rnd(2) ? odd[rnd(sizeof(odd) - 1)] : (char)(1 + rnd(255));
	out[len] = '\0';
}

/* A file name: the same, without a slash, and neither "." nor ".." nor ".git". */
UNUSED static void rnd_name(char *out, size_t len)
{
	rnd_text(out, len);
	for (size_t i = 0; i < len; i++)
		if (out[i] == '/')
			out[i] = '_';
	if (out[0] == '.')
		out[0] = '_';
}

/* ---- scratch ---- */

static char scratch[PATH_MAX];

/* Take out of the environment whatever would lead git elsewhere. */
static void unit_scrub(void)
{
	for (char **var = environ; *var;) {
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*var, "="), *var);
		if (!strncmp(name, "GIT_", 4) && !unsetenv(name))
			var = environ;
		else
			var++;
	}
}

/* For cmocka_run_group_tests(): no configuration of the user's can be seen from here. */
UNUSED static int unit_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char made[PATH_MAX / 2];

	(void)state;
	snprintf(made, sizeof(made), "%s/unit-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(made) || !realpath(made, scratch))
		return -1;
	unit_scrub();
	setenv("HOME", scratch, 1);
	setenv("XDG_CONFIG_HOME", scratch, 1);
	setenv("XDG_STATE_HOME", scratch, 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_NAME", "A", 1);
	setenv("GIT_AUTHOR_EMAIL", "a@example.org", 1);
	setenv("GIT_COMMITTER_NAME", "A", 1);
	setenv("GIT_COMMITTER_EMAIL", "a@example.org", 1);
	setenv("LC_ALL", "C", 1);
	umask(022);
	return chdir(scratch);
}

UNUSED static int unit_teardown(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	if (chdir("/"))
		return -1;
	pid = fork();
	if (!pid) {
		execlp("rm", "rm", "-rf", "--", scratch, (char *)NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && !status ? 0 : -1;
}

/* An absolute path below the scratch directory; four may be in use at a time. */
__attribute__((format(printf, 1, 2))) UNUSED static const char *in_scratch(const char *fmt, ...)
{
	static char paths[4][2 * PATH_MAX];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	size_t len = (size_t)snprintf(path, sizeof(paths[0]), "%s/", scratch);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path + len, sizeof(paths[0]) - len, fmt, ap);
	va_end(ap);
	return path;
}

/* ---- files ---- */

UNUSED static void put_bytes(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		fail_msg("unable to create %s", path);
	while (len) {
		ssize_t n = write(fd, data, len);

		assert_true(n > 0);
		data = (const char *)data + n;
		len -= (size_t)n;
	}
	close(fd);
}

UNUSED static void put_text(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

/* Appends the whole file; fails the test if there is none. */
UNUSED static void get_bytes(struct strbuf *out, const char *path)
{
	FILE *file = fopen(path, "re");
	char buf[65536];
	size_t n;

	if (!file)
		fail_msg("unable to open %s", path);
	while ((n = fread(buf, 1, sizeof(buf), file)))
		strbuf_add(out, buf, n);
	fclose(file);
}

UNUSED static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

UNUSED static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* ---- lists ---- */

/* "a b c", or NULL for none. */
UNUSED static void add_words(struct strlist *out, const char *words)
{
	while (words && *words) {
		size_t len = strcspn(words, " ");

		strlist_take(out, xmemdupz(words, len));
		words += len + (words[len] == ' ');
	}
}

/* ---- programs ---- */

/* The exit status of a script in the current directory; what it prints is appended to `out`. */
static int unit_script(struct strbuf *out, const char *script)
{
	FILE *stream;
	char buf[65536];
	size_t n;

	fflush(NULL);
	stream = popen(script, "re");
	assert_non_null(stream);
	while ((n = fread(buf, 1, sizeof(buf), stream)))
		strbuf_add(out, buf, n);
	return pclose(stream);
}

/* Run a script in the current directory, which is the scratch one at first; it must succeed. */
__attribute__((format(printf, 1, 2))) UNUSED static void sh(const char *fmt, ...)
{
	struct strbuf script = STRBUF_INIT, said = STRBUF_INIT;
	va_list ap;
	int status;

	strbuf_addstr(&script, "set -e; exec 2>&1\n");
	va_start(ap, fmt);
	strbuf_vaddf(&script, fmt, ap);
	va_end(ap);
	status = unit_script(&said, script.buf);
	if (status)
		fail_msg("script failed (%d): %s\n%s", status, script.buf, said.buf);
	strbuf_release(&script);
	strbuf_release(&said);
}

/* The same, appending what it prints to `out`. */
__attribute__((format(printf, 2, 3))) UNUSED static void ask(struct strbuf *out, const char *fmt,
							     ...)
{
	struct strbuf script = STRBUF_INIT;
	va_list ap;
	int status;

	strbuf_addstr(&script, "set -e\n");
	va_start(ap, fmt);
	strbuf_vaddf(&script, fmt, ap);
	va_end(ap);
	status = unit_script(out, script.buf);
	if (status)
		fail_msg("script failed (%d): %s", status, script.buf);
	strbuf_release(&script);
}

/* The first line that a script prints, "" if it fails; four may be in use at a time. */
__attribute__((format(printf, 1, 2))) UNUSED static const char *line_of(const char *fmt, ...)
{
	static char lines[4][4096];
	static unsigned turn;
	struct strbuf script = STRBUF_INIT, said = STRBUF_INIT;
	char *line = lines[turn++ % 4];
	va_list ap;

	strbuf_addstr(&script, "exec 2>/dev/null\n");
	va_start(ap, fmt);
	strbuf_vaddf(&script, fmt, ap);
	va_end(ap);
	if (unit_script(&said, script.buf))
		strbuf_reset(&said);
	snprintf(line, sizeof(lines[0]), "%.*s", (int)strcspn(said.buf, "\n"), said.buf);
	strbuf_release(&script);
	strbuf_release(&said);
	return line;
}

/* ---- other processes ---- */

/* For what a process can do but once: `fn` in a child; what it writes is appended to `out`. */
UNUSED static void in_child(struct strbuf *out, void (*fn)(FILE *out, const void *arg),
			    const void *arg)
{
	int pipefd[2], status;
	char buf[65536];
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(pipefd), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		FILE *stream = fdopen(pipefd[1], "w");

		fn(stream, arg);
		_exit(fclose(stream) ? 1 : 0);
	}
	close(pipefd[1]);
	while ((n = read(pipefd[0], buf, sizeof(buf))) > 0)
		strbuf_add(out, buf, (size_t)n);
	close(pipefd[0]);
	assert_int_equal(n, 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A helper that the build has put two levels above this program. */
UNUSED static const char *helper(const char *name)
{
	static char path[PATH_MAX + 64];
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	for (int i = 0; i < 3; i++)
		*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s/%s", self, name);
	if (access(path, X_OK))
		fail_msg("%s is not there", path);
	return path;
}

/* Wait for a child that must end with 0 within `seconds`; else it is killed and the test fails. */
UNUSED static void expect_exit(pid_t pid, int seconds)
{
	int status = 0;

	for (int i = 0; i < seconds * 200; i++) {
		pid_t done = waitpid(pid, &status, WNOHANG);

		assert_true(done >= 0);
		if (done == pid) {
			if (status)
				fail_msg("the child ended with status %x", status);
			return;
		}
		usleep(5000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	fail_msg("the child hangs");
}

#endif
