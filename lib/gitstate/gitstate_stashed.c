/* SPDX-License-Identifier: MIT */
/*
 * `git rebase --autostash` has put the changes aside when it calls a hook: the
 * index is that of HEAD, and what was staged is the tree of the second parent of
 * the stash. (What is only to be added later cannot be stashed.)
 */
#include "gitstate/gitstate_internal.h"

static bool in_dir_of_operation(const char *path)
{
	for (size_t i = 0; gitstate_op_dirs[i]; i++) {
		size_t len = strlen(gitstate_op_dirs[i]);

		if (!strncmp(path, gitstate_op_dirs[i], len) && path[len] == '/')
			return true;
	}
	return false;
}

/* The directory of the rebase exists only for the sake of the stash. */
static void drop_operation(struct gitstate *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->files_nr; i++) {
		struct gitstate_file *file = &state->files[i];

		if (!in_dir_of_operation(file->path)) {
			state->files[kept++] = *file;
			continue;
		}
		free(file->path);
		free(file->data);
	}
	state->files_nr = kept;
	free(state->operation);
	free(state->autostash);
	state->operation = state->autostash = NULL;
	state->step = state->total = 0;
}

/* ":<mode> <mode> <id> <id> <letter>", that of HEAD first. */
static bool take_change(struct gitstate *state, const char *change, const char *path)
{
	size_t hex = strlen(state->head_tree);
	char oid[GITSTATE_OID], head_oid[GITSTATE_OID];
	unsigned head_mode, mode;
	struct gitstate_entry *entry;

	if (strlen(change) < 15 + 2 * hex + 1 || *change != ':')
		return false;
	head_mode = (unsigned)strtoul(change + 1, NULL, 8);
	mode = (unsigned)strtoul(change + 8, NULL, 8);
	memcpy(head_oid, change + 15, hex);
	memcpy(oid, change + 16 + hex, hex);
	head_oid[hex] = oid[hex] = '\0';
	entry = gitstate_add_entry(state, path, mode, mode ? oid : "", 0, 0);
	entry->head_mode = head_mode;
	memcpy(entry->head_oid, head_mode ? head_oid : "", head_mode ? hex + 1 : 1);
	return true;
}

static int compare_entries(const void *a_, const void *b_)
{
	const struct gitstate_entry *a = a_, *b = b_;
	int order = strcmp(a->path, b->path);

	return order ? order : (int)(a->flags != 0) - (int)(b->flags != 0);
}

/* A path that was staged and has flags now: both. */
static void merge_flags(struct gitstate *state)
{
	size_t kept = 0;

	if (state->entries_nr)
		qsort(state->entries, state->entries_nr, sizeof(*state->entries), compare_entries);
	for (size_t i = 0; i < state->entries_nr; i++) {
		struct gitstate_entry *entry = &state->entries[i];

		if (kept && !strcmp(state->entries[kept - 1].path, entry->path)) {
			if (state->entries[kept - 1].mode)
				state->entries[kept - 1].flags =
					entry->flags & ~(unsigned)GITSTATE_AS_HEAD;
			free(entry->path);
		} else {
			state->entries[kept++] = *entry;
		}
	}
	state->entries_nr = kept;
}

int gitstate_undo_autostash(struct gitstate *state, const struct repo *repo)
{
	char *staged = xstrfmt("%s^2", state->autostash ? state->autostash : "");
	const char *const args[] = { "diff-tree",      "-r",	       "-z",
				     "--raw",	       "--no-renames", "--no-abbrev",
				     state->head_tree, staged,	       NULL };
	struct strbuf out = STRBUF_INIT;
	int err = 0;

	if (!state->autostash || !state->head_tree)
		err = ckpt_error_set(CKPT_ENOTFOUND, "no changes were put aside");
	if (!err)
		err = gitstate_ask(&out, repo, args);
	for (size_t i = 0; !err && i < out.len;) {
		const char *change = out.buf + i, *path = change + strlen(change) + 1;

		if (path >= out.buf + out.len || !take_change(state, change, path))
			err = ckpt_error_set(CKPT_ERROR, "'git diff-tree' said '%s'", change);
		else
			i = (size_t)(path + strlen(path) + 1 - out.buf);
	}
	if (!err) {
		merge_flags(state);
		drop_operation(state);
		err = gitstate_check(state);
	}
	strbuf_release(&out);
	free(staged);
	return err;
}
