/* SPDX-License-Identifier: MIT */
#include "save/save_internal.h"

#include "session/session.h"
#include "turns/turns.h"

void save_result_release(struct save_result *result)
{
	record_release(&result->record);
	skip_list_release(&result->skips);
	free(result->evicted);
	strlist_release(&result->once);
	memset(result, 0, sizeof(*result));
}

int save_check_place(const struct session *session)
{
	const char *home = getenv("HOME");
	char *real = home ? path_real(home) : NULL;
	bool is_home = real && !strcmp(real, session->worktree);

	free(real);
	if (strcmp(session->worktree, "/") && !is_home)
		return 0;
	return ckpt_error_set(CKPT_EREFUSED, "'%s' is %s; 'git checkpoint save --force' saves it anyway",
			      session->worktree, is_home ? "your home directory" : "the whole system");
}

static int newest_of_scope(struct save_job *save)
{
	const struct save_opts *opts = save->opts;

	if (opts->extras.alone)
		return lookup_newest_state(&save->newest, save->store, &save->refs);
	return opts->safety.target
		       ? lookup_newest(&save->newest, save->store, &save->refs, opts->scan.scope)
		       : lookup_newest_meant(&save->newest, save->store, &save->refs, opts->scan.scope);
}

/* Who asks to save compares with "@"; a restore with whatever has the same files. */
static int find_newest(struct save_job *save)
{
	const struct save_opts *opts = save->opts;
	int err = opts->safety.target ? 0 : lookup_latest(&save->newest, save->store, &save->refs);

	if (err)
		return err;
	save->newest_is_latest = opts->safety.target ||
				 (save->newest.state_only == opts->extras.alone &&
				  strlist_equal(&save->newest.scope, opts->scan.scope));
	if (!opts->safety.target && save->newest_is_latest)
		return 0;
	record_release(&save->newest);
	return newest_of_scope(save);
}

static int load_newest(struct save_job *save)
{
	int err = find_newest(save);

	if (err == CKPT_ENOTFOUND)
		return 0;
	if (err)
		return err;
	/* A checkpoint with damaged metadata cannot be a base, but is not an obstacle either. */
	if (meta_read(&save->newest_meta, save->store, &save->newest, false)) {
		record_release(&save->newest);
		return 0;
	}
	save->have_newest = true;
	return 0;
}

/* --- --every and --min-interval: exact, because the lock is held --- */

#define COUNTS "every" /* the section of the cache */

/*
 * The cache is written without waiting for the disk, and may be outdated after a power
 * cut: then too few checkpoints would be taken.
 */
static json_t *this_boot(void)
{
	struct strbuf id = STRBUF_INIT;
	json_t *text;

	if (fs_read_file(&id, AT_FDCWD, "/proc/sys/kernel/random/boot_id"))
		strbuf_reset(&id);
	strbuf_trim(&id);
	text = json_text(id.buf);
	strbuf_release(&id);
	return text;
}

/*
 * The counts, an object. Missing, damaged or from before a reboot: start over,
 * which may take an extra checkpoint, but misses none.
 */
static json_t *read_counts(struct store *store)
{
	struct cache_section section = cache_open(store, COUNTS);
	json_t *counts = json_loadb(section.data ? section.data : "", section.len, 0, NULL),
	       *boot = this_boot();

	cache_close(&section);
	/* All other keys start with a digit. */
	if (!json_is_object(counts) || !json_equal(json_object_get(counts, "boot"), boot)) {
		json_decref(counts);
		counts = json_object();
		json_object_set(counts, "boot", boot);
	}
	json_decref(boot);
	return counts;
}

static json_t *name_counter(const struct save_opts *opts)
{
	char *key = xstrfmt("%" PRIu64 " %s", opts->cadence.every, opts->source);
	json_t *text = json_text(key); /* any bytes, made UTF-8 */

	free(key);
	return text;
}

/* The number of calls before this one since the last that was due. */
static uint64_t calls_before(json_t *counts, json_t *key, const struct save_opts *opts)
{
	json_int_t calls = json_integer_value(json_object_get(counts, json_string_value(key)));

	return calls < 0 || (uint64_t)calls >= opts->cadence.every ? 0 : (uint64_t)calls;
}

int save_is_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest)
{
	int64_t age = newest ? clock_now() - newest->created_at : 0;
	uint64_t calls = 0;

	if (opts->cadence.every) {
		json_t *counts = read_counts(store), *key = name_counter(opts);

		calls = calls_before(counts, key, opts);
		json_decref(counts);
		json_decref(key);
	}
	/* A clock that went backwards makes ages negative; then the save is due. */
	*due_out = !calls && !(opts->cadence.min_interval && newest && age >= 0 && age < opts->cadence.min_interval);
	return 0;
}

void save_count_call(struct store *store, const struct save_opts *opts, bool due)
{
	struct strbuf text = STRBUF_INIT;
	json_t *counts, *key;
	uint64_t calls;

	if (!opts->cadence.every)
		return;
	counts = read_counts(store);
	key = name_counter(opts);
	calls = calls_before(counts, key, opts);
	if (calls || due) {
		json_object_set_new(counts, json_string_value(key),
				    json_integer((json_int_t)((calls + 1) % opts->cadence.every)));
		json_write(&text, counts);
		cache_set(store, COUNTS, text.buf, text.len);
	}
	strbuf_release(&text);
	json_decref(counts);
	json_decref(key);
}

/* --- is the newest checkpoint as good as a new one? --- */

/* A commit, another branch, or what is staged is another state, though no file differs. */
static bool same_project(const struct save_job *save)
{
	return save->opts->extras.alone || gitsave_is_same(&save->git, &save->newest);
}

/* The same goes for repositories within it. */
static bool same_nested(const struct save_job *save)
{
	return nested_same(&save->newest_meta.nested, &save->meta.nested);
}

/* False if it may go before the one that is asked for would. */
static bool newest_serves(const struct save_job *save)
{
	const struct save_opts *opts = save->opts;
	const struct ckpt_record *newest = &save->newest;

	/* At any time, and restore refuses it. */
	if (record_expired(newest, clock_now()))
		return false;
	if (newest->pinned || opts->automatic || opts->safety.target)
		return true;
	/* An automatic one thins out, and what somebody asked for must not. */
	return !newest->automatic && (!newest->expiry || opts->kept.expiry);
}

/* What the command line asks for, apart from files. */
static bool request_is_new(const struct save_job *save)
{
	const struct save_opts *opts = save->opts;

	if (!save->have_newest || opts->allow_empty)
		return true;
	if (!newest_serves(save))
		return true;
	if (!save->newest_is_latest || !same_project(save))
		return true;
	if (opts->step >= 0 && opts->step != save->newest.step)
		return true;
	if (opts->said && !opts->automatic && strcmp(opts->reason, save->newest.reason))
		return true;
	if (opts->kept.pin && !save->newest.pinned)
		return true;
	if (opts->kept.name && !strlist_has(&save->newest.names, opts->kept.name))
		return true;
	return extras_are_new(&opts->extras, &save->meta, &save->newest_meta);
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

static bool is_untouched(const struct save_job *save)
{
	const struct oid *cached = worktree_state_cached_commit(&save->current);

	return save->current.untouched && !request_is_new(save) && same_nested(save) &&
	       oid_equal(cached, &save->newest.commit) &&
	       same_missing(&save->current.scan->skips, &save->newest_meta.skips);
}

static bool is_same_state(const struct save_job *save)
{
	if (save->opts->extras.alone)
		return !request_is_new(save);
	return !request_is_new(save) && same_nested(save) &&
	       oid_equal(&save->current.scan->root->tree, &save->newest.tree) &&
	       save->meta.modes.len == save->newest_meta.modes.len &&
	       !memcmp(save->meta.modes.buf, save->newest_meta.modes.buf, save->meta.modes.len) &&
	       same_missing(&save->current.scan->skips, &save->newest_meta.skips);
}

/* --- is there room? --- */

/*
 * Evicting is the last resort: first make sure that what the scan does not know
 * is new. Touched files, or all files after the loss of the stat cache, need no
 * space.
 */
static int make_room(struct save_job *save)
{
	int err;

	save->room = (struct retain_room){ .first = save->room.first };
	if (!save->session->settings.max_size ||
	    !retain_lacks_room(save->session, save_room_needed(save)))
		return 0;
	err = save->opts->extras.alone ? 0 : worktree_state_read(&save->current, NULL);
	if (err)
		return err;
	/* From here on each object is looked up, whatever is evicted. */
	strbuf_reset(&save->meta.modes);
	modes_encode(&save->meta.modes, save_job_root(save));
	return is_same_state(save) ? 0 : save_room_make(save);
}

/* What is left out is not a change, but a user who created it since must hear about it. */
static void add_new_warnings(struct strlist *out, const struct save_job *save)
{
	struct strlist now = STRLIST_INIT;

	worktree_state_warn(&now, &save->current);
	for (size_t i = 0; i < now.nr; i++) {
		bool known = false;

		for (size_t j = 0; j < out->nr && !known; j++)
			known = !strcmp(out->items[j], now.items[i]);
		if (!known)
			strlist_add(out, now.items[i]);
	}
	strlist_release(&now);
}

/* Answer with the newest checkpoint instead of a new one. */
static int answer_newest(struct save_result *out, struct save_job *save, enum save_outcome outcome)
{
	out->outcome = outcome;
	/* A save that was killed after making the ref left it so; readers do not rebuild it. */
	if (!save->listed && save->refs.nr)
		(void)manifest_rebuild(save->store);
	if (!save->have_newest)
		return 0;
	if (outcome == SAVE_UNCHANGED && !strcmp(save->git.hash, save->newest.git_hash))
		gitsave_remember(&save->git, save->newest.id, &save->newest_meta.git);
	out->have_record = true;
	out->record = save->newest;
	out->skips = save->newest_meta.skips;
	save->newest = (struct ckpt_record)CKPT_RECORD_INIT;
	memset(&save->newest_meta.skips, 0, sizeof(save->newest_meta.skips));
	if (outcome == SAVE_UNCHANGED && save->current.scan)
		add_new_warnings(&out->record.warnings, save);
	return 0;
}

int save_job_begin(struct save_job *job, struct session *session, const struct save_opts *opts)
{
	int err = 0;

	memset(job, 0, sizeof(*job));
	job->session = session;
	job->opts = opts;
	job->newest = (struct ckpt_record)CKPT_RECORD_INIT;
	meta_init(&job->meta);
	meta_init(&job->newest_meta);
	/*
	 * Not earlier: a refused place must not get a store, or it would become the worktree of
	 * everything below.
	 */
	if (!session->store)
		err = store_open_or_create(&session->store, session->worktree);
	job->store = session->store;
	if (!err)
		job->store->progress = job->opts->scan.progress;
	if (!err)
		err = store_lock(session->store, session->settings.lock_timeout);
	/* Packs may have appeared and gone while we waited for the lock. */
	if (!err)
		err = objects_reopen(job->store);
	if (!err) {
		job->interrupted = journal_exists(job->store);
		if (!job->interrupted)
			stage_sweep(&job->notes, job->store, session->worktree);
		err = refs_list(&job->refs, job->store);
	}
	/* A save that was killed after making its ref did not get here. */
	if (!err && job->refs.nr)
		refs_repair_latest(job->store, &job->refs);
	if (!err)
		job->listed = manifest_agrees(job->store, &job->refs);
	/* Before the manifest, which may be the only file that knows them, is rewritten. */
	if (!err && (!job->listed || !job->refs.nr))
		err = lost_note(job->store, &job->refs);
	if (!err)
		gitsave_look(&job->git, session, &job->refs, &job->notes, opts->scan.until);
	if (!err)
		err = load_newest(job);
	/* Before anything is read. The newest may keep its name, if nothing changed since. */
	if (!err && opts->kept.name && !opts->kept.move_name)
		err = lookup_name_free(job->store, &job->refs, opts->kept.name,
				       job->have_newest ? &job->newest.commit : NULL);
	return err;
}

struct wt_dir *save_job_root(const struct save_job *job)
{
	static struct wt_dir nothing = { .path = "" };

	return job->opts->extras.alone ? &nothing : job->current.scan->root;
}

static void look_at_nested(struct save_job *job, bool ask)
{
	nested_release(&job->meta.nested);
	nested_look(&job->meta.nested, job->session->worktree, job->current.scan->rootfd,
		    &job->current.scan->repos, ask);
}

int save_job_scan(struct save_job *job, const struct worktree_state_opts *how)
{
	int err;

	worktree_state_release(&job->current);
	err = worktree_state_scan(&job->current, job->session, &job->refs, how);
	if (err)
		return err;
	if (!job->refs.nr && job->session->repo)
		save_sibling_share(job);
	look_at_nested(job, false);
	return 0;
}

/* A pack at its limit knows no more than that. */
static int explain_limit(struct save_job *job, int err)
{
	if (err != CKPT_EREFUSED || !job->room.limit)
		return err;
	job->no_room = true;
	return retain_too_large(job->session, job->room.damaged);
}

int save_job_read(struct save_job *job)
{
	int err;

	if (!job->pack) {
		job->pack = pack_new(job->store, job->session->threads,
				     (unsigned)job->session->settings.compression);
		pack_demand_whole(job->pack);
	}
	err = make_room(job);
	if (!err) {
		pack_set_limit(job->pack, job->room.limit);
		err = job->opts->extras.alone ? 0 : worktree_state_read(&job->current, job->pack);
	}
	if (!err)
		err = extras_pack(&job->extras, job->pack);
	if (err)
		return explain_limit(job, err);
	strbuf_reset(&job->meta.modes);
	modes_encode(&job->meta.modes, save_job_root(job));
	return job->opts->extras.alone ? 0 : worktree_state_check(&job->current);
}

void save_job_write_cache(struct save_job *job, const struct oid *commit)
{
	/* This many files are read again in less time than it takes to write it. */
	enum { READ_AGAIN_MAX = 200 };

	if (job->current.scan &&
	    (!job->opts->safety.cache_later || job->current.read.files > READ_AGAIN_MAX))
		worktree_state_write_cache(&job->current, commit);
}

/* Nothing was learned: what was read must be read again the next time, whatever is written. */
static bool cache_is_as_good(const struct save_job *job)
{
	const struct worktree_state *current = &job->current;
	const struct oid *cached = worktree_state_cached_commit(current);

	return cached && oid_equal(cached, &job->newest.commit) && current->objects_there &&
	       !current->scan->cache_is_old && !current->scan->dir_modes_changed &&
	       current->read.racy == current->read.files;
}

int save_job_commit(struct save_result *out, struct save_job *job)
{
	const struct scan *scan = job->current.scan;

	memset(out, 0, sizeof(*out));
	if (is_same_state(job)) {
		/* What had to be stored again was lost; this repairs the newest checkpoint. */
		int err = pack_commit(job->pack, &out->new_bytes);

		if (err)
			return explain_limit(job, err);
		/* Read again: not next time. */
		if (!cache_is_as_good(job))
			save_job_write_cache(job, &job->newest.commit);
		return answer_newest(out, job, SAVE_UNCHANGED);
	}
	for (size_t i = 0; scan && i < scan->skips.nr; i++)
		skip_list_add(&job->meta.skips, scan->skips.items[i].path, scan->skips.items[i].why);
	if (scan && nested_unknown(&job->meta.nested))
		look_at_nested(job, true);
	if (scan) {
		job->meta.have_rules = true;
		rules_texts_copy(&job->meta.rules, rules_texts(job->current.rules));
	}
	return explain_limit(job, save_create(out, job));
}

void save_job_end(struct save_job *job)
{
	pack_free(job->pack);
	extras_release(&job->extras);
	strlist_release(&job->notes);
	strlist_release(&job->chosen);
	worktree_state_release(&job->current);
	meta_release(&job->meta);
	meta_release(&job->newest_meta);
	record_release(&job->newest);
	gitsave_release(&job->git);
	refs_release(&job->refs);
	free(job->room.first);
}

/* Scan, and once more if something must be captured that the rules leave out. */
static int scan_all(struct save_job *job, struct worktree_state_opts *how)
{
	const struct save_opts *opts = job->opts;
	int err = save_job_scan(job, how);

	if (err || !opts->choose)
		return err;
	err = opts->choose(&job->chosen, job->current.scan, opts->choose_payload);
	if (err || !job->chosen.nr)
		return err;
	strlist_sort_unique(&job->chosen);
	how->whole = &job->chosen;
	how->want_left_out = false;
	return save_job_scan(job, how);
}

static int take_checkpoint(struct save_result *out, struct save_job *job)
{
	const struct save_opts *opts = job->opts;
	struct worktree_state_opts how = opts->scan;
	int err = extras_take(&job->extras, &job->meta, &job->notes, job->session, &opts->extras);

	how.want_left_out = opts->choose != NULL;
	how.no_limit = opts->force;
	if (!err && !opts->extras.alone)
		err = scan_all(job, &how);
	if (!err && !opts->extras.alone)
		err = worktree_state_refuse_secrets(&job->current, opts->scan.scope);
	if (err)
		return err;
	if (opts->extras.alone) {
		if (is_same_state(job))
			return answer_newest(out, job, SAVE_UNCHANGED);
		err = save_job_read(job);
		return err ? err : save_job_commit(out, job);
	}
	if (!opts->amend && is_untouched(job)) {
		worktree_state_touch_cache(&job->current);
		return answer_newest(out, job, SAVE_UNCHANGED);
	}
	err = save_job_read(job);
	/* Something was moved during the scan: its new place was perhaps listed before. */
	if (!err && job->current.scan->moved) {
		err = save_job_scan(job, &how);
		if (!err)
			err = save_job_read(job);
	}
	if (!err && opts->amend)
		err = opts->amend(job, opts->amend_payload);
	return err ? err : save_job_commit(out, job);
}

int save_checkpoint(struct save_result *out, struct session *session, const struct save_opts *opts)
{
	double start = clock_monotonic();
	struct save_job job = { 0 };
	bool due = true;
	int err = opts->force ? 0 : save_check_place(session);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	err = save_job_begin(&job, session, opts);
	if (!err && opts->turn)
		turns_enter(opts->turn, job.store, session->settings.agent_prompts);
	if (!err)
		err = save_is_due(&due, job.store, opts, job.have_newest ? &job.newest : NULL);
	if (!err && !due)
		save_count_call(job.store, opts, false);
	if (!err)
		err = due ? take_checkpoint(out, &job) : answer_newest(out, &job, SAVE_NOT_YET);
	if (!err && opts->turn && out->outcome == SAVE_UNCHANGED)
		turns_note(opts->turn, job.store, out->record.id, false);
	/* Not recorded: an extra one next time, but none is missed. */
	if (!err && due)
		save_count_call(job.store, opts, true);
	if (!err && due && out->have_record)
		identity_check(&out->record.warnings, job.store, session->repo, &job.refs, true);
	/* Nothing was taken, but the budget may have been reduced. */
	if (!err && out->outcome != SAVE_CREATED && session->settings.max_size)
		retain_hold_budget(session, NULL);
	/* Retention can fail for lack of resources, too; the checkpoint exists and is complete. */
	if (!err)
		ckpt_error_forget_lack();
	if (!err)
		worktree_state_warn_once(&out->once, &job.current);
	if (err && job.current.read.late && !worktree_state_keep(&job.current, job.pack)) {
		out->late = true;
		out->percent = job.current.read.percent;
	}
	save_job_end(&job);
	if (session->store)
		store_unlock(session->store);
	out->seconds = clock_monotonic() - start;
	out->no_room = err && job.no_room;
	return err;
}
