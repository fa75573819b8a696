/* SPDX-License-Identifier: MIT */
#include "save/save_internal.h"

#include "save/save_lines_internal.h"
#include "session/session.h"
#include "turns/turns.h"

static uint64_t all_files(const struct save_job *save)
{
	struct wt_counts counts;

	wt_count(&counts, save_job_root(save));
	return counts.files;
}

static int count_changes(struct ckpt_record *record, struct save_job *save)
{
	struct compare_side before = { 0 }, after = { 0 };
	struct snapshot *snapshot = NULL;
	struct compare_list changes = { 0 };
	struct modes modes;
	int err;

	if (!save->have_newest || save->opts->extras.alone) {
		record->changed = all_files(save);
		return 0;
	}
	after.root = save->current.scan->root;
	err = modes_parse(&modes, save->meta.modes.buf, save->meta.modes.len);
	if (err)
		return err;
	after.modes = &modes;
	err = snapshot_open_meta(&snapshot, save->store, &save->newest, &save->newest_meta);
	if (!err) {
		before.root = snapshot->root;
		before.snapshot = snapshot;
		before.modes = &snapshot->modes;
		err = compare_run(&changes, &before, &after, NULL);
	}
	if (!err) {
		record->changed = changes.nr;
		save_count_lines(record, save, &changes);
		compare_list_release(&changes);
	} else if (err != CKPT_ECANCELLED) {
		/* A damaged one must not prevent a save: everything counts as changed. */
		record->changed = all_files(save);
		err = 0;
	}
	snapshot_free(snapshot);
	modes_release(&modes);
	return err;
}

/* What is more special than files. */
static void set_type(struct ckpt_record *record, const struct save_job *save)
{
	const char *type = save->opts->extras.alone ? "state_snapshot" : NULL;

	for (size_t i = 0; i < record->captures.nr; i++)
		if (!strcmp(record->captures.items[i].type, CAPTURE_DATABASE))
			type = CAPTURE_DATABASE;
	if (!type)
		return;
	free(record->type);
	record->type = xstrdup(type);
}

static void set_extras(struct ckpt_record *record, const struct save_job *save)
{
	const struct ckpt_meta *meta = &save->meta;

	for (size_t i = 0; i < meta->states_nr; i++)
		strlist_add(&record->state_keys, meta->states[i].key);
	strlist_sort_unique(&record->state_keys);
	for (size_t i = 0; i < meta->captures.nr; i++)
		record_captures_add(&record->captures, meta->captures.items[i].name,
				    meta->captures.items[i].type, meta->captures.items[i].size,
				    &meta->captures.items[i].oid);
	record->state_only = save->opts->extras.alone;
}

/* Imported ones have the times of another clock: what was taken here is not dated by them. */
static int set_id(struct ckpt_record *record, const struct save_job *save)
{
	const struct ref_list *refs = &save->refs;
	const struct keepers *keepers;
	const char *last = "";
	int err = keepers_read(&keepers, save->store);

	for (size_t i = refs->nr; i-- && !err && !*last;)
		if (!keepers_has(keepers, KEEPER_IMPORT, refs->items[i].id))
			last = refs->items[i].id;
	if (!err)
		do {
			err = record_next_id(record->id, last, record->created_at);
		} while (!err && refs_has(refs, record->id));
	return err;
}

static int fill_record(struct ckpt_record *record, struct save_job *save)
{
	const struct save_opts *opts = save->opts;
	const struct scan *scan = save->current.scan;
	struct wt_dir *root = save_job_root(save);
	struct wt_counts counts;
	int err;

	*record = (struct ckpt_record)CKPT_RECORD_INIT;
	record->created_at = clock_now();
	err = set_id(record, save);
	if (!err)
		err = count_changes(record, save);
	if (err)
		return err;
	record->tree = root->tree;
	record->reason = xstrdup(opts->reason);
	record->source = xstrdup(opts->source);
	record->before = opts->before ? xstrdup(opts->before) : NULL;
	record->done = opts->done ? xstrdup(opts->done) : NULL;
	if (opts->agent)
		record_agent_copy(&record->agent, opts->agent);
	record->step = opts->step;
	record->expiry = opts->kept.expiry;
	record->automatic = opts->automatic || opts->safety.target;
	record->safety = opts->safety.target != NULL;
	if (opts->safety.target)
		snprintf(record->safety_for, sizeof(record->safety_for), "%s", opts->safety.target);
	record->include_ignored = opts->scan.include_ignored;
	record->include_sensitive = opts->scan.include_sensitive;
	strlist_extend(&record->scope, opts->scan.scope);
	set_extras(record, save);
	if (*save->state_hash)
		memcpy(record->state_hash, save->state_hash, sizeof(save->state_hash));
	else
		statehash(record->state_hash, root);
	wt_count(&counts, root);
	record->files = counts.files;
	record->bytes = counts.bytes;
	record->missing = scan ? skip_list_incomplete(&scan->skips) : 0;
	if (save->have_newest)
		record->base = xstrdup(save->newest.id);
	record->type = xstrdup(save->session->repo ? "git_stash" : "file_backup");
	gitsave_describe(record, &save->git);
	set_type(record, save);
	if (scan)
		worktree_state_warn(&record->warnings, &save->current);
	strlist_extend(&record->warnings, &save->notes);
	if (opts->notes)
		strlist_extend(&record->warnings, opts->notes);
	return 0;
}

/* Only an imported one can be later. */
static bool is_last(const struct save_job *save, const struct ckpt_record *record)
{
	size_t nr = save->refs.nr;

	return !nr || strcmp(save->refs.items[nr - 1].id, record->id) < 0;
}

/* --- making it exist --- */

/* Step 3: what can be rebuilt. A failure here must not make a taken checkpoint look failed. */
static void write_derived(struct save_job *save, const struct ckpt_record *record)
{
	refs_set_latest(save->store, &record->commit);
	/* Whoever made room rewrote it. */
	if (save->room.evicted)
		save->listed = manifest_agrees(save->store, &save->refs);
	if (!save->listed || !is_last(save, record) || manifest_append(save->store, record))
		(void)manifest_rebuild(save->store);
	(void)audit_add_save(save->store, record);
}

/* Too large, which only writing could tell: as if it had never been written. */
static int check_fits(struct save_job *save, const struct ckpt_record *record)
{
	struct reclaim_result reclaimed;
	char *kept;
	int err;

	if (!save->session->settings.max_size)
		return 0;
	err = retain_check_fits(save->session, save->opts->keep, record,
				save_room_beside(save));
	if (!err)
		return 0;
	kept = ckpt_error_keep();
	save->no_room = true;
	(void)reclaim_run(&reclaimed, save->session, RECLAIM_FREE);
	return ckpt_error_put_back(err, kept);
}

/* Without what was asked for, it must not look like a checkpoint that was saved. */
static int take_back_refs(struct save_job *save, const struct ckpt_record *record, int err)
{
	struct ref_item ref = { .commit = record->commit };
	char *kept = ckpt_error_keep();

	memcpy(ref.id, record->id, sizeof(ref.id));
	(void)refs_delete(save->store, record->id);
	(void)keepers_forget(save->store, &ref);
	return ckpt_error_put_back(err, kept);
}

/* A pin alone means nothing; a name that another one has leaves that only when this one exists. */
static int make_refs(struct save_job *save, struct ckpt_record *record)
{
	const struct save_opts *opts = save->opts;
	int err = opts->kept.pin ? keepers_add(save->store, KEEPER_PIN, record->id, &record->commit) : 0;

	if (!err)
		err = refs_create(save->store, record->id, &record->commit);
	if (!err && opts->kept.name)
		err = keepers_add(save->store, KEEPER_NAME, opts->kept.name, &record->commit);
	if (err)
		return take_back_refs(save, record, err);
	if (opts->kept.name)
		strlist_add(&record->names, opts->kept.name);
	record->pinned = opts->kept.pin || opts->kept.name;
	return 0;
}

int save_create(struct save_result *out, struct save_job *save)
{
	int err = save->opts->kept.name && !save->opts->kept.move_name
			  ? lookup_name_free(save->store, &save->refs, save->opts->kept.name, NULL)
			  : 0;

	/* First: what it cannot copy is among the record's warnings. */
	if (!err)
		err = gitsave_write(&save->meta.git, &save->git,
				    save->have_newest ? &save->newest : NULL, save->pack);
	if (!err)
		err = fill_record(&out->record, save);
	if (!err && save->opts->extras.alone)
		err = pack_add_new(save->pack, &out->record.tree, OBJECT_TREE, "", 0);
	if (!err)
		err = record_write(&out->record, &save->meta, save->pack);
	/*
	 * What could not be read for lack of descriptors is missing from the record, not from the
	 * project.
	 */
	if (!err)
		err = ckpt_error_lack();
	if (!err && !save->opts->extras.alone)
		err = worktree_state_check(&save->current);
	if (!err)
		err = pack_commit(save->pack, &out->new_bytes);
	if (!err)
		err = check_fits(save, &out->record);
	if (!err)
		err = make_refs(save, &out->record);
	if (err) {
		record_release(&out->record);
		return err;
	}
	write_derived(save, &out->record);
	/* The pack has them now. */
	extras_release(&save->extras);
	save_job_write_cache(save, &out->record.commit);
	gitsave_remember(&save->git, out->record.id, &save->meta.git);
	if (save->opts->turn)
		turns_note(save->opts->turn, save->store, out->record.id, true);
	if (save->opts->taken)
		save->opts->taken(&out->record, save->opts->taken_payload);
	retain_after_save(&out->evicted, save->session, &save->refs, save->opts->keep);
	/* What went before, to make room, went first. */
	if (save->room.first) {
		free(out->evicted);
		out->evicted = save->room.first;
		save->room.first = NULL;
	}
	out->outcome = SAVE_CREATED;
	out->have_record = true;
	out->skips = save->meta.skips;
	memset(&save->meta.skips, 0, sizeof(save->meta.skips));
	return 0;
}
