/* SPDX-License-Identifier: MIT */
#include "gitstate/gitwrite.h"

#include "gitstate/gitstate_internal.h"
#include "git/git.h"

static const struct gitstate_file *find_file(const struct gitstate *state, const char *path)
{
	for (size_t i = 0; i < state->files_nr; i++)
		if (!strcmp(state->files[i].path, path))
			return &state->files[i];
	return NULL;
}

/* Make the directories above `path`; a link in their place leads elsewhere. */
static int make_holders(int fd, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *dir = xmemdupz(path, (size_t)(slash - path));
		struct stat st;
		int err = 0;

		if (fstatat(fd, dir, &st, AT_SYMLINK_NOFOLLOW) < 0)
			err = fs_ensure_dir(fd, dir, fs_usual_mode(0777));
		else if (!S_ISDIR(st.st_mode))
			err = ckpt_error_set(CKPT_ERROR,
					     "'%s' in the git directory is not a directory", dir);
		free(dir);
		if (err)
			return err;
	}
	return 0;
}

static int write_one(int fd, const struct gitstate_file *file, const struct gitstate_file *now)
{
	int err;

	if (!gitstate_is_operation_file(file->path))
		return ckpt_error_set(CKPT_ECORRUPT, "'%s' does not belong to an operation of git",
				      file->path);
	if (now && now->len == file->len && !memcmp(now->data, file->data, file->len))
		return 0;
	err = make_holders(fd, file->path);
	return err ? err
		   : fs_write_file(fd, file->path, file->data, file->len, fs_usual_mode(0666),
				   FS_DURABLE);
}

static int remove_one(int fd, const char *path)
{
	char *dir = xstrdup(path), *slash;
	int err = 0;

	if (unlinkat(fd, path, 0) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s'", path);
	/* With the last file the directory goes. */
	while (!err && (slash = strrchr(dir, '/'))) {
		*slash = '\0';
		if (unlinkat(fd, dir, AT_REMOVEDIR) < 0)
			break;
	}
	free(dir);
	return err;
}

static int remove_others(int fd, const struct gitstate *now, const struct gitstate *goal)
{
	bool any = false;
	int err = 0;

	for (size_t i = 0; i < now->files_nr && !err; i++) {
		const char *path = now->files[i].path;

		if (!gitstate_is_operation_file(path) || find_file(goal, path))
			continue;
		err = remove_one(fd, path);
		any = true;
	}
	return !err && any ? fs_sync_dir(fd, ".") : err;
}

/* `dir` and everything below it, if the goal has no file there. */
static int remove_dir(int fd, const struct gitstate *goal, const char *dir)
{
	for (size_t i = 0; i < goal->files_nr; i++)
		if (path_below(goal->files[i].path, dir))
			return 0;
	return fs_remove_tree(fd, dir);
}

int gitwrite_operation(const struct repo *repo, const struct gitstate *now,
		       const struct gitstate *goal)
{
	int fd = open(repo->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return ckpt_error_errno("unable to open '%s'", repo->gitdir);
	/* Large or special files in them are not recorded; git removes them with the rest. */
	for (size_t i = 0; gitstate_op_dirs[i] && !err; i++)
		err = remove_dir(fd, goal, gitstate_op_dirs[i]);
	if (!err)
		err = remove_others(fd, now, goal);
	for (size_t i = 0; i < goal->files_nr && !err; i++)
		err = write_one(fd, &goal->files[i], find_file(now, goal->files[i].path));
	fs_close(fd);
	return err;
}
