/* SPDX-License-Identifier: MIT */
#include "git/askgit.h"

#include "git/gitfile.h"

enum {
	BORROW_DEPTH = 5,  /* as deep as git follows alternates */
	BORROW_MAX = 1000, /* directories, far more than anyone has */
	PATIENCE = 60,	   /* seconds, for what the check does not find */
};

static int check_entry(const char *path)
{
	struct stat st;

	/*
	 * A link counts as what it leads to; a dangling link does not block. A socket, such as
	 * that of git's own fsmonitor, cannot be opened at all.
	 */
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
	    S_ISSOCK(st.st_mode))
		return 0;
	return ckpt_error_set(CKPT_ERROR, "'%s' is not a regular file", path);
}

/* One directory, without its subdirectories; `name` "" is `dir` itself. */
static int check_dir(const char *dir, const char *name)
{
	char *path = *name ? xstrfmt("%s/%s", dir, name) : xstrdup(dir);
	struct strlist names = STRLIST_INIT;
	int err = 0;

	(void)fs_names(&names, AT_FDCWD, path, 0, NULL);
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *entry = xstrfmt("%s/%s", path, names.items[i]);

		err = check_entry(entry);
		free(entry);
	}
	strlist_release(&names);
	free(path);
	return err;
}

/* `seen` are the directories already checked: they may borrow from each other. */
static int check_borrowed(struct strlist *seen, const char *dir, int depth)
{
	char *list, *line, *rest;
	int err;

	if (strlist_has(seen, dir))
		return 0;
	if (seen->nr == BORROW_MAX)
		return ckpt_error_set(CKPT_ERROR, "objects are borrowed from more than %d directories",
				      BORROW_MAX);
	strlist_add(seen, dir);
	err = check_dir(dir, "info");
	if (!err)
		err = check_dir(dir, "pack");
	if (err || depth == BORROW_DEPTH)
		return err;
	list = gitfile_read(dir, "info/alternates");
	for (line = list; line && *line && !err; line = rest) {
		struct strbuf path = STRBUF_INIT;

		rest = line + strcspn(line, "\n");
		if (*rest)
			*rest++ = '\0';
		path_absolute(&path, dir, line);
		if (*line && *line != '#')
			err = check_borrowed(seen, path.buf, depth + 1);
		strbuf_release(&path);
	}
	free(list);
	return err;
}

int askgit_check_loose(int objects_fd, const char *hex)
{
	char *path = xstrfmt("%.2s/%s", hex, hex + 2);
	struct stat st;
	int err = 0;

	if (!fstatat(objects_fd, path, &st, 0) && !S_ISREG(st.st_mode))
		err = ckpt_error_set(CKPT_ECORRUPT, "the file of the object '%s' is not a regular file",
				     hex);
	free(path);
	return err;
}

int askgit_check(const char *gitdir)
{
	char *shared = gitfile_read(gitdir, "commondir");
	struct strbuf common = STRBUF_INIT, objects = STRBUF_INIT;
	struct strlist seen = STRLIST_INIT;
	int err = check_dir(gitdir, "");

	path_absolute(&common, gitdir, shared ? shared : ".");
	strbuf_addstr(&objects, common.buf);
	path_append(&objects, "objects");
	if (!err)
		err = check_dir(gitdir, "info");
	if (!err && shared)
		err = check_dir(common.buf, "");
	if (!err && shared)
		err = check_dir(common.buf, "info");
	if (!err)
		err = check_borrowed(&seen, objects.buf, 0);
	strlist_release(&seen);
	strbuf_release(&common);
	strbuf_release(&objects);
	free(shared);
	return err;
}

int askgit(struct strbuf *out, const struct gitrun *how, const char *const args[])
{
	struct gitrun bounded = *how;
	int err = askgit_check(how->gitdir);

	if (!how->stop && how->patience <= 0)
		bounded.patience = PATIENCE;
	return err ? err : gitrun(out, &bounded, args);
}
