/* SPDX-License-Identifier: MIT */
#include "gitstate/gitwrite.h"

#include "gitstate/gitwrite_internal.h"
#include "git/git.h"
#include "tree/tree.h"

/* --- the branch --- */

static int refuse_branch(const char *branch)
{
	return ckpt_error_set(CKPT_EREFUSED, "a branch named '%s' already exists; name another one",
			      branch);
}

/*
 * What it prints is the branch that "@{-1}" means; such a name is none either, and some that it takes
 * would be hard to use.
 */
int gitwrite_check_branch_name(const struct repo *repo, const char *branch)
{
	const char *const valid[] = { "check-ref-format", "--branch", branch, NULL };
	const struct gitrun run = { .gitdir = repo->gitdir, .worktree = repo->worktree };
	struct strbuf answer = STRBUF_INIT;
	bool ok = *branch != '-' && strcmp(branch, "HEAD") && strcmp(branch, "@") &&
		  !gitrun(&answer, &run, valid) &&
		  !strncmp(answer.buf, branch, strlen(branch)) &&
		  !strcmp(answer.buf + strlen(branch), "\n");

	strbuf_release(&answer);
	return ok ? 0 : ckpt_error_set(CKPT_ERROR, "'%s' is not a valid branch name", branch);
}

int gitwrite_check_branch(const struct repo *repo, const char *branch, const char *commit)
{
	const char *const try[] = { "update-ref", "--stdin", NULL };
	const struct gitwrite how = { repo, "" };
	char *ref = xstrfmt("refs/heads/%s", branch), *exists = repo_ref(repo, ref);
	struct strbuf script = STRBUF_INIT;
	int err = gitwrite_check_branch_name(repo, branch);

	if (!err && exists)
		err = refuse_branch(branch);
	if (!err && commit) {
		/* "a/b" cannot be made if there is "a": git says so without doing it. */
		strbuf_addf(&script, "start\ncreate %s %s\nprepare\nabort\n", ref, commit);
		if (gitwrite_run(&how, script.buf, script.len, try))
			err = ckpt_error_prefix(CKPT_EREFUSED, "the branch '%s' cannot be made",
						branch);
	}
	strbuf_release(&script);
	free(exists);
	free(ref);
	return err;
}

/* --- the worktree --- */

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : "worktree";
}

/* What an interrupted call left: git forgets that worktree, and its files go. */
static int clear_aside(const struct gitwrite *how, const char *aside, const char *inner)
{
	const char *const forget[] = { "worktree", "remove", "--force", "--force", inner, NULL };
	struct stat st;

	if (lstat(aside, &st) < 0)
		return 0;
	(void)gitwrite_run(how, NULL, 0, forget);
	return fs_remove_tree(AT_FDCWD, aside);
}

/*
 * git makes a worktree only in an empty directory. So it makes one further in, of
 * the same name, since that is what git calls it by; its ".git" is moved here, and
 * git is told.
 */
int gitwrite_worktree(const struct gitwrite *how, const char *dir, const char *aside_name,
		      const char *commit)
{
	char *aside = xstrfmt("%s/%s", dir, aside_name);
	char *inner = xstrfmt("%s/%s", aside, last_name(dir));
	char *from = xstrfmt("%s/.git", inner), *to = xstrfmt("%s/.git", dir);
	const char *const add[] = { "-c",  "worktree.useRelativePaths=false",
				    "worktree", "add", "--no-checkout", "--detach", inner,
				    commit,	NULL };
	int err = clear_aside(how, aside, inner);

	if (!err && mkdir(aside, 0700) < 0)
		err = ckpt_error_errno("unable to create the directory '%s'", aside);
	if (!err)
		err = gitwrite_run(how, NULL, 0, add);
	if (!err && renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0 &&
	    ((errno != EINVAL && errno != ENOSYS) || rename(from, to) < 0))
		err = ckpt_error_errno("unable to move '%s' to '%s'", from, to);
	if (!err)
		err = gitwrite_worktree_settle(how, dir, aside_name);
	free(from);
	free(to);
	free(inner);
	free(aside);
	return err;
}

/*
 * Only this entry: 'git worktree repair' would also write a ".git" wherever another entry says that
 * its worktree is.
 */
static int tell_git(const struct repo *repo, const struct repo *linked)
{
	const char *entry = path_below(linked->gitdir, repo->commondir);
	int root = open(repo->commondir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = root < 0 || !entry ? -1 : beneath_open(root, entry, O_RDONLY | O_DIRECTORY);
	char *line = xstrfmt("%s/.git\n", linked->worktree);
	int err = fd < 0 ? ckpt_error_set(CKPT_ERROR, "'%s' is not a worktree of '%s'",
					  linked->worktree, repo->commondir)
			 : fs_write_file(fd, "gitdir", line, strlen(line), fs_usual_mode(0666),
					 FS_DURABLE);

	free(line);
	fs_close(fd);
	fs_close(root);
	return err;
}

int gitwrite_worktree_settle(const struct gitwrite *how, const char *dir, const char *aside_name)
{
	char *aside = xstrfmt("%s/%s", dir, aside_name);
	struct repo *linked = NULL;
	int err = repo_open_at(&linked, dir);

	if (!err)
		err = tell_git(how->repo, linked);
	if (!err)
		err = fs_remove_tree(AT_FDCWD, aside);
	repo_free(linked);
	free(aside);
	return err;
}
