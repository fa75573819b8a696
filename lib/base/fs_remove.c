/* SPDX-License-Identifier: MIT */
#include "base/fs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/std.h"

#include <dirent.h>

/*
 * The first levels of a tree are walked with a descriptor each, which is fast. A
 * tree may be deeper than there are descriptors: further down a single descriptor
 * goes into a directory, and back with "..", checking that it is back where it was.
 */

/* A directory to be emptied may have to be made accessible first. */
static int open_to_empty(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	char proc[64];

	if (fd < 0)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && (st.st_mode & 0700) != 0700)
		(void)chmod(proc, 0700);
	close(fd);
	return openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/*
 * Remove what can be removed at once. `dir_out` is the first directory that cannot, or "".
 * Not with fs_names(): a directory is read once for each subdirectory, but only up to that.
 */
static int remove_files(struct strbuf *dir_out, int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	strbuf_reset(dir_out);
	if (!dir) {
		fs_close(copy);
		return ckpt_error_errno("unable to read a directory to be removed");
	}
	while (!err && !dir_out->len && (ent = readdir(dir))) {
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..") ||
		    !unlinkat(fd, ent->d_name, 0) || errno == ENOENT)
			continue;
		if (errno == EISDIR || errno == EPERM)
			strbuf_addstr(dir_out, ent->d_name);
		else
			err = ckpt_error_errno("unable to remove '%s'", ent->d_name);
	}
	closedir(dir);
	return err;
}

/* A directory on the way down, and what it must be on the way up. */
struct level {
	char *name;
	dev_t dev;
	ino_t ino;
};

/* Back from an empty directory into its parent, and remove it there. */
static int leave(int *fd, const struct level *level)
{
	int parent = openat(*fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (parent < 0 || fstat(parent, &st) < 0) {
		int err = ckpt_error_errno("unable to go back from '%s'", level->name);

		fs_close(parent);
		return err;
	}
	close(*fd);
	*fd = parent;
	if (st.st_dev != level->dev || st.st_ino != level->ino)
		return ckpt_error_set(CKPT_ERROR, "'%s' was moved while it was being "
						  "removed", level->name);
	if (unlinkat(parent, level->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to remove '%s'", level->name);
	return 0;
}

static int enter(int *fd, struct level *level, const char *name)
{
	int child = open_to_empty(*fd, name);
	struct stat st;

	if (child < 0 || fstat(*fd, &st) < 0) {
		int err = ckpt_error_errno("unable to open the directory '%s'", name);

		fs_close(child);
		return err;
	}
	*level = (struct level){ .name = xstrdup(name), .dev = st.st_dev, .ino = st.st_ino };
	close(*fd);
	*fd = child;
	return 0;
}

/* Empty a directory of any depth with a handful of descriptors, up and down in it; closes it. */
static int empty_deep(int fd)
{
	struct strbuf name = STRBUF_INIT;
	struct level *levels = NULL;
	size_t nr = 0, alloc = 0;
	int err;

	while (!(err = remove_files(&name, fd)) && (name.len || nr)) {
		if (name.len) {
			ALLOC_GROW(levels, nr + 1, alloc);
			err = enter(&fd, &levels[nr], name.buf);
			nr += !err;
		} else {
			err = leave(&fd, &levels[--nr]);
			free(levels[nr].name);
		}
		if (err)
			break;
	}
	while (nr)
		free(levels[--nr].name);
	free(levels);
	strbuf_release(&name);
	close(fd);
	return err;
}

static int remove_tree(int dirfd, const char *path, unsigned depth)
{
	enum { DEPTH_MAX = 8 }; /* of the fast way */
	struct strlist names = STRLIST_INIT;
	int fd, err = 0;

	if (!unlinkat(dirfd, path, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return ckpt_error_errno("unable to remove '%s'", path);
	fd = open_to_empty(dirfd, path);
	if (fd < 0)
		return ckpt_error_errno("unable to open the directory '%s'", path);
	if (depth == DEPTH_MAX) {
		err = empty_deep(fd);
	} else {
		if (fs_names(&names, fd, ".", 0, NULL) < 0)
			err = ckpt_error_errno("unable to read the directory '%s'", path);
		for (size_t i = 0; i < names.nr && !err; i++)
			err = remove_tree(fd, names.items[i], depth + 1);
		strlist_release(&names);
		close(fd);
	}
	if (!err && unlinkat(dirfd, path, AT_REMOVEDIR) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s'", path);
	return err;
}

int fs_remove_tree(int dirfd, const char *path)
{
	return remove_tree(dirfd, path, 0);
}
