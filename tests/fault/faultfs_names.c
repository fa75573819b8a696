/* SPDX-License-Identifier: MIT */
/* Names that a power cut may take away, since the directory that has them was not synced. */
#include "faultfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAMES_MAX = 16384 };

/* One that was given, and where: the directory may be renamed before it is synced. */
struct name {
	dev_t dev;
	ino_t ino;
	char *dir, *base;
};

static struct name names[NAMES_MAX];
static size_t names_nr;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static bool recording;

void names_setup(void)
{
	recording = getenv("FAULT_NAMES_FILE") != NULL;
}

/* The directory that holds `path`, opened, with what follows the last slash; -1 if there is none. */
static int open_holder(int dirfd, const char *path, char base[NAME_MAX + 1])
{
	char dir[PATH_MAX];
	size_t len = strlen(path), end;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (end = len; end && path[end - 1] != '/'; end--)
		;
	if (!len || len >= sizeof(dir) || len - end > NAME_MAX)
		return -1;
	memcpy(base, path + end, len - end);
	base[len - end] = '\0';
	memcpy(dir, end ? path : ".", end ? end : 1);
	dir[end ? end : 1] = '\0';
	return (int)syscall(SYS_openat, dirfd, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Where a name is, made absolute; false if it has no directory. */
static bool locate(struct name *out, int dirfd, const char *path)
{
	char base[NAME_MAX + 1], link[64], dir[PATH_MAX];
	int fd = open_holder(dirfd, path, base);
	struct stat st;
	long len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = fd < 0 ? -1 : syscall(SYS_readlinkat, AT_FDCWD, link, dir, sizeof(dir) - 1);
	if (len > 0 && fstat(fd, &st) < 0)
		len = -1;
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (len <= 0)
		return false;
	dir[len] = '\0';
	*out = (struct name){ st.st_dev, st.st_ino, strdup(dir), strdup(base) };
	return true;
}

void note_name(int dirfd, const char *path)
{
	int saved = errno;
	struct name name;

	if (recording && is_owner() && locate(&name, dirfd, path)) {
		pthread_mutex_lock(&names_lock);
		if (names_nr == NAMES_MAX)
			die("too many names", path);
		names[names_nr++] = name;
		pthread_mutex_unlock(&names_lock);
	}
	errno = saved;
}

/* What was noted below a directory that has another name now. */
static void follow(const struct name *from, const struct name *to)
{
	char old[PATH_MAX + NAME_MAX + 2], path[2 * PATH_MAX];
	size_t len = (size_t)snprintf(old, sizeof(old), "%s/%s", from->dir, from->base);

	for (size_t i = 0; i < names_nr; i++) {
		const char *dir = names[i].dir;

		if (!dir || strncmp(dir, old, len) || (dir[len] && dir[len] != '/'))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", to->dir, to->base, dir + len);
		names[i].dir = strdup(path);
	}
}

int renamed(int rc, int fd1, const char *from, int fd2, const char *to)
{
	struct name old, new;
	int saved = errno;

	if (rc < 0 || !recording || !is_owner())
		return rc;
	note_name(fd2, to);
	if (locate(&old, fd1, from) && locate(&new, fd2, to)) {
		pthread_mutex_lock(&names_lock);
		follow(&old, &new);
		pthread_mutex_unlock(&names_lock);
	}
	errno = saved;
	return rc;
}

int named(int rc, int dirfd, const char *path)
{
	if (rc >= 0)
		note_name(dirfd, path);
	return rc;
}

bool is_there(int dirfd, const char *path)
{
	struct stat st;
	int saved = errno;
	bool there = !recording || !fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW);

	errno = saved;
	return there;
}

int synced(int rc, int fd)
{
	struct stat st;

	if (rc || !recording || !is_owner() || fstat(fd, &st) < 0)
		return rc;
	pthread_mutex_lock(&names_lock);
	for (size_t i = 0; i < names_nr; i++)
		if (names[i].dir && names[i].dev == st.st_dev && names[i].ino == st.st_ino)
			names[i].dir = NULL;
	pthread_mutex_unlock(&names_lock);
	return rc;
}

void names_report(void)
{
	int fd;

	if (!recording)
		return;
	recording = false;
	fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("FAULT_NAMES_FILE"),
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	for (size_t i = 0; i < names_nr; i++) {
		char path[PATH_MAX + NAME_MAX + 3];
		struct stat st;
		int len;

		if (!names[i].dir)
			continue;
		len = snprintf(path, sizeof(path), "%s/%s\n", names[i].dir, names[i].base);
		path[len - 1] = '\0';
		if (fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		path[len - 1] = '\n';
		if (syscall(SYS_write, fd, path, (size_t)len) != len)
			fprintf(stderr, "faultfs: cannot write the names\n");
	}
	syscall(SYS_close, fd);
}
