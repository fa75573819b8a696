/* SPDX-License-Identifier: MIT */
#include "gitstate/gitstate_internal.h"

/* Relative, each component a plain name, none the .git of a repository: whoever writes there stays below. */
bool gitstate_usable_path(const char *path)
{
	if (!*path)
		return false;
	for (const char *part = path; part;) {
		size_t len = strcspn(part, "/");

		if (!len || (len == 1 && *part == '.') || (len == 2 && !memcmp(part, "..", 2)) ||
		    (len == 4 && !strncasecmp(part, ".git", 4)))
			return false;
		part = part[len] ? part + len + 1 : NULL;
	}
	return true;
}

static bool usable_mode(unsigned mode)
{
	return mode == 0100644 || mode == 0100755 || mode == 0120000 || mode == 0160000;
}

static bool is_id(const char *oid)
{
	return oid && gitfile_is_id(oid) && !oid[strspn(oid, "0123456789abcdef")];
}

static int refuse_odd(const char *what, const char *which)
{
	struct strbuf name = STRBUF_INIT;
	int err;

	quote_c(&name, which, strlen(which));
	err = ckpt_error_set(CKPT_ECORRUPT,
			     "the state of the repository has %s that git does not "
			     "allow: %s",
			     what, name.buf);
	strbuf_release(&name);
	return err;
}

static int check_entries(const struct gitstate *state)
{
	for (size_t i = 0; i < state->entries_nr; i++) {
		const struct gitstate_entry *entry = &state->entries[i], *prev = entry - 1;
		int order = i ? strcmp(prev->path, entry->path) : -1;
		bool ok = gitstate_usable_path(entry->path) && entry->stage <= 3;

		ok = ok && (entry->mode ? usable_mode(entry->mode) && is_id(entry->oid)
					: !*entry->oid && !entry->stage && !entry->flags);
		ok = ok &&
		     (entry->head_mode ? usable_mode(entry->head_mode) && is_id(entry->head_oid)
				       : !*entry->head_oid && entry->mode);
		/* A path has one entry, or stages in their order. */
		if (!ok || order > 0 || (!order && (!prev->stage || prev->stage >= entry->stage)))
			return refuse_odd("an entry of the index", entry->path);
	}
	return 0;
}

static bool has_prefix(const char *name, const char *const prefixes[])
{
	for (size_t i = 0; prefixes[i]; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool in_list(const char *name, const char *const list[])
{
	for (size_t i = 0; list[i]; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

/* What git check-ref-format forbids is far more; git itself says no to the rest. */
static bool usable_ref(const char *name)
{
	return gitstate_usable_path(name) && !strstr(name, "..") && !strpbrk(name, " \t\n\r\\~^:?*[\x7f");
}

bool gitstate_is_operation_ref(const char *name)
{
	static const char *const private[] = { "refs/bisect/", "refs/rewritten/", "refs/worktree/",
					       NULL };

	return in_list(name, gitstate_root_refs) || (has_prefix(name, private) && usable_ref(name));
}

static int check_refs(const struct gitstate *state)
{
	static const char *const branch[] = { "refs/heads/", NULL };

	if ((state->head && !is_id(state->head)) ||
	    (state->head_tree && !is_id(state->head_tree)) ||
	    (state->autostash && !is_id(state->autostash)) || (!state->head && !state->ref) ||
	    !state->head != !state->head_tree)
		return refuse_odd("a HEAD", state->head ? state->head : "");
	if (state->ref && (strncmp(state->ref, "refs/", 5) || !usable_ref(state->ref)))
		return refuse_odd("a HEAD", state->ref);
	for (size_t i = 0; i < state->branches_nr; i++)
		if (!has_prefix(state->branches[i].name, branch) ||
		    !usable_ref(state->branches[i].name) || !is_id(state->branches[i].oid))
			return refuse_odd("a branch", state->branches[i].name);
	for (size_t i = 0; i < state->stashes_nr; i++)
		if (!is_id(state->stashes[i].oid))
			return refuse_odd("a stash", state->stashes[i].oid);
	for (size_t i = 0; i < state->private_refs_nr; i++) {
		const struct gitstate_ref *ref = &state->private_refs[i];

		if (!is_id(ref->oid) || !gitstate_is_operation_ref(ref->name))
			return refuse_odd("a ref", ref->name);
	}
	return 0;
}

/*
 * A checkpoint names them, and it may come from somebody else: nothing that git runs or obeys, such as
 * a hook or the configuration, is among them.
 */
bool gitstate_is_operation_file(const char *path)
{
	if (in_list(path, gitstate_op_files))
		return true;
	for (size_t i = 0; gitstate_op_dirs[i]; i++) {
		size_t len = strlen(gitstate_op_dirs[i]);

		if (!strncmp(path, gitstate_op_dirs[i], len) && path[len] == '/' &&
		    gitstate_usable_path(path))
			return true;
	}
	return false;
}

int gitstate_check(const struct gitstate *state)
{
	int err = check_entries(state);

	if (!err)
		err = check_refs(state);
	if (!err && state->operation &&
	    state->operation[strspn(state->operation, "abcdefghijklmnopqrstuvwxyz-")])
		err = refuse_odd("an operation", state->operation);
	for (size_t i = 0; i < state->files_nr && !err; i++)
		if (!gitstate_is_operation_file(state->files[i].path) ||
		    (i && strcmp(state->files[i - 1].path, state->files[i].path) >= 0))
			err = refuse_odd("a file", state->files[i].path);
	for (size_t i = 0; i < state->branch_config.nr && !err; i++)
		if (strncmp(state->branch_config.items[i], "branch.", 7) ||
		    !strchr(state->branch_config.items[i], '='))
			err = refuse_odd("a setting", state->branch_config.items[i]);
	return err;
}

void gitstate_count(struct gitindex_counts *out, const struct gitstate *state)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < state->entries_nr; i++) {
		const struct gitstate_entry *entry = &state->entries[i];

		if (entry->stage)
			out->unmerged += !i || strcmp(entry[-1].path, entry->path) != 0;
		else if (entry->flags & GITINDEX_INTENT_TO_ADD)
			out->intent_to_add++;
		else if (!(entry->flags & GITSTATE_AS_HEAD))
			out->staged++;
	}
}
