/* SPDX-License-Identifier: MIT */
#include "ops/save.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "ops/cadence.h"
#include "ops/compare.h"
#include "ops/newid.h"
#include "ops/session.h"
#include "ops/stage.h"
#include "ops/warnings.h"
#include "record/audit.h"
#include "record/journal.h"
#include "record/lookup.h"
#include "record/manifest.h"
#include "record/snapshot.h"
#include "store/pack.h"
#include "store/store.h"
#include "worktree/repo.h"

#include <stdlib.h>
#include <string.h>

void save_result_release(struct save_result *result)
{
	ckpt_record_release(&result->record);
	skip_list_release(&result->skips);
	memset(result, 0, sizeof(*result));
}

/* Places that nobody means to save as a whole. */
static int check_place(const struct session *session)
{
	const char *home = getenv("HOME");
	char *real = home ? path_real(home) : NULL;
	bool is_home = real && !strcmp(real, session->worktree);

	free(real);
	if (strcmp(session->worktree, "/") && !is_home)
		return 0;
	return ckpt_error_set(CKPT_EREFUSED, "'%s' is %s; use --force to save it anyway",
			      session->worktree, is_home ? "your home directory" : "the whole system");
}

static int load_newest(struct save_job *save)
{
	int err = ckpt_lookup_newest(&save->newest, save->store, &save->refs, save->opts->scope);

	if (err == CKPT_ENOTFOUND)
		return 0;
	if (err)
		return err;
	/* One whose metadata is damaged is no base for anything, but no obstacle either. */
	if (ckpt_meta_read(&save->newest_meta, save->store, &save->newest, false)) {
		ckpt_record_release(&save->newest);
		return 0;
	}
	save->have_newest = true;
	return 0;
}

/* --- has anything changed? --- */

static bool has_state(const struct ckpt_meta *meta, const struct ckpt_state *state)
{
	for (size_t i = 0; i < meta->states_nr; i++)
		if (!strcmp(meta->states[i].key, state->key))
			return meta->states[i].len == state->len &&
			       !memcmp(meta->states[i].value, state->value, state->len);
	return false;
}

/* What the command line says, apart from the files. */
static bool request_is_new(const struct save_job *save)
{
	const struct save_opts *opts = save->opts;

	if (!save->have_newest || opts->allow_empty)
		return true;
	if (opts->step >= 0 && opts->step != save->newest.step)
		return true;
	if (opts->pin && !save->newest.pinned)
		return true;
	for (size_t i = 0; i < opts->states_nr; i++)
		if (!has_state(&save->newest_meta, &opts->states[i]))
			return true;
	return false;
}

/* The same paths could not be captured, for the same reasons. */
static bool same_missing(const struct skip_list *a, const struct skip_list *b)
{
	size_t i = 0, j = 0;

	for (;;) {
		while (i < a->nr && !skip_why_incomplete(a->items[i].why))
			i++;
		while (j < b->nr && !skip_why_incomplete(b->items[j].why))
			j++;
		if (i == a->nr || j == b->nr)
			return i == a->nr && j == b->nr;
		if (a->items[i].why != b->items[j].why || strcmp(a->items[i].path, b->items[j].path))
			return false;
		i++;
		j++;
	}
}

/* Known from the scan alone, without having read anything. */
static bool untouched(const struct save_job *save)
{
	const struct oid *cached = capture_cached_commit(&save->capture);

	return save->capture.untouched && !request_is_new(save) &&
	       oid_equal(cached, &save->newest.commit) &&
	       same_missing(&save->capture.scan->skips, &save->newest_meta.skips);
}

static bool same_state(const struct save_job *save)
{
	return !request_is_new(save) &&
	       oid_equal(&save->capture.scan->root->tree, &save->newest.tree) &&
	       save->meta.modes.len == save->newest_meta.modes.len &&
	       !memcmp(save->meta.modes.buf, save->newest_meta.modes.buf, save->meta.modes.len) &&
	       same_missing(&save->capture.scan->skips, &save->newest_meta.skips);
}

/* --- the new checkpoint --- */

static uint64_t all_files(const struct save_job *save)
{
	struct wt_counts counts;

	wt_count(&counts, save->capture.scan->root);
	return counts.files;
}

static int count_changes(uint64_t *out, struct save_job *save)
{
	struct compare_side before = { 0 }, after = { .root = save->capture.scan->root };
	struct snapshot *snapshot = NULL;
	struct change_list changes = { 0 };
	struct modes modes;
	int err;

	if (!save->have_newest) {
		*out = all_files(save);
		return 0;
	}
	err = modes_parse(&modes, save->meta.modes.buf, save->meta.modes.len);
	if (err)
		return err;
	after.modes = &modes;
	err = snapshot_open(&snapshot, save->store, &save->newest);
	if (!err) {
		before.root = snapshot->root;
		before.snapshot = snapshot;
		before.modes = &snapshot->modes;
		err = compare_run(&changes, &before, &after, NULL);
	}
	if (!err) {
		*out = changes.nr;
		change_list_release(&changes);
	} else if (err != CKPT_ECANCELLED) {
		/* A damaged one must not keep anybody from saving: all counts as changed. */
		*out = all_files(save);
		err = 0;
	}
	snapshot_free(snapshot);
	modes_release(&modes);
	return err;
}

static void set_project(struct ckpt_record *record, const struct repo *repo)
{
	struct repo_state state = { 0 };

	record->type = xstrdup(repo ? "git_stash" : "file_backup");
	if (!repo || repo_read_state(&state, repo))
		return;
	/* Takes over the strings. */
	record->head = state.head;
	record->branch = state.branch;
	record->operation = state.operation;
}

static int fill_record(struct ckpt_record *record, struct save_job *save)
{
	const struct save_opts *opts = save->opts;
	struct scan *scan = save->capture.scan;
	struct wt_counts counts;
	int err;

	*record = (struct ckpt_record)CKPT_RECORD_INIT;
	record->created_at = clock_now();
	err = ckpt_new_id(record->id, &save->refs, record->created_at);
	if (!err)
		err = count_changes(&record->changed, save);
	if (err)
		return err;
	record->tree = scan->root->tree;
	record->reason = xstrdup(opts->reason);
	record->source = xstrdup(opts->source);
	record->step = opts->step;
	record->expiry = opts->expiry;
	record->pinned = opts->pin;
	record->include_ignored = opts->include_ignored;
	record->include_sensitive = opts->include_sensitive;
	strlist_extend(&record->scope, opts->scope);
	for (size_t i = 0; i < opts->states_nr; i++)
		strlist_add(&record->state_keys, opts->states[i].key);
	strlist_sort_unique(&record->state_keys);
	statehash(record->state_hash, scan->root);
	wt_count(&counts, scan->root);
	record->files = counts.files;
	record->bytes = counts.bytes;
	record->missing = skip_list_incomplete(&scan->skips);
	if (save->have_newest)
		record->base = xstrdup(save->newest.id);
	set_project(record, save->session->repo);
	save_warnings(&record->warnings, scan, rules_warnings(save->capture.rules));
	return 0;
}

/* Step 3: what can be made again. A failure here must not make a taken checkpoint look failed. */
static void write_derived(struct save_job *save, const struct ckpt_record *record)
{
	refs_set_latest(save->store, &record->commit);
	if (!ckpt_manifest_agrees(save->store, &save->refs) ||
	    ckpt_manifest_append(save->store, record))
		(void)ckpt_manifest_rebuild(save->store);
	(void)ckpt_audit_add(save->store, "save", record->id, &record->commit, record->reason,
			     record->state_hash);
}

static int create(struct save_result *out, struct save_job *save)
{
	int err = fill_record(&out->record, save);

	if (!err)
		err = ckpt_record_write(&out->record, &save->meta, save->pack);
	if (!err)
		err = pack_commit(save->pack, &out->new_bytes);
	if (!err)
		err = refs_create(save->store, out->record.id, &out->record.commit);
	if (err) {
		ckpt_record_release(&out->record);
		return err;
	}
	write_derived(save, &out->record);
	capture_write_cache(&save->capture, &out->record.commit);
	out->outcome = SAVE_CREATED;
	out->have_record = true;
	out->skips = save->meta.skips;
	memset(&save->meta.skips, 0, sizeof(save->meta.skips));
	return 0;
}

/* Answer with the newest checkpoint instead of a new one. */
static int answer_newest(struct save_result *out, struct save_job *save, enum save_outcome outcome)
{
	out->outcome = outcome;
	if (!save->have_newest)
		return 0;
	out->have_record = true;
	out->record = save->newest;
	out->skips = save->newest_meta.skips;
	save->newest = (struct ckpt_record)CKPT_RECORD_INIT;
	memset(&save->newest_meta.skips, 0, sizeof(save->newest_meta.skips));
	return 0;
}

int save_job_begin(struct save_job *job, struct session *session, const struct save_opts *opts)
{
	int err = 0;

	memset(job, 0, sizeof(*job));
	job->session = session;
	job->opts = opts;
	job->newest = (struct ckpt_record)CKPT_RECORD_INIT;
	ckpt_meta_init(&job->meta);
	ckpt_meta_init(&job->newest_meta);
	/* Not before: a refused place must not get a store, it would be the worktree of all below. */
	if (!session->store)
		err = store_open_or_create(&session->store, session->worktree);
	job->store = session->store;
	if (!err)
		err = store_lock(session->store, session->settings.lock_timeout);
	if (!err && !journal_exists(session->store))
		stage_sweep(session->worktree);
	/* Packs may have come and gone while we waited for the lock. */
	if (!err)
		err = objects_reopen(job->store);
	if (!err)
		err = refs_list(&job->refs, job->store);
	return err ? err : load_newest(job);
}

int save_job_scan(struct save_job *job, const struct capture_opts *capture)
{
	capture_release(&job->capture);
	return capture_scan(&job->capture, job->session, &job->refs, capture);
}

int save_job_read(struct save_job *job)
{
	int err;

	if (!job->pack)
		job->pack = pack_new(job->store, job->session->threads,
				     (unsigned)job->session->settings.compression);
	err = capture_read(&job->capture, job->pack);
	if (err)
		return err;
	strbuf_reset(&job->meta.modes);
	modes_encode(&job->meta.modes, job->capture.scan->root);
	return 0;
}

int save_job_commit(struct save_result *out, struct save_job *job)
{
	const struct save_opts *opts = job->opts;
	const struct skip_list *skips = &job->capture.scan->skips;

	memset(out, 0, sizeof(*out));
	if (same_state(job)) {
		/* What had to be stored again was lost; it mends the newest checkpoint. */
		int err = pack_commit(job->pack, &out->new_bytes);

		if (err)
			return err;
		/* Read again, or distrusted: not next time. */
		capture_write_cache(&job->capture, &job->newest.commit);
		return answer_newest(out, job, SAVE_UNCHANGED);
	}
	for (size_t i = 0; i < skips->nr; i++)
		skip_list_add(&job->meta.skips, skips->items[i].path, skips->items[i].why);
	for (size_t i = 0; i < opts->states_nr; i++)
		ckpt_meta_add_state(&job->meta, opts->states[i].key, opts->states[i].value,
				    opts->states[i].len);
	return create(out, job);
}

void save_job_end(struct save_job *job)
{
	pack_free(job->pack);
	capture_release(&job->capture);
	ckpt_meta_release(&job->meta);
	ckpt_meta_release(&job->newest_meta);
	ckpt_record_release(&job->newest);
	ref_list_release(&job->refs);
}

static int take(struct save_result *out, struct save_job *job)
{
	const struct save_opts *opts = job->opts;
	struct capture_opts capture = {
		.scope = opts->scope,
		.include_ignored = opts->include_ignored,
		.include_sensitive = opts->include_sensitive,
		.no_limit = opts->force,
		.progress = opts->progress,
	};
	int err = save_job_scan(job, &capture);

	if (err)
		return err;
	if (untouched(job))
		return answer_newest(out, job, SAVE_UNCHANGED);
	err = save_job_read(job);
	/* Something was moved under our eyes: where it is now was perhaps listed before. */
	if (!err && job->capture.scan->moved) {
		err = save_job_scan(job, &capture);
		if (!err)
			err = save_job_read(job);
	}
	return err ? err : save_job_commit(out, job);
}

int ckpt_save(struct save_result *out, struct session *session, const struct save_opts *opts)
{
	double start = clock_monotonic();
	struct save_job job = { 0 };
	bool due = true;
	int err = opts->force ? 0 : check_place(session);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	err = save_job_begin(&job, session, opts);
	if (!err)
		err = cadence_due(&due, job.store, opts, job.have_newest ? &job.newest : NULL);
	if (!err && !due)
		err = cadence_note(job.store, opts);
	if (!err)
		err = due ? take(out, &job) : answer_newest(out, &job, SAVE_NOT_YET);
	/* Not noted: one too many next time, never one too few. */
	if (!err && due)
		(void)cadence_note(job.store, opts);
	save_job_end(&job);
	if (session->store)
		store_unlock(session->store);
	out->seconds = clock_monotonic() - start;
	return err;
}
