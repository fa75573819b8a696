/* SPDX-License-Identifier: MIT */
#include "ops/list.h"

#include "ops/session.h"
#include "record/manifest.h"
#include "store/store.h"

#include <string.h>

static void mend_manifest(struct store *store)
{
	struct ref_list refs;

	if (refs_list(&refs, store))
		return;
	/* Whoever holds the lock is about to write it; then it is not ours to mend. */
	if (!ckpt_manifest_agrees(store, &refs) && !store_lock(store, 0))
		(void)ckpt_manifest_rebuild(store);
	/* A pager may keep us waiting; that must not keep anybody from saving. */
	store_unlock(store);
	ref_list_release(&refs);
}

int ops_list(struct ckpt_records *out, struct session *session)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (!session->store)
		return 0;
	err = ckpt_records_read(out, session->store);
	if (!err)
		mend_manifest(session->store);
	return err;
}
