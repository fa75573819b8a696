/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include "model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "crash-replay: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void wipe(int dirfd, const char *name)
{
	int fd;
	DIR *dir;
	struct dirent *ent;

	if (!unlinkat(dirfd, name, 0))
		return;
	(void)fchmodat(dirfd, name, 0700, 0);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		die(name);
	while ((ent = readdir(dir)))
		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, ".."))
			wipe(fd, ent->d_name);
	closedir(dir);
	if (strcmp(name, ".") && unlinkat(dirfd, name, AT_REMOVEDIR) < 0)
		die(name);
}

static void set_mtime(int dirfd, const char *name, uint64_t mtime)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = (time_t)(mtime / 1000000000u), .tv_nsec = (long)(mtime % 1000000000u) },
	};

	if (utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		die(name);
}

static void write_file(int dirfd, const char *name, const struct node *node)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || (node->len && write(fd, node->data, node->len) != (ssize_t)node->len) ||
	    fchmod(fd, node->mode & 07777) < 0)
		die(name);
	close(fd);
}

/* `paths` has where a node is already: a file gets a link, a directory can be in one place only. */
static void write_node(const struct state *state, int n, int dirfd, const char *name,
		       const char *path, char **paths)
{
	const struct node *node = &state->nodes[n];
	int fd;

	if (paths[n] && S_ISDIR(node->mode))
		return;
	if (paths[n] && !linkat(AT_FDCWD, paths[n], dirfd, name, 0))
		return;
	paths[n] = strdup(path);
	if (S_ISLNK(node->mode)) {
		char target[PATH_MAX];

		snprintf(target, sizeof(target), "%.*s", (int)node->len, (char *)node->data);
		if (symlinkat(target, dirfd, name) < 0)
			die(path);
		set_mtime(dirfd, name, node->mtime);
		return;
	}
	if (S_ISREG(node->mode)) {
		write_file(dirfd, name, node);
		set_mtime(dirfd, name, node->mtime);
		return;
	}
	if (strcmp(name, ".") && mkdirat(dirfd, name, 0700) < 0)
		die(path);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	for (size_t i = 0; i < node->nr; i++) {
		char below[PATH_MAX];

		snprintf(below, sizeof(below), "%s/%s", path, node->entries[i].name);
		write_node(state, node->entries[i].node, fd, node->entries[i].name, below, paths);
	}
	if (fchmod(fd, node->mode & 07777) < 0)
		die(path);
	close(fd);
	set_mtime(dirfd, name, node->mtime);
}

void tree_write(const char *root, const struct state *state)
{
	char **paths = calloc(state->nr, sizeof(*paths));
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || !paths)
		die(root);
	wipe(fd, ".");
	write_node(state, 0, fd, ".", root, paths);
	for (size_t i = 0; i < state->nr; i++)
		free(paths[i]);
	free(paths);
	close(fd);
}

/* ---- looking ------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const char *data, ssize_t len)
{
	for (ssize_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3u;
	return hash;
}

static void print_node(const char *path, const char *shown, const struct stat *st)
{
	uint64_t hash = 0xcbf29ce484222325u;
	char data[65536], line[PATH_MAX];
	ssize_t n = 0;

	if (S_ISLNK(st->st_mode)) {
		n = readlink(path, data, sizeof(data));
		hash = hash_bytes(hash, data, n);
	} else if (S_ISREG(st->st_mode)) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			die(path);
		while ((n = read(fd, data, sizeof(data))) > 0)
			hash = hash_bytes(hash, data, n);
		close(fd);
	}
	if (n < 0)
		die(path);
	snprintf(line, sizeof(line), "%s", shown);
	for (char *p = line; *p; p++)
		if (*p == '\n')
			*p = '?';
	if (S_ISDIR(st->st_mode))
		printf("d %04o - %s\n", (unsigned int)(st->st_mode & 07777), line);
	else
		printf("%c %04o %016llx %s\n", S_ISLNK(st->st_mode) ? 'l' : 'f',
		       (unsigned int)(st->st_mode & 07777), (unsigned long long)hash, line);
}

static void print_below(const char *dir, size_t prefix)
{
	struct dirent **names;
	int nr = scandir(dir, &names, NULL, alphasort);

	if (nr < 0)
		die(dir);
	for (int i = 0; i < nr; i++) {
		char path[PATH_MAX];
		struct stat st;

		if (!strcmp(names[i]->d_name, ".") || !strcmp(names[i]->d_name, ".."))
			goto next;
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (lstat(path, &st) < 0)
			die(path);
		print_node(path, path + prefix, &st);
		if (S_ISDIR(st.st_mode))
			print_below(path, prefix);
	next:
		free(names[i]);
	}
	free(names);
}

void tree_print(const char *dir)
{
	print_below(dir, strlen(dir) + 1);
}
