/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include "session/session.h"

#define NOTE "what-is-this"

/* For whoever finds it after a crash; beside the copy, which is exact. */
static int leave_note(const char *dir, const struct ckpt_record *target)
{
	static const char text[] =
		"This directory was made by 'git checkpoint try' or 'bisect': a copy of the\n"
		"checkpoint %s, for as long as a command runs in it. If none does\n"
		"any more (process %ld), it can be removed.\n";
	char *path = xstrfmt("%s/" NOTE, dir), *note = xstrfmt(text, target->id, (long)getpid());
	int err = fs_write_file(AT_FDCWD, path, note, strlen(note), 0600, FS_FAST);

	free(path);
	free(note);
	return err;
}

/* A directory that nobody else may enter, in TMPDIR. */
static int make_dir(char **out, const struct ckpt_record *target)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xstrfmt("%s/git-checkpoint-try.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	int err;

	if (!mkdtemp(path)) {
		err = ckpt_error_errno("unable to create a directory in '%s'",
				       tmp && *tmp == '/' ? tmp : "/tmp");
		free(path);
		return err;
	}
	*out = path;
	return leave_note(path, target);
}

static int make_copy(struct try *out, struct session *session, const struct ckpt_record *target,
		     const char *dir, progress_fn progress)
{
	const char *slash = strrchr(session->worktree, '/');
	char *copy = xstrfmt("%s/%s", dir, slash && slash[1] ? slash + 1 : "root");
	const struct into_opts opts = {
		.target = target,
		.dir = copy,
		.paths = &strlist_empty,
		.passing = true,
		.progress = progress,
	};
	int err = into_run(&out->copy, session, &opts);

	free(copy);
	return err;
}

static void remove_dir(struct try *out, char *dir)
{
	char *kept = ckpt_error_keep();

	if (dir && fs_remove_tree(AT_FDCWD, dir)) {
		out->left = xstrdup(dir);
		out->why = ckpt_error_keep();
	}
	free(dir);
	(void)ckpt_error_put_back(0, kept);
}

int try_run(struct try *out, struct session *session, const struct ckpt_record *target,
	    char *const argv[], unsigned flags, progress_fn progress)
{
	char *dir = NULL;
	int err;

	memset(out, 0, sizeof(*out));
	err = make_dir(&dir, target);
	if (!err)
		err = make_copy(out, session, target, dir, progress);
	if (!err && out->copy.match)
		err = run_child(&out->child, argv, out->copy.path, flags | RUN_APART);
	remove_dir(out, dir);
	return err;
}

void try_release(struct try *try)
{
	into_result_release(&try->copy);
	free(try->left);
	free(try->why);
	memset(try, 0, sizeof(*try));
}
