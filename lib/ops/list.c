/* SPDX-License-Identifier: MIT */
#include "ops/list.h"

#include "base/alloc.h"
#include "ops/session.h"
#include "record/lost.h"
#include "record/manifest.h"
#include "store/store.h"

#include <string.h>

/* With the lock held: what the old one knew of must not be forgotten with it. */
static void rebuild_manifest(struct store *store)
{
	struct ref_list refs;

	if (refs_list(&refs, store))
		return;
	if (!lost_note(store, &refs))
		(void)ckpt_manifest_rebuild(store);
	ref_list_release(&refs);
}

/* One that cannot be read has no line in the manifest either. */
static void mend_manifest(struct store *store, const struct ckpt_records *records)
{
	struct ref_list refs = { 0 };

	for (size_t i = 0; i < records->nr; i++) {
		ALLOC_GROW(refs.items, refs.nr + 1, refs.alloc);
		memcpy(refs.items[refs.nr].id, records->items[i].id, CKPT_ID_SIZE);
		refs.items[refs.nr++].commit = records->items[i].commit;
	}
	/* Whoever holds the lock is about to write it; then it is not ours to mend. */
	if (!ckpt_manifest_agrees(store, &refs) && !store_lock(store, 0))
		rebuild_manifest(store);
	/* A pager may keep us waiting; that must not keep anybody from saving. */
	store_unlock(store);
	ref_list_release(&refs);
}

static void warn_of_lost(struct ckpt_records *records, struct store *store)
{
	struct ref_list refs;
	size_t lost;

	if (refs_list(&refs, store))
		return;
	lost = lost_count(store, &refs);
	if (lost)
		strlist_addf(&records->damaged,
			     "%zu %s; 'git checkpoint doctor --fix' brings %s back", lost,
			     lost == 1 ? "checkpoint has lost its ref" :
					 "checkpoints have lost their refs",
			     lost == 1 ? "it" : "them");
	ref_list_release(&refs);
}

int ops_list(struct ckpt_records *out, struct session *session)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (!session->store)
		return 0;
	err = ckpt_records_read(out, session->store);
	if (err)
		return err;
	mend_manifest(session->store, out);
	warn_of_lost(out, session->store);
	return 0;
}
