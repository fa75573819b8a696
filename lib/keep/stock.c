/* SPDX-License-Identifier: MIT */
#include "keep/stock_internal.h"

#include "keep/reclaim.h"
#include "session/session.h"
#include "turns/turns.h"

enum { PACK_EXTRA = 5200 }; /* what a pack takes besides its objects */

void stock_release(struct stock *stock)
{
	brief_release(&stock->briefs);
	evict_plan_release(&stock->plan);
	free(stock->items);
	free(stock->bytes);
}

/* The newest of the whole worktree: one of a few paths, or of none, does not replace it. */
static void mark_whole(struct stock *stock)
{
	bool whole = stock->fresh && !stock->fresh->scope.nr && !stock->fresh->state_only;

	for (size_t i = stock->briefs.nr; i-- && !whole;) {
		const struct ckpt_brief *brief = &stock->briefs.items[i];

		whole = !brief->scoped && !brief->state_only && !brief->imported;
		/* What "@" means stays anyway, and counts. */
		stock->items[i].needed |= whole && i + 1 < stock->nr && !stock->items[i].latest;
	}
}

/* Turns of agents take the place of no other. If they cannot be read, any may be one. */
static void mark_turns(struct stock *stock)
{
	struct strlist begins = STRLIST_INIT;
	int err = turns_spared(&begins, stock->session->store);

	strlist_sort_unique(&begins);
	for (size_t i = 0; i < stock->briefs.nr; i++)
		stock->items[i].needed |= err || pathset_has(&begins, stock->briefs.items[i].ref.id);
	strlist_release(&begins);
}

/* What "@" means; a new one that is not a safety checkpoint is it, being the newest. */
static void mark_latest(struct stock *stock)
{
	if (stock->fresh && !stock->fresh->safety)
		return;
	for (size_t i = stock->briefs.nr; i--;)
		if (!stock->briefs.items[i].safety && !stock->briefs.items[i].imported) {
			stock->items[i].latest = true;
			return;
		}
}

static void add_item(struct stock *stock, const struct ckpt_brief *brief, bool needed)
{
	stock->items[stock->nr++] = (struct evict_item){
		.created_at = brief->created_at,
		.expiry = brief->expiry,
		.automatic = brief->automatic,
		.needed = needed,
	};
}

int stock_open(struct stock *stock, struct session *session, const struct evict_rules *rules,
	       const struct strlist *keep, const struct ckpt_record *fresh)
{
	struct ckpt_brief brief;
	int err;

	memset(stock, 0, sizeof(*stock));
	stock->session = session;
	stock->rules = *rules;
	stock->now = clock_now();
	stock->fresh = fresh;
	err = reclaim_sweep_keepers(session);
	if (!err)
		err = brief_read(&stock->briefs, session->store);
	if (err)
		return err;
	stock->items = xcalloc(stock->briefs.nr + 1, sizeof(*stock->items));
	for (size_t i = 0; i < stock->briefs.nr; i++)
		add_item(stock, &stock->briefs.items[i],
			 stock->briefs.items[i].needed ||
				 (keep && strlist_has(keep, stock->briefs.items[i].ref.id)));
	if (fresh) {
		brief_of(&brief, fresh);
		add_item(stock, &brief, fresh->pinned);
	}
	if (rules->after_save) {
		int64_t clock = stock->now;

		stock->now = evict_agreed_time(stock->items, stock->nr, clock);
		stock->doubts_clock = stock->now != clock;
	}
	mark_latest(stock);
	mark_whole(stock);
	mark_turns(stock);
	evict_plan(&stock->plan, stock->items, stock->nr, rules, stock->now);
	return 0;
}

/* --- what it would free --- */

/* The newest, if nothing else keeps it once there is a newer one. */
static const struct ref_item *lonely_newest(const struct stock *stock)
{
	size_t last = stock->briefs.nr - 1;

	if (stock->fresh || !stock->briefs.nr || stock->items[last].needed)
		return NULL;
	return &stock->briefs.items[last].ref;
}

/* Everything that stays, including damaged checkpoints and other refs. */
static int add_staying(struct stock *stock, struct reach *reach)
{
	const struct ref_item *newest = lonely_newest(stock);
	struct strlist leaving = STRLIST_INIT;
	struct ref_list refs;
	int err = refs_list(&refs, stock->session->store);

	if (err)
		return err;
	if (newest)
		strlist_add(&leaving, newest->id);
	for (size_t i = 0; i < stock->plan.nr; i++)
		strlist_add(&leaving, stock->briefs.items[stock->plan.items[i].item].ref.id);
	strlist_sort_unique(&leaving);
	if (stock->fresh)
		err = reach_add(reach, &stock->fresh->commit, 0);
	for (size_t i = 0; i < refs.nr && !err; i++) {
		if (oid_is_zero(&refs.items[i].commit))
			stock->known = false;
		else if (!pathset_has(&leaving, refs.items[i].id))
			err = reach_add(reach, &refs.items[i].commit, 0);
	}
	refs_release(&refs);
	strlist_release(&leaving);
	if (!err && newest)
		err = reach_add(reach, &newest->commit, 1);
	return err ? err : reclaim_add_others(reach, stock->session, 0);
}

/* Owners: 0 stays, 1 is the newest, the plan follows. */
int stock_weigh(struct stock *stock)
{
	struct store *store = stock->session->store;
	struct reach *reach = reach_new(store);
	uint64_t sum, packs = fs_disk_usage(store->dirfd, "objects/pack");
	size_t nr = stock->plan.nr;
	int err;

	stock->known = true;
	err = add_staying(stock, reach);
	for (size_t i = nr; i-- && !err;)
		err = reach_add(reach, &stock->briefs.items[stock->plan.items[i].item].ref.commit,
				(uint32_t)i + 2);
	if (!err) {
		stock->known = stock->known && !reach_damaged(reach);
		stock->bytes = xcalloc(nr ? nr : 1, sizeof(*stock->bytes));
		stock->newest = lonely_newest(stock) ? reach_bytes(reach, 1) : 0;
		sum = reach_bytes(reach, 0) + stock->newest;
		for (size_t i = 0; i < nr; i++)
			sum += stock->bytes[i] = reach_bytes(reach, (uint32_t)i + 2);
		/* Each takes space in an index, and each file has a header and a trailer. */
		sum += reach_count(reach) * 32 + packs_count(store->packs) * PACK_EXTRA;
		stock->garbage = packs > sum ? packs - sum : 0;
	}
	reach_free(reach);
	return err;
}

uint64_t stock_spare(const struct stock *stock)
{
	uint64_t sum = stock->garbage;

	for (size_t i = 0; i < stock->plan.nr; i++)
		sum += stock->bytes[i];
	return sum;
}
