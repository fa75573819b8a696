/* SPDX-License-Identifier: MIT */
#include "keep/retain.h"

#include "base/base.h"
#include "keep/reclaim.h"
#include "keep/retain_internal.h"
#include "keep/stock_internal.h"
#include "keep/tally_internal.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

enum {
	/*
	 * How many checkpoints saves evict before one of them looks for bytes to free; in a large
	 * store a fraction of it, so that the cost per checkpoint stays the same for all saves
	 * together.
	 */
	EVICTED_MAX = 16,
	EVICTED_PART = 32,
	RESERVE = 16 * 1024, /* of the budget, for what is written afterwards: logs, marks, counts */
	LOG_MAX = 4 << 20,   /* of the audit trail; some 15000 lines */
	LOG_PART = 16,	     /* of the budget, so that it never displaces the checkpoints it is about */
};

void retain_result_release(struct retain_result *result)
{
	for (size_t i = 0; i < result->nr; i++) {
		record_release(&result->items[i].record);
		free(result->items[i].why);
	}
	free(result->items);
	memset(result, 0, sizeof(*result));
}

void retain_rules(struct evict_rules *out, const struct ckpt_settings *settings)
{
	*out = (struct evict_rules){
		.max_count = settings->max_count,
		.max_automatic = settings->max_automatic,
		.keep_all = settings->keep_all_automatic,
		.thin = settings->thin_automatic,
		.max_age = settings->max_age,
		.max_size = settings->max_size,
		.keep_hourly = settings->keep_hourly,
		.keep_daily = settings->keep_daily,
		.keep_weekly = settings->keep_weekly,
	};
}

uint64_t retain_usage(struct session *session)
{
	return fs_disk_usage(session->store->dirfd, ".");
}

uint64_t retain_bytes_over(struct session *session, uint64_t max_size, uint64_t need)
{
	uint64_t reserve = max_size / 64 < RESERVE ? max_size / 64 : RESERVE, sum;

	if (!max_size)
		return 0;
	sum = retain_usage(session) + need + reserve;
	return sum > max_size ? sum - max_size : 0;
}

/* --- removing --- */

void retain_add(struct retain_result *out, struct ckpt_record *record, char *why)
{
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr].record = *record;
	out->items[out->nr++].why = why;
	*record = (struct ckpt_record)CKPT_RECORD_INIT;
}

static void forget_choice(struct retain_result *out, size_t from)
{
	while (out->nr > from) {
		out->nr--;
		record_release(&out->items[out->nr].record);
		free(out->items[out->nr].why);
	}
}

/*
 * Make victims of those that are due. 1 if one of them does not match its
 * brief, or is damaged, and so must not be removed.
 */
static int choose_victims(struct retain_result *out, struct stock *stock)
{
	for (size_t i = 0; i < stock->plan.due; i++) {
		const struct evict_victim *victim = &stock->plan.items[i];
		const struct ckpt_brief *brief = &stock->briefs.items[victim->item];
		struct strbuf why = STRBUF_INIT;
		struct ckpt_record record;
		int err = record_read(&record, stock->session->store, &brief->ref);

		if (err)
			return err == CKPT_ECORRUPT ? 1 : err;
		if (!brief_fits(brief, &record)) {
			record_release(&record);
			return 1;
		}
		evict_explain(&why, victim->why, &stock->items[victim->item], &stock->rules,
			      stock->now);
		retain_add(out, &record, strbuf_detach(&why, NULL));
	}
	return 0;
}

static int say(struct store *store, const char *action, const struct retain_victim *victim)
{
	const struct ckpt_record *record = &victim->record;

	return audit_add(store, action, record->id, &record->commit, victim->why,
			 *record->state_hash ? record->state_hash : NULL);
}

void retain_set_latest(struct store *store)
{
	struct ref_list refs;

	if (refs_list(&refs, store))
		return;
	refs_repair_latest(store, &refs);
	refs_release(&refs);
}

/* Usually the newest is not among those that go; then it stays where it is. */
static bool leaves_latest(struct store *store, const struct retain_result *result, size_t from)
{
	struct oid latest;
	bool leaves = refs_latest(&latest, store);

	for (size_t i = from; i < result->nr && leaves; i++)
		leaves = !oid_equal(&result->items[i].record.commit, &latest);
	return leaves;
}

/*
 * The trail is on disk before the first ref goes: after a power cut a removed
 * checkpoint must not look like one that lost its ref.
 */
static int let_all_go(struct store *store, const char *action, const struct retain_result *result,
		      size_t from)
{
	bool *unsaid = xcalloc(result->nr + 1, sizeof(*unsaid));
	struct strlist ids = STRLIST_INIT;
	int err;

	for (size_t i = from; i < result->nr; i++) {
		if (result->items[i].record.machine)
			continue;
		unsaid[i] = say(store, action, &result->items[i]) != 0;
		strlist_add(&ids, result->items[i].record.id);
	}
	audit_sync(store);
	err = refs_unpack(store, &ids);
	for (size_t i = from; i < result->nr && !err; i++) {
		const struct ckpt_record *record = &result->items[i].record;
		struct fetched_item item = { record->machine, { .commit = record->commit } };

		memcpy(item.ref.id, record->id, sizeof(item.ref.id));
		/* Of that id there may be one of this store, too, which stays. */
		if (record->machine) {
			err = retain_fetched_let_go(store, action, &item);
			continue;
		}
		err = refs_delete(store, record->id);
		if (!err)
			err = keepers_forget(store, &item.ref);
		/* The disk was full; now there is at least the space that the ref took. */
		if (!err && unsaid[i])
			(void)say(store, action, &result->items[i]);
	}
	free(unsaid);
	if (!leaves_latest(store, result, from))
		retain_set_latest(store);
	/* Rebuilt by whoever finds that it disagrees. */
	strlist_sort_unique(&ids);
	(void)manifest_remove(store, &ids);
	strlist_release(&ids);
	return err;
}

/* --- bytes after saves: now and then, so that a save seldom waits for it --- */

static int reclaim(struct reclaim_result *out, struct session *session, enum reclaim_effort effort)
{
	int err = reclaim_run(out, session, effort);
	struct tally tally;

	if (err)
		return err;
	tally_read(&tally, session->store);
	/* Merging frees nothing. */
	if (effort != RECLAIM_MERGE)
		tally.evicted = 0;
	tally.packs = packs_count(session->store->packs);
	tally_write(session->store, &tally);
	return 0;
}

int retain_let_go(struct retain_result *result, struct session *session, const char *action)
{
	uint64_t before = retain_usage(session), after;
	struct reclaim_result reclaimed;
	int err = let_all_go(session->store, action, result, 0);

	/* They are gone; the bytes that remain are for gc. */
	if (!err && reclaim(&reclaimed, session, RECLAIM_ALL) == CKPT_ECANCELLED)
		err = CKPT_ECANCELLED;
	tally_forget_counts(session->store);
	after = retain_usage(session);
	result->freed = before > after ? before - after : 0;
	return err;
}

/* `nr` is the approximate number of checkpoints. */
void retain_reclaim_sometimes(struct session *session, size_t nr)
{
	bool large = nr / EVICTED_PART > EVICTED_MAX, many_packs;
	uint64_t evicted_max = large ? nr / EVICTED_PART : EVICTED_MAX,
		 present = packs_count(session->store->packs) + 1;
	struct reclaim_result result;
	struct tally tally;

	tally_read(&tally, session->store);
	many_packs = present > RECLAIM_PACKS_MAX && present >= tally.packs + EVICTED_MAX;
	if (tally.evicted >= evicted_max || (many_packs && tally.evicted && !large))
		(void)reclaim(&result, session, RECLAIM_QUICK);
	else if (many_packs)
		(void)reclaim(&result, session, RECLAIM_MERGE);
}

/* --- rules --- */

/* Add to the plan what the budget requires. False if that is not possible. */
static bool plan_bytes(struct stock *stock, const struct retain_job *job, uint64_t over, bool first)
{
	uint64_t garbage = first ? stock->garbage : 0;

	/* Damage holds everything: nothing would be freed. */
	if (!stock->known)
		return false;
	if (evict_extend(&stock->plan, stock->bytes, over > garbage ? over - garbage : 0))
		return true;
	for (; !job->all_or_none && stock->plan.due < stock->plan.nr; stock->plan.due++)
		stock->plan.items[stock->plan.due].why = EVICT_SIZE;
	return false;
}

static void estimate(struct retain_result *out, const struct stock *stock, uint64_t over)
{
	out->freed = stock->known ? stock->garbage : 0;
	for (size_t i = 0; i < stock->plan.due && stock->known; i++)
		out->freed += stock->bytes[i];
	out->excess = over > out->freed ? over - out->freed : 0;
}

struct round {
	bool first;
	uint64_t over;  /* bytes */
	bool reachable; /* whether these can go */
	struct stock stock;
};

/* Read the current state and choose from it; 1 if it turned out to be wrong. */
static int plan_round(struct retain_result *out, struct round *round, struct session *session,
		      const struct retain_job *job)
{
	struct evict_rules only_size = { .max_size = job->rules.max_size };
	struct stock *stock = &round->stock;
	int err = stock_open(stock, session, round->first ? &job->rules : &only_size, job->keep,
			     NULL);

	if (!err && job->counts && round->first)
		tally_count(job->counts, stock);
	if (!err && !job->dry_run && brief_worth(&stock->briefs)) {
		brief_keep(&stock->briefs, session->store);
		round->over = retain_bytes_over(session, job->rules.max_size, job->need);
	}
	if (!err && (round->over || job->dry_run))
		err = stock_weigh(stock);
	if (!err && round->over)
		round->reachable = plan_bytes(stock, job, round->over, round->first);
	if (!err && job->dry_run)
		estimate(out, stock, round->over);
	return err ? err : choose_victims(out, stock);
}

/* The same and, if the briefs are wrong, once more without them. */
static int plan_surely(struct retain_result *out, struct round *round, struct session *session,
		       const struct retain_job *job)
{
	size_t from = out->nr;
	int err = plan_round(out, round, session, job);

	if (err > 0) {
		forget_choice(out, from);
		stock_release(&round->stock);
		brief_forget(session->store);
		err = plan_round(out, round, session, job);
	}
	if (err)
		forget_choice(out, from);
	/* Just damaged: then remove none. */
	return err > 0 ? 0 : err;
}

/*
 * One round; 1 if there should be another. The estimate ignores what is not
 * worth copying, so the limit may still be exceeded afterwards.
 */
static int one_round(struct retain_result *out, struct session *session,
		     const struct retain_job *job, bool first)
{
	struct round round = { .first = first };
	struct reclaim_result reclaimed = { 0 };
	size_t from = out->nr;
	int err;

	round.over = retain_bytes_over(session, job->rules.max_size, job->need);
	if (!first && !round.over)
		return 0;
	if (round.over && !job->dry_run) {
		err = repack_make_way(session->store);
		if (err)
			return err;
		round.over = retain_bytes_over(session, job->rules.max_size, job->need);
	}
	err = plan_surely(out, &round, session, job);
	if (!err && !job->dry_run && out->nr > from)
		err = let_all_go(session->store, job->action, out, from);
	if (!err && !job->dry_run && (round.over || job->thorough)) {
		err = reclaim(&reclaimed, session, job->thorough ? RECLAIM_ALL : RECLAIM_THOROUGH);
		/* If removing some freed nothing, removing more will not either. */
		if (!err && round.reachable &&
		    (reclaimed.after < reclaimed.before || out->nr == from))
			err = 1;
	}
	stock_release(&round.stock);
	return err;
}

void retain_trim_log(struct session *session)
{
	uint64_t part = session->settings.max_size / LOG_PART, before;
	struct tally tally;

	tally_read(&tally, session->store);
	before = tally.log;
	(void)audit_trim(&tally.log, session->store, part && part < LOG_MAX ? part : LOG_MAX);
	if (tally.log != before)
		tally_write(session->store, &tally);
}

int retain_apply(struct retain_result *out, struct session *session, const struct retain_job *job)
{
	uint64_t before = retain_usage(session), after;
	bool first = true;
	int err;

	if (!job->dry_run)
		retain_trim_log(session);
	do {
		err = one_round(out, session, job, first);
		first = false;
	} while (err > 0);
	if (job->dry_run)
		return err;
	if (out->nr && !job->counts)
		tally_forget_counts(session->store);
	after = retain_usage(session);
	out->freed = before > after ? before - after : 0;
	out->excess = retain_bytes_over(session, job->rules.max_size, job->need);
	return err;
}

int retain_begin(struct session *session)
{
	struct ref_list refs;
	int err = store_lock(session->store, session->settings.lock_timeout);

	if (!err)
		err = objects_reopen(session->store);
	if (err)
		return err;
	err = refs_list(&refs, session->store);
	if (!err) {
		err = lost_note(session->store, &refs);
		refs_release(&refs);
	}
	return err;
}

int retain_prune(struct retain_result *out, struct session *session,
		 const struct evict_rules *rules, bool dry_run)
{
	struct retain_job job = { .action = "prune",
				  .rules = *rules,
				  .thorough = true,
				  .dry_run = dry_run };
	int err = retain_begin(session);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = retain_apply(out, session, &job);
	store_unlock(session->store);
	return err;
}
