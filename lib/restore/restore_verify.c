/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "session/session.h"
#include "tree/tree.h"

struct restore_hash restore_hash_init(const struct restore *r)
{
	return (struct restore_hash){
		.target = r->target.tree,
		.record = r->opts->target,
		.paths = &r->scope,
		.plan = &r->plan,
		.no_delete = r->opts->no_delete,
		.threads = r->session->threads,
	};
}

int restore_find_left_out(struct strlist *out, struct snapshot *snapshot,
			  const struct strlist *paths, const struct scan *scan)
{
	struct compare_side held = { .root = snapshot->root,
				     .snapshot = snapshot,
				     .modes = &snapshot->modes };
	/* Modes do not matter here; treated as equal, whole subtrees are skipped. */
	struct compare_side current = { .root = scan->root, .modes = &snapshot->modes };
	struct compare_list changes;
	int err = compare_run(&changes, &held, &current, paths);

	if (err)
		return err;
	for (size_t i = 0; i < changes.nr; i++) {
		const struct change *change = &changes.items[i];
		const char *name;
		struct stat st;
		int fd;

		if (change->kind != CHANGE_DELETED)
			continue;
		fd = beneath_open_parent(scan->rootfd, change->path, &name);
		if (fd >= 0 && !fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISDIR(st.st_mode) == change->is_dir)
			strlist_add(out, change->path);
		fs_close(fd);
	}
	compare_list_release(&changes);
	strlist_sort_unique(out);
	return 0;
}

static int scan_once(struct worktree_state *out, struct restore *r, bool *enough)
{
	struct worktree_state_opts opts = restore_scan_opts(r);
	struct worktree_state *before = &r->job.current;
	struct restore_touched touched;
	int err = restore_find_touched(&touched, enough, r);

	if (!err && *enough) {
		worktree_state_update_cache(before, &r->opts->target->commit);
		opts.base = before->cache;
		opts.hints = &touched.hints;
	}
	if (!err)
		err = worktree_state_scan(out, r->session, &r->job.refs, &opts);
	restore_touched_release(&touched);
	return err;
}

/*
 * From what is on disk now; only what was not rewritten may come from the
 * cache. The restored rules may leave out part of it.
 */
static int scan_result(struct worktree_state *out, struct restore *r)
{
	size_t before = r->also.nr;
	bool enough;
	int err = scan_once(out, r, &enough);

	if (!err) {
		err = restore_find_left_out(&r->also, r->target.tree, &r->scope, out->scan);
		if (err || r->also.nr != before)
			worktree_state_release(out);
	}
	/* With them among the paths, everything is looked at. */
	if (!err && r->also.nr != before)
		err = scan_once(out, r, &enough);
	if (err)
		return err;
	err = worktree_state_read(out, NULL);
	if (err)
		worktree_state_release(out);
	return err;
}

static bool counts(const struct restore *r, const struct change *change, const struct strlist *left)
{
	if (change->kind == CHANGE_ADDED && r->opts->no_delete)
		return false;
	for (size_t i = 0; i < r->plan.kept_nr; i++)
		if (path_below(change->path, r->plan.kept[i].path))
			return false;
	for (size_t i = 0; i < left->nr; i++)
		if (path_below(change->path, left->items[i]))
			return false;
	return true;
}

/* It does not match: tell where. What was `left` alone does not count. */
static int name_differing(struct strlist *out, struct restore *r, const struct wt_dir *root,
			  const struct strlist *left)
{
	struct compare_side target = { .root = r->target.tree->root,
				       .snapshot = r->target.tree,
				       .modes = &r->target.tree->modes };
	struct modes modes = { 0 };
	struct compare_side current = { .root = (struct wt_dir *)root, .modes = &modes };
	struct compare_list changes;
	int err = modes_of_tree(&modes, root);

	if (!err)
		err = compare_run(&changes, &target, &current, &r->scope);
	if (!err) {
		for (size_t i = 0; i < changes.nr; i++)
			if (counts(r, &changes.items[i], left))
				strlist_add(out, changes.items[i].path);
		compare_list_release(&changes);
	}
	modes_release(&modes);
	return err;
}

/*
 * It does not match; but perhaps only because files that were ignored before no
 * longer are. The safety checkpoint has the rules that left them out.
 */
static int look_again(struct restore_result *out, struct restore *r, struct restore_hash *check,
		      struct wt_dir *root)
{
	struct ckpt_record safety = CKPT_RECORD_INIT;
	struct restore_point point = { 0 };
	struct strlist left = STRLIST_INIT;
	struct strbuf quoted = STRBUF_INIT;
	bool whole;
	int err = lookup_name(&safety, r->session->store, out->safety);

	check->before = protect_new(r->session);
	check->left = &left;
	if (!err)
		err = restore_point_open(&point, r->session->store, &safety);
	if (!err)
		err = protect_add(check->before, &safety, &point.meta, point.tree);
	if (err)
		goto out;
	restore_hash_worktree(out->post_hash, &whole, check, root);
	for (size_t i = 0; i < left.nr; i++) {
		strbuf_reset(&quoted);
		quote_path(&quoted, left.items[i]);
		strlist_addf(&out->warnings, "Kept: %s (ignored before)", quoted.buf);
	}
	if (strcmp(out->post_hash, out->target_hash))
		err = name_differing(&out->differing, r, root, &left);
out:
	protect_free(check->before);
	check->before = NULL;
	check->left = NULL;
	restore_point_close(&point);
	record_release(&safety);
	strlist_release(&left);
	strbuf_release(&quoted);
	return err;
}

/* The tree alone does not tell the modes of directories, and of a file only whether it is a program. */
static bool is_target(const struct restore *r, const struct wt_dir *root)
{
	const struct strbuf *held = &r->target.meta.modes;
	struct strbuf modes = STRBUF_INIT;
	bool same;

	modes_encode(&modes, root);
	same = oid_equal(&root->tree, &r->opts->target->tree) && modes.len == held->len &&
	       !memcmp(modes.buf, held->buf, held->len);
	strbuf_release(&modes);
	return same;
}

/* Exactly the checkpoint: the next save need not read it again. */
static void keep_cache(const struct restore *r, struct worktree_state *state)
{
	const struct ckpt_record *target = r->opts->target;

	if (!*target->composed_for && is_target(r, state->scan->root))
		worktree_state_write_cache(state, &target->commit);
}

int restore_verify(struct restore_result *out, struct restore *r)
{
	struct restore_hash check = restore_hash_init(r);
	struct worktree_state state;
	bool whole;
	int err;

	if (restore_is_state_only(r)) {
		memcpy(out->post_hash, out->target_hash, sizeof(out->post_hash));
		out->verified = out->match = true;
		return 0;
	}
	err = scan_result(&state, r);
	if (!err) {
		restore_hash_worktree(out->post_hash, &whole, &check, state.scan->root);
		keep_cache(r, &state);
		if (strcmp(out->post_hash, out->target_hash))
			err = look_again(out, r, &check, state.scan->root);
		worktree_state_release(&state);
	}
	out->verified = !err;
	out->match = !err && !strcmp(out->post_hash, out->target_hash);
	return err;
}

void restore_own_check(struct restore_result *result, const struct session *session,
		       const char *command)
{
	if (!command)
		command = session->settings.verify_command;
	if (!command || !result->done)
		return;
	result->own_check = command;
	result->own_check_status = spawn_shell(command, session->worktree);
}
