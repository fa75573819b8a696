/* SPDX-License-Identifier: MIT */
#include "look/list.h"

#include "base/base.h"
#include "keep/keep.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

static void warn_of_lost(struct strlist *warnings, struct store *store,
			 const struct ref_list *refs)
{
	size_t lost = lost_count(store, refs);

	if (lost)
		strlist_addf(warnings, "%zu %s; 'git checkpoint doctor --fix' recovers %s", lost,
			     lost == 1 ? "checkpoint has lost its ref" :
					 "checkpoints have lost their refs",
			     lost == 1 ? "it" : "them");
}

static int list_refs(struct ckpt_records *out, struct session *session,
		     const struct ref_list *refs, const struct ckpt_enough *enough)
{
	int err = lookup_records_newest(out, session->store, refs, enough);

	if (!err)
		warn_of_lost(&out->damaged, session->store, refs);
	return err;
}

int look_list(struct ckpt_records *out, struct session *session,
		 const struct ckpt_enough *enough)
{
	struct ref_list refs;
	int err;

	memset(out, 0, sizeof(*out));
	if (!session->store)
		return 0;
	err = refs_list(&refs, session->store);
	if (!err)
		err = list_refs(out, session, &refs, enough);
	refs_release(&refs);
	return err;
}

/* What was just read must be what the newest briefs are about. */
static bool agree(const struct ckpt_records *recent, const struct ckpt_briefs *all)
{
	if (all->nr < recent->nr || (!recent->unread && all->nr > recent->nr))
		return false;
	for (size_t i = 1; i <= recent->nr; i++)
		if (strcmp(recent->items[recent->nr - i].id, all->items[all->nr - i].ref.id) != 0)
			return false;
	return true;
}

static int read_briefs(struct ckpt_briefs *out, struct session *session,
		       const struct ref_list *refs, const struct ckpt_records *recent)
{
	int err = brief_read_refs(out, session->store, refs);

	/* A sound one is damaged now; or a checkpoint was saved meanwhile, which costs nothing. */
	if (!err && !agree(recent, out)) {
		brief_forget(session->store);
		brief_release(out);
		err = brief_read(out, session->store);
	}
	if (!err && brief_worth(out) && !retain_lacks_room(session, brief_worth(out)))
		brief_keep(out, session->store);
	return err;
}

int look_overview(struct ckpt_records *recent_out, struct ckpt_briefs *all_out,
		     struct session *session, size_t max)
{
	struct ckpt_enough enough = { .max = max };
	struct ref_list refs;
	int err;

	memset(recent_out, 0, sizeof(*recent_out));
	memset(all_out, 0, sizeof(*all_out));
	if (!session->store)
		return 0;
	err = refs_list(&refs, session->store);
	if (!err)
		err = list_refs(recent_out, session, &refs, &enough);
	if (!err)
		err = read_briefs(all_out, session, &refs, recent_out);
	refs_release(&refs);
	for (size_t i = 0; i < all_out->damaged.nr; i++)
		if (!strlist_has(&recent_out->damaged, all_out->damaged.items[i]))
			strlist_add(&recent_out->damaged, all_out->damaged.items[i]);
	if (err)
		lookup_records_release(recent_out);
	return err;
}
