/* SPDX-License-Identifier: MIT */
#include "git/repo.h"

#include "git/gitfile.h"

/* Add `dir` if it really is a worktree of this repository; `gitdir` is what it has to lead to. */
static void add_if_there(struct strlist *out, const struct repo *repo, const char *dir,
			 const char *gitdir)
{
	struct repo *other = NULL;

	if (repo_open_at(&other, dir))
		return;
	if (!strcmp(other->gitdir, gitdir) && !strcmp(other->commondir, repo->commondir) &&
	    strcmp(other->worktree, repo->worktree) != 0)
		strlist_add(out, other->worktree);
	repo_free(other);
}

/* The directory that has `name` at its end, or NULL. The caller frees it. */
static char *without(const char *path, const char *name)
{
	size_t len = strlen(path), end = strlen(name);

	return len > end && !strcmp(path + len - end, name) ? xmemdupz(path, len - end) : NULL;
}

static void add_linked(struct strlist *out, const struct repo *repo, const char *name)
{
	char *gitdir = xstrfmt("%s/worktrees/%s", repo->commondir, name);
	char *text = gitfile_read(gitdir, "gitdir");
	char *dir = text ? without(text, "/.git") : NULL;
	struct strbuf path = STRBUF_INIT;

	if (dir && strcmp(gitdir, repo->gitdir) != 0) {
		path_absolute(&path, gitdir, dir);
		add_if_there(out, repo, path.buf, gitdir);
	}
	strbuf_release(&path);
	free(dir);
	free(text);
	free(gitdir);
}

bool repo_lost_worktree(const struct repo *repo, const char *dir)
{
	char *path = xstrfmt("%s/worktrees", repo->commondir);
	struct strlist names = STRLIST_INIT;
	bool found = false;

	(void)fs_names(&names, AT_FDCWD, path, 0, NULL);
	for (size_t i = 0; i < names.nr && !found; i++) {
		char *gitdir = xstrfmt("%s/%s", path, names.items[i]);
		char *text = gitfile_read(gitdir, "gitdir"), *there = text ? without(text, "/.git") : NULL;
		struct strbuf full = STRBUF_INIT;

		if (there)
			path_absolute(&full, gitdir, there);
		found = !strcmp(full.buf, dir);
		strbuf_release(&full);
		free(there);
		free(text);
		free(gitdir);
	}
	strlist_release(&names);
	free(path);
	return found;
}

void repo_other_worktrees(struct strlist *out, const struct repo *repo)
{
	char *path = xstrfmt("%s/worktrees", repo->commondir);
	char *primary = without(repo->commondir, "/.git");
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, AT_FDCWD, path, 0, NULL);
	for (size_t i = 0; i < names.nr; i++)
		if (names.items[i][0] != '.')
			add_linked(out, repo, names.items[i]);
	strlist_release(&names);
	if (primary && strcmp(repo->gitdir, repo->commondir) != 0)
		add_if_there(out, repo, primary, repo->commondir);
	strlist_sort_unique(out);
	free(primary);
	free(path);
}
