/* SPDX-License-Identifier: MIT */
/*
 * Edits, removes, creates, renames, swaps kinds (file, directory, link), gives files further names
 * and changes modes, all by chance.
 */
#include "mktree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool verbosely;

static void note(const char *what, const char *path)
{
	if (verbosely)
		printf("%s %s\n", what, path);
}

struct paths {
	char **path;
	size_t count, room;
};

static void add_path(struct paths *all, char *path)
{
	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 256;
		all->path = realloc(all->path, all->room * sizeof(*all->path));
	}
	all->path[all->count++] = path;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return lstat(*path ? path : ".", &st) == 0 && S_ISDIR(st.st_mode);
}

static void collect(struct paths *all, const char *dir)
{
	struct dirent **names;
	int n = scandir(*dir ? dir : ".", &names, NULL, NULL);

	if (n < 0)
		die("cannot read '%s'", dir);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (strcmp(name, ".") && strcmp(name, "..") && strcmp(name, ".git")) {
			char *path = join(dir, name);

			add_path(all, path);
			if (is_dir(path))
				collect(all, path);
		}
		free(names[i]);
	}
	free(names);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void remove_all(const char *path)
{
	if (is_dir(path)) {
		struct paths below = { 0 };

		collect(&below, path);
		for (size_t i = below.count; i-- > 0;) {
			if (remove(below.path[i]) < 0 && errno != ENOTEMPTY)
				die("cannot remove '%s'", below.path[i]);
			free(below.path[i]);
		}
		free(below.path);
	}
	/* A directory that holds a .git stays. */
	if (remove(path) < 0 && errno != ENOTEMPTY)
		die("cannot remove '%s'", path);
}

/* Change a file's contents in place; sometimes without a trace in size and mtime. */
static void edit(const char *path, const struct stat *st)
{
	char text[256];
	size_t len = 1 + rnd(sizeof(text));
	off_t at = st->st_size ? (off_t)(rnd64() % (uint64_t)st->st_size) : 0;
	int how = (int)rnd(5), fd;

	if (chmod(path, 0600) < 0 || (fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		die("cannot open '%s'", path);
	fill_text(text, len);
	if (how == 0) {
		at = st->st_size;
	} else if (how == 1) {
		if (ftruncate(fd, at) < 0)
			die("cannot truncate '%s'", path);
	} else if (how >= 3 && (off_t)len > st->st_size - at) {
		len = (size_t)(st->st_size - at);
	}
	if (how != 1 && pwrite(fd, text, len, at) != (ssize_t)len)
		die("cannot write '%s'", path);
	if (fchmod(fd, st->st_mode & 07777) < 0)
		die("cannot set the mode of '%s'", path);
	if (how == 4)
		futimens(fd, (const struct timespec[2]){ st->st_atim, st->st_mtim });
	close(fd);
}

/* Replace an entry with a new one, of another kind or of the same. */
static void swap_kind(const char *path)
{
	remove_all(path);
	switch (rnd(3)) {
	case 0:
		odd_file(path);
		break;
	case 1:
		odd_link(path);
		break;
	case 2:
		odd_dir(path);
		for (unsigned int i = rnd(4); i > 0 && is_dir(path) && strlen(path) < 1200; i--)
			odd_entry(path, 15);
	}
}

static void move(const char *path, const char *dir)
{
	size_t len = strlen(path);
	char *to;

	/* Not below itself. */
	if (!strncmp(dir, path, len) && (dir[len] == '/' || !dir[len]))
		return;
	to = join(dir, odd_name());
	if (strlen(to) < 1200 && rename(path, to) < 0 && errno != ENOTEMPTY && errno != EEXIST &&
	    errno != EISDIR && errno != ENOTDIR)
		die("cannot rename '%s'", path);
	free(to);
}

/*
 * Earlier changes may have put a link, perhaps to /, where a directory was: a path that leads
 * through one is no longer in the tree.
 */
static bool is_beneath(const char *path)
{
	char *dir = strdup(path);
	bool ok = true;

	for (char *p = strchr(dir, '/'); p && ok; p = strchr(p + 1, '/')) {
		*p = '\0';
		ok = is_dir(dir);
		*p = '/';
	}
	free(dir);
	return ok;
}

static void damage_one(const char *path, const char *dir)
{
	unsigned int what = rnd(17);
	struct stat st;

	if (!is_beneath(path))
		return;
	if (what < 3) {
		note("create in", dir);
		odd_entry(dir, 20);
	} else if (lstat(path, &st) < 0) {
		return; /* an earlier change took it away */
	} else if (what < 8 && S_ISREG(st.st_mode)) {
		note("edit", path);
		edit(path, &st);
	} else if (what < 10) {
		note("remove", path);
		remove_all(path);
	} else if (what < 12) {
		note("swap", path);
		swap_kind(path);
	} else if (what < 14) {
		note("move", path);
		move(path, dir);
	} else if (what == 16 && !S_ISDIR(st.st_mode)) {
		note("link", path);
		odd_name_for(path, dir);
	} else if (!S_ISLNK(st.st_mode)) {
		note("chmod", path);
		if (chmod(path, S_ISDIR(st.st_mode) ? odd_dir_mode() : odd_file_mode()) < 0)
			die("cannot set the mode of '%s'", path);
	}
}

void damage(unsigned int edits, bool verbose)
{
	struct paths all = { 0 };

	verbosely = verbose;
	collect(&all, "");
	if (all.count)
		qsort(all.path, all.count, sizeof(*all.path), by_bytes);
	if (!edits)
		edits = 5 + (unsigned int)all.count / 6;
	while (edits--) {
		const char *path = all.count ? all.path[rnd((unsigned int)all.count)] : "";
		const char *dir = all.count ? all.path[rnd((unsigned int)all.count)] : "";

		damage_one(path, is_dir(dir) && is_beneath(dir) && strlen(dir) < 1200 ? dir : "");
	}
}
