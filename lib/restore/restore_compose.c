/* SPDX-License-Identifier: MIT */
/*
 * A composed target on its way into the store. What it refers to is partly in the pack of
 * the safety checkpoint, so it goes into the same pack; its ref is made when that is complete, and
 * before retention looks for what nobody needs. Without the ref it never existed; with the ref
 * and without a journal it is swept.
 */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"
#include "tree/tree.h"

void restore_compose_init(struct restore *r)
{
	struct ckpt_record *record = &r->composed;

	*record = (struct ckpt_record)CKPT_RECORD_INIT;
	r->leads_to = r->opts->target;
	if (!r->opts->composed.make)
		return;
	r->own = *r->opts;
	r->own.target = record;
	r->opts = &r->own;
	/* What is reported about it is that of the checkpoint. */
	snprintf(record->composed_for, sizeof(record->composed_for), "%s", r->leads_to->id);
	record->type = xstrdup(r->leads_to->type);
	record->created_at = r->leads_to->created_at;
	record->reason = xstrdup(r->opts->reason ? r->opts->reason : r->leads_to->reason);
	record->source = xstrdup("checkpoint");
	record->automatic = true;
	record->include_ignored = r->leads_to->include_ignored;
	record->include_sensitive = r->leads_to->include_sensitive;
	strlist_extend(&record->scope, &r->leads_to->scope);
}

static void fill_meta(struct ckpt_meta *meta, const struct restore *r)
{
	const struct scan *scan = r->job.current.scan;

	meta_init(meta);
	modes_encode(&meta->modes, r->compose->root);
	for (size_t i = 0; i < scan->skips.nr; i++)
		skip_list_add(&meta->skips, scan->skips.items[i].path, scan->skips.items[i].why);
	meta->have_rules = true;
	rules_texts_copy(&meta->rules, rules_texts(r->job.current.rules));
}

static void fill_record(struct ckpt_record *record, struct wt_dir *root)
{
	struct wt_counts counts;

	wt_count(&counts, root);
	record->tree = root->tree;
	record->files = counts.files;
	record->bytes = counts.bytes;
	statehash(record->state_hash, root);
}

int restore_compose(struct restore *r)
{
	struct store *store = r->session->store;
	int err;

	restore_point_close(&r->target);
	r->target.tree = NULL;
	compose_free(r->compose);
	strlist_release(&r->composed.conflicts);
	r->compose = compose_new(store, &r->job.current, r->session->threads,
				 &r->composed.conflicts);
	err = r->opts->composed.make(r->compose, r->opts->composed.payload);
	if (!err)
		err = compose_build(r->compose);
	if (!err && !*r->composed.id)
		err = target_make_id(r->composed.id, store, clock_now());
	if (err)
		return err;
	strlist_sort_unique(&r->composed.conflicts);
	fill_record(&r->composed, r->compose->root);
	fill_meta(&r->target.meta, r);
	return snapshot_wrap(&r->target.tree, store, r->composed.id, r->compose->root,
			     &r->target.meta.modes);
}

/*
 * Undo shall take back this and nothing else. A directory that goes counts, too: after an
 * interruption it may be all that is left to do.
 */
void restore_compose_touched(struct restore *r)
{
	strlist_release(&r->touched);
	if (!r->opts->composed.make)
		return;
	for (size_t i = 0; i < r->plan.rows_nr; i++)
		strlist_add(&r->touched, r->plan.rows[i].path);
	for (size_t i = 0; i < r->plan.nr; i++)
		if (r->plan.actions[i].kind == PLAN_RMDIR)
			strlist_add(&r->touched, r->plan.actions[i].path);
	strlist_sort_unique(&r->touched);
}

int restore_compose_pack(struct restore *r)
{
	int err = r->compose ? compose_pack(r->compose, r->job.pack) : 0;

	return err || !r->compose ? err
				  : record_write(&r->composed, &r->target.meta, r->job.pack);
}

int restore_compose_store(struct restore *r)
{
	int err;

	if (!r->compose || r->is_stored)
		return 0;
	err = keepers_add(r->session->store, KEEPER_JOURNAL, r->composed.id, &r->composed.commit);
	r->is_stored = !err;
	return err;
}

/* --- what it is made of, and what it lacks --- */

static int patch_one(struct restore *r, const char *path, const struct wt_entry *old,
		     const struct wt_entry *new)
{
	struct restore_patch patch = { path, old, new, STRBUF_INIT, STRBUF_INIT };
	int err = cancel_check();

	if (!err && old && old->kind != WT_DIR && old->st.size <= RESTORE_PATCH_MAX)
		err = compose_read(&patch.old_data, r->compose, path);
	if (!err && new && new->kind != WT_DIR && new->st.size <= RESTORE_PATCH_MAX)
		err = compose_read_new(&patch.new_data, r->compose, path, new);
	if (!err)
		err = r->opts->composed.patch(&patch, r->opts->composed.patch_payload);
	strbuf_release(&patch.old_data);
	strbuf_release(&patch.new_data);
	return err;
}

/* Everything at and below a path of which only one side has something. */
static int patch_all(struct restore *r, const char *path, const struct wt_entry *entry, bool is_new)
{
	int err = 0;

	if (entry->kind != WT_DIR || !entry->dir->nr)
		return patch_one(r, path, is_new ? NULL : entry, is_new ? entry : NULL);
	for (size_t i = 0; i < entry->dir->nr && !err; i++) {
		char *child = xstrfmt("%s/%s", path, wt_entries(entry->dir)[i].name);

		err = patch_all(r, child, &wt_entries(entry->dir)[i], is_new);
		free(child);
	}
	return err;
}

int restore_compose_patches(struct restore *r)
{
	int err = 0;

	for (size_t i = 0; i < r->plan.nr && !err && r->opts->composed.patch && r->compose; i++) {
		const struct plan_action *action = &r->plan.actions[i];

		if (action->kind == PLAN_RMDIR && (!action->current || action->current->dir->nr))
			continue; /* with what was in it */
		if (!action->current || !action->target) {
			err = patch_all(r, action->path,
					action->target ? action->target : action->current,
					action->target != NULL);
		} else if (action->kind == PLAN_REPLACE && (action->current->kind == WT_DIR ||
							    action->target->kind == WT_DIR)) {
			err = patch_all(r, action->path, action->current, false);
			if (!err)
				err = patch_all(r, action->path, action->target, true);
		} else {
			err = patch_one(r, action->path, action->current, action->target);
		}
	}
	return err;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct plan_kept *)a)->path, ((const struct plan_kept *)b)->path);
}

void restore_compose_say(struct restore_result *out, const struct restore *r)
{
	const struct strlist *conflicts = &r->opts->target->conflicts;

	out->composed = *r->opts->target->composed_for;
	if (r->opts->step.abort || !conflicts->nr)
		return;
	out->incomplete = true;
	out->conflicts = xcalloc(conflicts->nr, sizeof(*out->conflicts));
	for (size_t i = 0; i < conflicts->nr; i++) {
		const char *text = conflicts->items[i], *end = strchr(text, '\n');

		if (!end)
			continue; /* not ours */
		out->conflicts[out->conflicts_nr++] =
			(struct plan_kept){ xstrdup(end + 1), xmemdupz(text, (size_t)(end - text)) };
	}
	qsort(out->conflicts, out->conflicts_nr, sizeof(*out->conflicts), by_path);
}

void restore_compose_release(struct restore *r)
{
	restore_point_close(&r->held);
	compose_free(r->compose);
	record_release(&r->composed);
	strlist_release(&r->touched);
}
