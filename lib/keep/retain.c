/* SPDX-License-Identifier: MIT */
#include "keep/retain.h"

#include "keep/reclaim.h"
#include "keep/stock_internal.h"
#include "session/session.h"

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

/* What to remove by rules, and how. */
struct job {
	const char *action;
	struct evict_rules rules;
	struct tally *counts; /* gets what was there before, and when to look again; or NULL */
	const struct strlist *keep;
	uint64_t need;    /* bytes that must be free below max_size */
	bool all_or_none; /* if that is not possible, none goes for it */
	bool thorough;    /* free bytes in any case */
	bool dry_run;
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

static uint64_t bytes_used(struct session *session)
{
	return fs_disk_usage(session->store->dirfd, ".");
}

static uint64_t bytes_over(struct session *session, uint64_t max_size, uint64_t need)
{
	uint64_t reserve = max_size / 64 < RESERVE ? max_size / 64 : RESERVE, sum;

	if (!max_size)
		return 0;
	sum = bytes_used(session) + need + reserve;
	return sum > max_size ? sum - max_size : 0;
}

/* --- what saves note --- */

#define SECTION "retention"

/* Seconds after which a save looks in any case: the settings, or the clock, may have changed. */
enum { LOOK_AGAIN = 7200 };

/* New checkpoints after which it does: readers, who keep nothing, have to read them each time. */
enum { FRESH_MAX = 32 };

/*
 * What saves note in the cache (store/cache.h) so that most of them need not look at all
 * checkpoints, or for bytes to free. If it is lost, a save looks once more than needed.
 */
struct tally {
	uint64_t evicted; /* since bytes were last freed */
	uint64_t packs;	  /* that there were then */
	uint64_t log;	  /* bytes of the audit trail when it was last trimmed */
	/* As of the last save that looked at all; nothing was removed since, or all three are 0: */
	uint64_t asked, automatic; /* checkpoints */
	int64_t thin_at;	   /* when one of the automatic ones may be due */
};

static struct tally read_tally(struct store *store)
{
	struct cache_section section = cache_open(store, SECTION);
	struct tally tally = { 0 };

	if (section.len == sizeof(tally))
		memcpy(&tally, section.data, sizeof(tally));
	cache_close(&section);
	return tally;
}

static void write_tally(struct store *store, const struct tally *tally)
{
	cache_set(store, SECTION, tally, sizeof(*tally));
}

/* Its last three members, of what there is. */
static void count_stock(struct tally *out, const struct stock *stock)
{
	int64_t latest = stock->now + LOOK_AGAIN,
		next = evict_next_thinning(stock->items, stock->nr, &stock->rules, stock->now);

	out->asked = out->automatic = 0;
	for (size_t i = 0; i < stock->nr; i++)
		*(stock->items[i].automatic ? &out->automatic : &out->asked) += 1;
	/* What is saved later is thinned out no earlier than keep_all from now. */
	if (next > stock->now && next - stock->now > stock->rules.keep_all)
		next = stock->now + stock->rules.keep_all + 1;
	out->thin_at = next < latest ? next : latest;
	/* Nothing is due until it is believed. */
	if (stock->doubts_clock)
		out->thin_at = clock_now() + LOOK_AGAIN;
}

/* Note the last three, NULL: they are not known; and that `evicted` more went. */
static void note_counts(struct store *store, const struct tally *counts, size_t evicted)
{
	struct tally was = read_tally(store), tally = counts ? *counts : (struct tally){ 0 };

	tally.evicted = was.evicted + evicted;
	tally.packs = was.packs;
	tally.log = was.log;
	if (memcmp(&tally, &was, sizeof(was)) != 0)
		write_tally(store, &tally);
}

/*
 * Whether a rule may want one of `nr` checkpoints to go. Those that were not there when the tally
 * was written may be of either kind.
 */
static bool may_be_due(const struct tally *tally, const struct evict_rules *rules, size_t nr)
{
	uint64_t known = tally->asked + tally->automatic, fresh = nr > known ? nr - known : 0;
	int64_t now = clock_now();

	return rules->max_age || fresh >= FRESH_MAX ||
	       (rules->max_count && tally->asked + fresh > rules->max_count) ||
	       (rules->max_automatic && tally->automatic + fresh > rules->max_automatic) ||
	       (rules->thin.nr && (now >= tally->thin_at || tally->thin_at - now > LOOK_AGAIN));
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

static int log_victim(struct store *store, const char *action, const struct retain_victim *victim)
{
	const struct ckpt_record *record = &victim->record;

	return audit_add(store, action, record->id, &record->commit, victim->why,
			 *record->state_hash ? record->state_hash : NULL);
}

/* Let the ref "latest" be the newest checkpoint again. */
static void set_latest(struct store *store)
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

/* Remove one that was fetched, and say so in the audit trail. */
static int let_fetched_go(struct store *store, const char *action, const struct fetched_item *item)
{
	char *what = xstrfmt("%s/%s", item->machine, item->ref.id);

	/* No id, as when they were fetched: the trail is about those of this store. */
	(void)audit_add(store, action, NULL, &item->ref.commit, what, NULL);
	free(what);
	return fetched_remove(store, item);
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
		unsaid[i] = log_victim(store, action, &result->items[i]) != 0;
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
			err = let_fetched_go(store, action, &item);
			continue;
		}
		err = refs_delete(store, record->id);
		if (!err)
			err = keepers_forget(store, &item.ref);
		/* The disk was full; now there is at least the space that the ref took. */
		if (!err && unsaid[i])
			(void)log_victim(store, action, &result->items[i]);
	}
	free(unsaid);
	if (!leaves_latest(store, result, from))
		set_latest(store);
	/* Rebuilt by whoever finds that it disagrees. */
	strlist_sort_unique(&ids);
	(void)manifest_remove(store, &ids);
	strlist_release(&ids);
	return err;
}

/* --- bytes after saves: now and then, so that a save seldom waits for it --- */

static int free_bytes(struct reclaim_result *out, struct session *session,
		      enum reclaim_effort effort)
{
	int err = reclaim_run(out, session, effort);
	struct tally tally;

	if (err)
		return err;
	tally = read_tally(session->store);
	/* Merging frees nothing. */
	if (effort != RECLAIM_MERGE)
		tally.evicted = 0;
	tally.packs = packs_count(session->store->packs);
	write_tally(session->store, &tally);
	return 0;
}

int retain_let_go(struct retain_result *result, struct session *session, const char *action)
{
	uint64_t before = bytes_used(session), after;
	struct reclaim_result reclaimed;
	int err = let_all_go(session->store, action, result, 0);

	/* They are gone; the bytes that remain are for gc. */
	if (!err && free_bytes(&reclaimed, session, RECLAIM_ALL) == CKPT_ECANCELLED)
		err = ckpt_error_set(CKPT_ECANCELLED,
				     "interrupted after %zu %s removed; 'git checkpoint gc' frees the "
				     "space",
				     result->nr, result->nr == 1 ? "checkpoint was" : "checkpoints were");
	note_counts(session->store, NULL, 0);
	after = bytes_used(session);
	result->freed = before > after ? before - after : 0;
	return err;
}

/* `nr` is the approximate number of checkpoints. */
static void reclaim_sometimes(struct session *session, size_t nr)
{
	bool large = nr / EVICTED_PART > EVICTED_MAX, many_packs;
	uint64_t evicted_max = large ? nr / EVICTED_PART : EVICTED_MAX,
		 present = packs_count(session->store->packs) + 1;
	struct reclaim_result result;
	struct tally tally;

	tally = read_tally(session->store);
	many_packs = present > RECLAIM_PACKS_MAX && present >= tally.packs + EVICTED_MAX;
	if (tally.evicted >= evicted_max || (many_packs && tally.evicted && !large))
		(void)free_bytes(&result, session, RECLAIM_QUICK);
	else if (many_packs)
		(void)free_bytes(&result, session, RECLAIM_MERGE);
}

/* --- rules --- */

/* Add to the plan what the budget requires. False if that is not possible. */
static bool plan_bytes(struct stock *stock, const struct job *job, uint64_t over, bool first)
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

static void estimate_freed(struct retain_result *out, const struct stock *stock, uint64_t over)
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
		      const struct job *job)
{
	struct evict_rules only_size = { .max_size = job->rules.max_size };
	struct stock *stock = &round->stock;
	int err = stock_open(stock, session, round->first ? &job->rules : &only_size, job->keep,
			     NULL);

	if (!err && job->counts && round->first)
		count_stock(job->counts, stock);
	if (!err && !job->dry_run && brief_worth(&stock->briefs)) {
		brief_keep(&stock->briefs, session->store);
		round->over = bytes_over(session, job->rules.max_size, job->need);
	}
	if (!err && (round->over || job->dry_run))
		err = stock_weigh(stock);
	if (!err && round->over)
		round->reachable = plan_bytes(stock, job, round->over, round->first);
	if (!err && job->dry_run)
		estimate_freed(out, stock, round->over);
	return err ? err : choose_victims(out, stock);
}

/* The same and, if the briefs are wrong, once more without them. */
static int plan_surely(struct retain_result *out, struct round *round, struct session *session,
		       const struct job *job)
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
		     const struct job *job, bool first)
{
	struct round round = { .first = first };
	struct reclaim_result reclaimed = { 0 };
	size_t from = out->nr;
	int err;

	round.over = bytes_over(session, job->rules.max_size, job->need);
	if (!first && !round.over)
		return 0;
	if (round.over && !job->dry_run) {
		err = repack_make_way(session->store);
		if (err)
			return err;
		round.over = bytes_over(session, job->rules.max_size, job->need);
	}
	err = plan_surely(out, &round, session, job);
	if (!err && !job->dry_run && out->nr > from)
		err = let_all_go(session->store, job->action, out, from);
	if (!err && !job->dry_run && (round.over || job->thorough)) {
		err = free_bytes(&reclaimed, session,
				 job->thorough ? RECLAIM_ALL : RECLAIM_THOROUGH);
		/* If removing some freed nothing, removing more will not either. */
		if (!err && round.reachable &&
		    (reclaimed.after < reclaimed.before || out->nr == from))
			err = 1;
	}
	stock_release(&round.stock);
	return err;
}

/* Shorten the audit trail if it is too long for the budget. */
static void trim_log(struct session *session)
{
	uint64_t part = session->settings.max_size / LOG_PART, before;
	struct tally tally;

	tally = read_tally(session->store);
	before = tally.log;
	(void)audit_trim(&tally.log, session->store, part && part < LOG_MAX ? part : LOG_MAX);
	if (tally.log != before)
		write_tally(session->store, &tally);
}

/* Remove what the rules of the job want, in rounds, until they are met or nothing more helps. */
static int apply_rules(struct retain_result *out, struct session *session, const struct job *job)
{
	uint64_t before = bytes_used(session), after;
	bool first = true;
	int err;

	if (!job->dry_run)
		trim_log(session);
	do {
		err = one_round(out, session, job, first);
		first = false;
	} while (err > 0);
	if (job->dry_run)
		return err;
	if (out->nr && !job->counts)
		note_counts(session->store, NULL, 0);
	after = bytes_used(session);
	out->freed = before > after ? before - after : 0;
	out->excess = bytes_over(session, job->rules.max_size, job->need);
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
		/* As a killed process left it; readers change nothing. */
		if (!err && !manifest_agrees(session->store, &refs))
			(void)manifest_rebuild(session->store);
		refs_release(&refs);
	}
	return err;
}

int retain_prune(struct retain_result *out, struct session *session,
		 const struct evict_rules *rules, bool dry_run)
{
	struct job job = { .action = "prune",
				  .rules = *rules,
				  .thorough = true,
				  .dry_run = dry_run };
	int err = retain_begin(session);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = apply_rules(out, session, &job);
	store_unlock(session->store);
	return err;
}

/* --- for a save --- */

bool retain_drop_fetched(struct session *session)
{
	const struct keepers *keepers;
	struct reclaim_result result;
	struct fetched_list list = { 0 };
	bool dropped = false;

	/* An interrupted restore may lead to one, and another process may be copying one. */
	if (!reclaim_sweep_keepers(session) && !keepers_read(&keepers, session->store))
		(void)fetched_list(&list, session->store);
	for (size_t i = 0; i < list.nr; i++)
		if (!keepers_need(keepers, &list.items[i].ref))
			dropped |= !let_fetched_go(session->store, "evict", &list.items[i]);
	fetched_release(&list);
	if (dropped)
		(void)reclaim_run(&result, session, RECLAIM_THOROUGH);
	return dropped;
}

bool retain_lacks_room(struct session *session, uint64_t need)
{
	return bytes_over(session, session->settings.max_size, need) > 0;
}

int retain_too_large(struct session *session, bool damaged)
{
	char budget[UNITS_SIZE];

	if (damaged)
		return ckpt_error_set(CKPT_ERROR,
				      "the store is full (maxSize %s), and nothing can be freed while "
				      "something in it is damaged; see 'git checkpoint doctor'",
				      units_format_size(budget, session->settings.max_size));
	return ckpt_error_set(CKPT_ERROR,
			      "the checkpoint does not fit into maxSize (%s), whatever is evicted; raise "
			      "maxSize, exclude large files, or unpin or drop checkpoints ('drop' takes those with "
			      "which turns of coding agents began, 'drop --force' those that undo leads to)",
			      units_format_size(budget, session->settings.max_size));
}

static char *first_asked_for(const struct retain_result *gone)
{
	for (size_t i = 0; i < gone->nr; i++)
		if (!gone->items[i].record.automatic)
			return xstrfmt("%s (%s)", gone->items[i].record.id, gone->items[i].why);
	return NULL;
}

int retain_make_room(struct retain_room *out, struct session *session, const struct strlist *keep,
		     uint64_t need)
{
	struct job job = { .action = "evict",
				  .rules = { .max_size = session->settings.max_size },
				  .keep = keep,
				  .need = need,
				  .all_or_none = true };
	uint64_t max_size = job.rules.max_size, stays, in_use, spare;
	struct retain_result result = { 0 };
	struct stock stock = { 0 };
	bool dropped = retain_lacks_room(session, need) && retain_drop_fetched(session);
	int err = apply_rules(&result, session, &job);

	*out = (struct retain_room){ .first = out->first };
	out->evicted = dropped || result.nr > 0 || result.freed > 0;
	if (!out->first)
		out->first = first_asked_for(&result);
	if (err || !result.excess)
		goto out;
	err = stock_open(&stock, session, &job.rules, keep, NULL);
	if (!err)
		err = stock_weigh(&stock);
	if (err)
		goto out;
	in_use = bytes_used(session);
	out->damaged = !stock.known;
	spare = stock.known ? stock_spare(&stock) + stock.newest : 0;
	stays = in_use > spare ? in_use - spare : 0;
	if (stays >= max_size)
		err = retain_too_large(session, !stock.known);
	else
		out->limit = max_size - stays;
out:
	stock_release(&stock);
	retain_result_release(&result);
	return err;
}

int retain_check_fits(struct session *session, const struct strlist *keep,
		      const struct ckpt_record *fresh, uint64_t need)
{
	struct evict_rules rules = { .max_size = session->settings.max_size };
	uint64_t over = bytes_over(session, rules.max_size, need);
	struct stock stock;
	int err;

	if (!over)
		return 0;
	err = objects_reopen(session->store);
	if (err)
		return err;
	/* Where it will point in a moment; otherwise it would keep the old one alive. */
	refs_set_latest(session->store, &fresh->commit);
	err = stock_open(&stock, session, &rules, keep, fresh);
	if (!err)
		err = stock_weigh(&stock);
	if (!err && (!stock.known || stock_spare(&stock) < over))
		err = retain_too_large(session, !stock.known);
	if (err) {
		char *kept = ckpt_error_keep();

		set_latest(session->store);
		ckpt_error_put_back(err, kept);
	}
	stock_release(&stock);
	return err;
}

void retain_after_save(char **evicted, struct session *session, const struct ref_list *before,
		       const struct strlist *keep)
{
	struct tally tally, counts = { 0 };
	struct job job = {
		.action = "evict", .counts = &counts, .keep = keep, .all_or_none = true
	};
	struct retain_result result = { 0 };
	size_t nr = before->nr + 1;

	retain_rules(&job.rules, &session->settings);
	job.rules.after_save = true;
	trim_log(session);
	refs_pack(session->store, before->loose + 1);
	if (retain_lacks_room(session, 0))
		(void)retain_drop_fetched(session);
	tally = read_tally(session->store);
	/* Most saves end here, having read no checkpoint. */
	if (may_be_due(&tally, &job.rules, nr) || retain_lacks_room(session, 0)) {
		int err = apply_rules(&result, session, &job);

		for (size_t i = 0; i < result.nr; i++)
			*(result.items[i].record.automatic ? &counts.automatic : &counts.asked) -=
				1;
		note_counts(session->store, err ? NULL : &counts, result.nr);
	}
	reclaim_sometimes(session, nr);
	*evicted = first_asked_for(&result);
	retain_result_release(&result);
}

void retain_hold_budget(struct session *session, const struct strlist *keep)
{
	struct job job = { .action = "evict",
				  .rules = { .max_size = session->settings.max_size },
				  .keep = keep,
				  .all_or_none = true };
	struct retain_result result = { 0 };

	if (retain_lacks_room(session, 0))
		(void)apply_rules(&result, session, &job);
	retain_result_release(&result);
}
