/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_WATCHGEN_H
#define CKPT_TESTS_WATCHGEN_H

/*
 * Random trouble in the directories W and O of the scratch directory: whatever a program can do to
 * files and directories. O is outside of what is watched. To be included once.
 */

#include "unit.h"

#include <sys/mman.h>

enum { GEN_DEPTH = 4, GEN_NAMES = 4 };

/* A path that may exist or not: W/b/d/a */
static void gen_path(char *out, size_t size, const char *top)
{
	unsigned depth = 1 + rnd(GEN_DEPTH);
	size_t len = (size_t)snprintf(out, size, "%s", top);

	while (depth-- && len < size)
		len += (size_t)snprintf(out + len, size - len, "/%c", 'a' + (int)rnd(GEN_NAMES));
}

/* Mostly in the worktree. */
static const char *gen_any(void)
{
	static char paths[4][64];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	gen_path(path, sizeof(paths[0]), rnd(8) ? "W" : "O");
	return path;
}

static void gen_write(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0644);
	char text[32];

	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%u\n", rnd(1000));
	if (write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

/* As editors do: a new file takes the place of the old one. */
static void gen_edit(const char *path)
{
	char temp[80];

	snprintf(temp, sizeof(temp), "%s~", path);
	gen_write(temp, O_TRUNC);
	if (rename(temp, path) < 0)
		(void)unlink(temp);
}

/* Written through memory, after the file was closed. */
static void gen_map(const char *path)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *map;

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	map[rnd((unsigned)st.st_size)] ^= 1;
	munmap(map, (size_t)st.st_size);
}

/* A file that gets its name, GEN_LATER, when it is open already; -1 if it cannot. */
#define GEN_LATER "t"

static int gen_nameless(const char *path)
{
	char dir[64], name[80], link[64];
	int fd;

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	snprintf(name, sizeof(name), "%s/" GEN_LATER, dir);
	fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (write(fd, "x", 1) < 0)
		abort();
	(void)unlink(name);
	(void)!linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
	return fd;
}

/* What is held open: a file to be written later, a directory that cannot go while it is. */
static int gen_held[8] = { -1, -1, -1, -1, -1, -1, -1, -1 };

static void gen_hold(const char *path)
{
	int *slot = &gen_held[rnd(8)];

	if (*slot >= 0)
		close(*slot);
	switch (rnd(3)) {
	case 0:
		*slot = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		break;
	case 1:
		*slot = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		break;
	default:
		*slot = gen_nameless(path);
		break;
	}
}

static void gen_use_held(void)
{
	int *slot = &gen_held[rnd(8)];

	if (rnd(2) || close(*slot) < 0)
		(void)!write(*slot, "z", 1);
	else
		*slot = -1;
}

static void gen_remove(const char *path)
{
	char command[128];

	if (!unlink(path) || !rmdir(path) || rnd(3))
		return;
	snprintf(command, sizeof(command), "rm -rf %s 2>/dev/null", path);
	(void)!system(command);
}

static void gen_times(const char *path)
{
	const struct timespec times[2] = { { 1000000000, 0 }, { 1000000000 + rnd(1000), 0 } };

	(void)utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static void gen_symlink(const char *path)
{
	(void)unlink(path);
	(void)!symlink(rnd(2) ? "a" : "../b", path);
}

/* Files that may have several names are called GEN_LINKED, and no others are. */
#define GEN_LINKED "l"

static void gen_link(const char *path, const char *other)
{
	char from[64], to[64];

	snprintf(from, sizeof(from), "%.*s/" GEN_LINKED, (int)(strrchr(path, '/') - path), path);
	snprintf(to, sizeof(to), "%.*s/" GEN_LINKED, (int)(strrchr(other, '/') - other), other);
	if (rnd(2))
		gen_write(from, O_APPEND);
	else if (rnd(2))
		gen_map(from);
	if (rnd(3))
		(void)!link(from, to);
	else
		(void)unlink(to);
}

/* A directory for a file, and the other way round. */
static void gen_swap_kind(const char *path)
{
	if (!unlink(path))
		(void)mkdir(path, 0755);
	else if (!rmdir(path))
		gen_write(path, 0);
}

UNUSED static void gen_once(void)
{
	const char *path = gen_any();

	switch (rnd(23)) {
	case 0:
	case 1:
	case 2:
		(void)mkdir(path, 0755);
		break;
	case 3:
	case 4:
		gen_write(path, O_TRUNC);
		break;
	case 5:
	case 6:
		gen_write(path, O_APPEND);
		break;
	case 7:
		gen_edit(path);
		break;
	case 8:
		gen_map(path);
		break;
	case 9:
	case 19:
		gen_hold(path);
		break;
	case 20:
	case 21:
		gen_use_held();
		break;
	case 10:
		gen_remove(path);
		break;
	case 11:
	case 12:
	case 13:
		(void)rename(path, gen_any());
		break;
	case 14:
	case 15:
		(void)renameat2(AT_FDCWD, path, AT_FDCWD, gen_any(), RENAME_EXCHANGE);
		break;
	case 16:
		(void)chmod(path, rnd(2) ? 0755 : 0700);
		break;
	case 17:
		gen_times(path);
		break;
	case 18:
		if (rnd(3))
			gen_link(path, gen_any());
		else
			gen_symlink(path);
		break;
	default:
		gen_swap_kind(path);
		break;
	}
}

#endif
