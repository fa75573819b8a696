/* SPDX-License-Identifier: MIT */
#include "look/list.h"

#include "base/base.h"
#include "keep/keep.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

static void mend_manifest(struct store *store, const struct ref_list *refs)
{
	if (manifest_agrees(store, refs))
		return;
	/* Whoever holds the lock is about to write it; then it is not ours to rebuild. */
	if (!store_lock(store, 0))
		lost_rebuild_manifest(store);
	/* A pager may keep us waiting; that must not block a save. */
	store_unlock(store);
}

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

	if (!err) {
		mend_manifest(session->store, refs);
		warn_of_lost(&out->damaged, session->store, refs);
	}
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

/* What was just read must be what the newest briefs are about; the first record may be older. */
static bool agree(const struct ckpt_records *recent, const struct ckpt_briefs *all, bool older)
{
	size_t nr = recent->nr - older;

	if (all->nr < nr || (!recent->unread && all->nr > nr))
		return false;
	for (size_t i = 1; i <= nr; i++)
		if (strcmp(recent->items[recent->nr - i].id, all->items[all->nr - i].ref.id) != 0)
			return false;
	return true;
}

static int read_briefs(struct ckpt_briefs *out, struct session *session,
		       const struct ref_list *refs, const struct ckpt_records *recent, bool older)
{
	int err = brief_read_refs(out, session->store, refs, recent);

	/* A sound one is damaged now; or a checkpoint was saved meanwhile, which costs nothing. */
	if (!err && !agree(recent, out, older)) {
		brief_forget(session->store);
		brief_release(out);
		err = brief_read(out, session->store);
	}
	if (!err && brief_worth(out) && !retain_lacks_room(session, brief_worth(out)))
		brief_keep(out, session->store);
	return err;
}

/* True if one was added that is older than the others. */
static bool add_older(struct ckpt_records *records, struct store *store,
		      const struct ref_list *refs, const char *id)
{
	struct ckpt_record record;
	size_t i = 0;

	while (i < records->unread && strcmp(refs->items[i].id, id) != 0)
		i++;
	if (i == records->unread || record_read(&record, store, &refs->items[i]))
		return false;
	records->items = xrealloc(records->items, (records->nr + 1) * sizeof(*records->items));
	memmove(records->items + 1, records->items, records->nr * sizeof(*records->items));
	records->items[0] = record;
	records->nr++;
	return true;
}

int look_overview(struct ckpt_records *recent_out, struct ckpt_briefs *all_out,
		  struct session *session, const struct ckpt_enough *enough, const char *also)
{
	struct ref_list refs;
	bool older = false;
	int err;

	memset(recent_out, 0, sizeof(*recent_out));
	memset(all_out, 0, sizeof(*all_out));
	if (!session->store)
		return 0;
	err = refs_list(&refs, session->store);
	if (!err)
		err = list_refs(recent_out, session, &refs, enough);
	if (!err && also)
		older = add_older(recent_out, session->store, &refs, also);
	if (!err)
		err = read_briefs(all_out, session, &refs, recent_out, older);
	refs_release(&refs);
	for (size_t i = 0; i < all_out->damaged.nr; i++)
		if (!strlist_has(&recent_out->damaged, all_out->damaged.items[i]))
			strlist_add(&recent_out->damaged, all_out->damaged.items[i]);
	if (err)
		lookup_records_release(recent_out);
	return err;
}
