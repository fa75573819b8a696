/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_FUZZ_H
#define CKPT_TESTS_FUZZ_H

/*
 * What fuzz targets share. A target is one file, fuzz_<name>.c, with
 * LLVMFuzzerTestOneInput(): `make fuzz` links it with libFuzzer, `make check`
 * with replay.c, which feeds it the seeds in corpus/<name>. To be included once.
 *
 * Whatever the input is, a target returns. It aborts, through FUZZ_CHECK(), if
 * something that has to hold for every input does not.
 */

#include "base/strbuf.h"
#include "store/shadow.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond, ...)                                                       \
	do {                                                                        \
		if (!(cond)) {                                                      \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond);  \
			fprintf(stderr, __VA_ARGS__);                               \
			fputc('\n', stderr);                                        \
			abort();                                                    \
		}                                                                   \
	} while (0)

/* ---- the input, in pieces ---- */

struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

/* A byte for a choice; 0 when nothing is left. */
UNUSED static unsigned fuzz_byte(struct fuzz_input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* What stands before the next `end`, or all; in a piece of memory of exactly that size. */
UNUSED static char *fuzz_until(struct fuzz_input *in, int end, size_t *len_out)
{
	const uint8_t *found = in->size ? memchr(in->data, end, in->size) : NULL;
	size_t len = found ? (size_t)(found - in->data) : in->size;
	char *text = malloc(len + 1);

	if (!text)
		abort();
	if (len)
		memcpy(text, in->data, len);
	text[len] = '\0';
	in->data += len + (found ? 1 : 0);
	in->size -= len + (found ? 1 : 0);
	if (len_out)
		*len_out = len;
	return text;
}

/* All that is left, as a text that ends at its first NUL. */
UNUSED static char *fuzz_text(struct fuzz_input *in)
{
	size_t len = strnlen((const char *)in->data, in->size);
	char *text = strndup(in->size ? (const char *)in->data : "", len);

	if (!text)
		abort();
	return text;
}

/* ---- a directory for parsers that want files ---- */

static char fuzz_dir[PATH_MAX];
static pid_t fuzz_owner;

UNUSED static void fuzz_clean_up(void)
{
	pid_t pid;

	if (getpid() != fuzz_owner || !*fuzz_dir)
		return;
	pid = fork();
	if (!pid) {
		execlp("rm", "rm", "-rf", "--", fuzz_dir, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

/* Made at the first call, in FUZZ_SCRATCH, with nothing of the user's in sight. */
UNUSED static const char *fuzz_scratch(void)
{
	const char *base = getenv("FUZZ_SCRATCH");
	char made[PATH_MAX / 2];

	if (*fuzz_dir)
		return fuzz_dir;
	snprintf(made, sizeof(made), "%s/fuzz-XXXXXX", base && *base ? base : "/tmp");
	FUZZ_CHECK(mkdtemp(made), "no scratch directory");
	FUZZ_CHECK(realpath(made, fuzz_dir), "no scratch directory");
	fuzz_owner = getpid();
	atexit(fuzz_clean_up);
	setenv("HOME", fuzz_dir, 1);
	setenv("XDG_CONFIG_HOME", fuzz_dir, 1);
	setenv("XDG_STATE_HOME", fuzz_dir, 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	unsetenv("GIT_DIR");
	unsetenv("GIT_WORK_TREE");
	umask(022);
	return fuzz_dir;
}

/* A path in it; four may be in use at a time. */
UNUSED static const char *fuzz_path(const char *name)
{
	static char paths[4][2 * PATH_MAX];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", fuzz_scratch(), name);
	return path;
}

UNUSED static void fuzz_mkdir(const char *name)
{
	(void)mkdir(fuzz_path(name), 0755);
}

UNUSED static void fuzz_put(const char *name, const void *data, size_t len)
{
	int fd = open(fuzz_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	FUZZ_CHECK(fd >= 0, "unable to create '%s'", name);
	while (len) {
		ssize_t n = write(fd, data, len);

		FUZZ_CHECK(n > 0, "unable to write '%s'", name);
		data = (const char *)data + n;
		len -= (size_t)n;
	}
	close(fd);
}

/* ---- a store that is no more than its files ---- */

UNUSED static struct store *fuzz_store(void)
{
	static const char *const dirs[] = { "store",	    "store/checkpoint",
					    "store/refs",   "store/refs/checkpoints",
					    "store/objects", "store/objects/pack" };
	const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	static struct store store;

	if (!store.path) {
		for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
			fuzz_mkdir(dirs[i]);
		/* Long ago, so that nobody waits for a pack that may have come just now. */
		FUZZ_CHECK(!utimensat(AT_FDCWD, fuzz_path("store/objects/pack"), old, 0), "utimensat");
		store.path = strdup(fuzz_path("store"));
		store.worktree = strdup(fuzz_path("worktree"));
		store.lockfd = -1;
		store.dirfd = open(store.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		FUZZ_CHECK(store.dirfd >= 0, "no store");
	}
	return &store;
}

#endif
