/* SPDX-License-Identifier: MIT */
#include "gitstate/gitstate_internal.h"

/* The patches of a long `git am`, far more than an operation usually has. */
enum { TOTAL_MAX = 64 << 20, DEPTH_MAX = 4 };

const char *const gitstate_op_files[] = {
	"BISECT_ANCESTORS_OK",
	"BISECT_FIRST_PARENT",
	"BISECT_LOG",
	"BISECT_NAMES",
	"BISECT_RUN",
	"BISECT_START",
	"BISECT_TERMS",
	"MERGE_HEAD",
	"MERGE_MODE",
	"MERGE_MSG",
	"MERGE_RR",
	"SQUASH_MSG",
	NULL,
};

const char *const gitstate_op_dirs[] = {
	"rebase-apply",
	"rebase-merge",
	"sequencer",
	NULL,
};

const char *gitstate_text(const struct gitstate *state, const char *path)
{
	for (size_t i = 0; i < state->files_nr; i++)
		if (!strcmp(state->files[i].path, path))
			return state->files[i].data;
	return NULL;
}

/* Symbolic links are not followed: nothing of git's is one here. */
static int take_file(struct gitstate *state, size_t *total, const char *dir, const char *path)
{
	char *file = xstrfmt("%s/%s", dir, path);
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	int err = 0;

	if (lstat(file, &st) < 0 || !S_ISREG(st.st_mode))
		goto out;
	*total += (size_t)st.st_size;
	if (st.st_size > TOTAL_MAX || *total > TOTAL_MAX) {
		err = ckpt_error_set(CKPT_ERROR,
				     "the files of the operation in progress are too large");
		goto out;
	}
	err = fs_read_file(&text, AT_FDCWD, file);
	if (!err)
		gitstate_add_file(state, path, text.buf, text.len);
	else if (err == CKPT_ENOTFOUND)
		err = 0;
out:
	strbuf_release(&text);
	free(file);
	return err;
}

static int take_dir(struct gitstate *state, size_t *total, const char *dir, const char *path,
		    int depth)
{
	char *full = xstrfmt("%s/%s", dir, path);
	struct strlist names = STRLIST_INIT;
	struct stat st;
	int err = 0;

	if (depth > DEPTH_MAX || lstat(full, &st) < 0 || !S_ISDIR(st.st_mode))
		goto out;
	if (fs_names(&names, AT_FDCWD, full, O_NOFOLLOW, NULL) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to read '%s'", full);
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *below = xstrfmt("%s/%s", path, names.items[i]);

		err = take_file(state, total, dir, below);
		if (!err)
			err = take_dir(state, total, dir, below, depth + 1);
		free(below);
	}
out:
	strlist_release(&names);
	free(full);
	return err;
}

static int compare_files(const void *a_, const void *b_)
{
	const struct gitstate_file *a = a_, *b = b_;

	return strcmp(a->path, b->path);
}

static int take_files(struct gitstate *state, const struct repo *repo)
{
	size_t total = 0;
	int err = 0;

	for (size_t i = 0; gitstate_op_files[i] && !err; i++)
		err = take_file(state, &total, repo->gitdir, gitstate_op_files[i]);
	for (size_t i = 0; gitstate_op_dirs[i] && !err; i++)
		err = take_dir(state, &total, repo->gitdir, gitstate_op_dirs[i], 0);
	if (state->files_nr)
		qsort(state->files, state->files_nr, sizeof(*state->files), compare_files);
	return err;
}

static unsigned read_number(const struct gitstate *state, const char *path)
{
	const char *text = gitstate_text(state, path);
	unsigned long value = text ? strtoul(text, NULL, 10) : 0;

	return value > 0 && value < 1000000000 ? (unsigned)value : 0;
}

static void find_steps(struct gitstate *state)
{
	static const char *const places[][2] = { { "rebase-merge/msgnum", "rebase-merge/end" },
						 { "rebase-apply/next", "rebase-apply/last" } };

	for (size_t i = 0; i < ARRAY_SIZE(places) && !state->total; i++) {
		state->step = read_number(state, places[i][0]);
		state->total = read_number(state, places[i][1]);
		if (!state->step || !state->total)
			state->step = state->total = 0;
	}
}

static void find_autostash(struct gitstate *state)
{
	static const char *const places[] = { "rebase-merge/autostash", "rebase-apply/autostash" };
	const char *id = gitstate_private(state, "MERGE_AUTOSTASH");

	for (size_t i = 0; i < ARRAY_SIZE(places) && !id; i++)
		id = gitstate_text(state, places[i]);
	if (id && gitfile_is_id(id))
		state->autostash = xmemdupz(id, strcspn(id, " \t\r\n"));
}

/* With a reftable, what tells of a single pick is a ref and not a file. */
static void find_operation(struct gitstate *state, const struct repo *repo)
{
	const char *operation = repo_operation(repo);

	if (!operation || !strcmp(operation, "bisect")) {
		if (gitstate_private(state, "CHERRY_PICK_HEAD"))
			operation = "cherry-pick";
		else if (gitstate_private(state, "REVERT_HEAD"))
			operation = "revert";
	}
	state->operation = operation ? xstrdup(operation) : NULL;
}

struct wanted {
	struct gitstate *state;
	char *prefix; /* "branch.<name>." */
};

static int take_config(const char *key, const char *value, void *payload)
{
	const struct wanted *wanted = payload;

	/* A branch may be called as this one with a dot and more after it. */
	if (!strncmp(key, wanted->prefix, strlen(wanted->prefix)) &&
	    !strchr(key + strlen(wanted->prefix), '.'))
		strlist_addf(&wanted->state->branch_config, "%s=%s", key, value ? value : "true");
	return 0;
}

/* The branch that is being rebased, or the one of HEAD. */
static char *branch_of(const struct gitstate *state)
{
	const char *ref = state->ref;

	if (!ref)
		ref = gitstate_text(state, "rebase-merge/head-name");
	if (!ref)
		ref = gitstate_text(state, "rebase-apply/head-name");
	if (!ref || strncmp(ref, "refs/heads/", 11))
		return NULL;
	return xmemdupz(ref + 11, strcspn(ref + 11, "\r\n"));
}

static int read_branch_config(struct gitstate *state, const struct repo *repo)
{
	char *branch = branch_of(state),
	     *text = branch ? gitfile_read_long(repo->commondir, "config") : NULL;
	struct wanted wanted = { state, NULL };
	int err = 0;

	if (text) {
		wanted.prefix = xstrfmt("branch.%s.", branch);
		err = configtext_parse(text, strlen(text), take_config, &wanted);
		free(wanted.prefix);
	}
	free(text);
	free(branch);
	return err;
}

int gitstate_read_operation(struct gitstate *state, const struct repo *repo)
{
	int err = take_files(state, repo);

	if (err)
		return err;
	find_operation(state, repo);
	find_steps(state);
	find_autostash(state);
	return read_branch_config(state, repo);
}
