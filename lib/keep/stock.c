/* SPDX-License-Identifier: MIT */
#include "keep/stock_internal.h"

#include "base/base.h"
#include "keep/hold.h"
#include "keep/reclaim.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

enum { PACK_EXTRA = 5200 }; /* what a pack takes besides its objects */

void stock_release(struct stock *stock)
{
	brief_release(&stock->briefs);
	evict_plan_release(&stock->plan);
	free(stock->items);
	free(stock->bytes);
}

int stock_journal(struct strlist *out, struct session *session)
{
	struct journal journal;
	int err = journal_read(&journal, session->store);

	if (err)
		return err == CKPT_ENOTFOUND ? 0 : CKPT_ERROR;
	strlist_add(out, journal.target);
	strlist_add(out, journal.safety);
	journal_release(&journal);
	return 0;
}

/* The next undo and redo lead to `next_out`, the other ones to `later_out`. */
static int add_undo(struct strlist *next_out, struct strlist *later_out, struct store *store)
{
	struct undo_stack stack;
	int err = journal_undo_read(&stack, store);

	for (size_t i = 0; i < stack.nr; i++) {
		struct strlist *out = i + 1 == stack.done || i == stack.done ? next_out : later_out;

		strlist_add(out, stack.items[i].before);
		strlist_add(out, stack.items[i].restored);
		strlist_add(out, stack.items[i].after);
	}
	journal_undo_release(&stack);
	return err;
}

/* The checkpoints of complete phases; false: it cannot be told which. */
static bool read_flow(struct strlist *out, struct store *store)
{
	json_t *state = NULL, *phases, *phase;
	int err = json_read_file(&state, store->dirfd, LAYOUT_FLOW "/phase.json");
	bool known = err == CKPT_ENOTFOUND || (!err && json_is_object(state));
	size_t i;

	phases = json_object_get(state, "completed_phases");
	json_array_foreach(phases, i, phase)
	{
		const char *id = json_string_value(json_object_get(phase, "checkpoint"));

		known = known && id;
		if (id)
			strlist_add(out, id);
	}
	json_decref(state);
	return known;
}

/* What the live workflow may have to go back to does not count, as if it were pinned. */
static void mark_flow(struct stock *stock)
{
	struct strlist named = STRLIST_INIT;
	/* If the workflow cannot be read, any of its checkpoints may be needed. */
	bool all = !read_flow(&named, stock->session->store);

	strlist_sort_unique(&named);
	for (size_t i = 0; i < stock->briefs.nr; i++) {
		const struct ckpt_brief *brief = &stock->briefs.items[i];

		if (pathset_has(&named, brief->ref.id) || (all && brief->flow))
			stock->items[i].pinned = true;
	}
	strlist_release(&named);
}

static void mark_exempt(struct stock *stock, const struct strlist *keep)
{
	struct strlist needed = STRLIST_INIT, later = STRLIST_INIT;
	bool whole = stock->fresh && !stock->fresh->scope.nr && !stock->fresh->state_only;
	/* If the journal, the stack, the turns or the holds cannot be read, anything may be needed. */
	bool all = stock_journal(&needed, stock->session) ||
		   add_undo(&needed, &later, stock->session->store) ||
		   turns_spared(&later, stock->session->store) ||
		   hold_list(&needed, stock->session->store);

	if (keep)
		strlist_extend(&needed, keep);
	strlist_sort_unique(&needed);
	strlist_sort_unique(&later);
	for (size_t i = stock->briefs.nr; i--;) {
		const struct ckpt_brief *brief = &stock->briefs.items[i];

		stock->items[i].exempt = all || pathset_has(&needed, brief->ref.id);
		/* One that was imported neither takes the place of others nor gives way to them. */
		stock->items[i].reserved =
			pathset_has(&later, brief->ref.id) || brief->imported;
		/* A checkpoint of a few paths, or of none, does not replace one of everything. */
		if (!whole && !brief->scoped && !brief->state_only && !brief->imported) {
			whole = true;
			stock->items[i].exempt |= i + 1 < stock->nr;
		}
	}
	strlist_release(&needed);
	strlist_release(&later);
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

static void add_item(struct stock *stock, const struct ckpt_brief *brief)
{
	stock->items[stock->nr++] = (struct evict_item){
		.created_at = brief->created_at,
		.expiry = brief->expiry,
		.automatic = brief->automatic,
		.pinned = brief->pinned,
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
	err = brief_read(&stock->briefs, session->store);
	if (err)
		return err;
	stock->items = xcalloc(stock->briefs.nr + 1, sizeof(*stock->items));
	for (size_t i = 0; i < stock->briefs.nr; i++)
		add_item(stock, &stock->briefs.items[i]);
	if (fresh) {
		brief_of(&brief, fresh);
		add_item(stock, &brief);
	}
	if (rules->after_save) {
		int64_t clock = stock->now;

		stock->now = evict_agreed_time(stock->items, stock->nr, clock);
		stock->doubts_clock = stock->now != clock;
	}
	mark_latest(stock);
	mark_exempt(stock, keep);
	mark_flow(stock);
	evict_plan(&stock->plan, stock->items, stock->nr, rules, stock->now);
	return 0;
}

/* --- what it would free --- */

/* The newest, if nothing else keeps it once there is a newer one. */
static const struct ref_item *lonely_newest(const struct stock *stock)
{
	size_t last = stock->briefs.nr - 1;

	if (stock->fresh || !stock->briefs.nr || stock->items[last].exempt ||
	    stock->items[last].pinned)
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
