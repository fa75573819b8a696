/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_LOST_H
#define CKPT_RECORD_LOST_H

#include "store/store.h"

/**
 * Checkpoints whose refs disappeared although they were not dropped (a damaged
 * file system, a stray rm). "lost" in the state of the store (store/state.h) is an
 * object: for each id the beginning of the commit's name, or "". Recorded before
 * anything that knew of them is rewritten; what they need is not deleted, and
 * `doctor --fix` recovers them.
 */

/**
 * Compare refs with what was known: the manifest and, if there are no refs at all or the manifest
 * or the state is damaged, the commits in the packs. Checkpoints that were dropped or evicted according to the
 * audit trail are not lost, nor is the commit of a save that was killed before it made its ref. New
 * ones are added to the state, durably. `refs` are the existing refs. The store must be locked. If
 * nothing is lost, this costs reading the manifest.
 */
int lost_note(struct store *store, const struct ref_list *refs);

/**
 * lost_note(), then manifest_rebuild() if that succeeded, so that nothing the old manifest knew is
 * forgotten.
 */
void lost_rebuild_manifest(struct store *store);

/**
 * How many are recorded, or would be by lost_note(), and still without a ref. Writes nothing, and
 * leaves what a process does that is changing the store out of account.
 */
size_t lost_count(struct store *store, const struct ref_list *refs);

/** Those that are recorded, still lost, and whose commit is in the store. */
int lost_read(struct ref_list *out, struct store *store, const struct ref_list *refs);

/**
 * The same, plus those that lost_note() would add and those whose commit is
 * gone: it is then zero. Writes nothing. With `any`, commits unknown to the
 * audit trail count too.
 */
int lost_find(struct ref_list *out, struct store *store, const struct ref_list *refs, bool any);

/** Every commit in the packs that is a checkpoint, by id. */
int lost_commits(struct ref_list *out, struct store *store);

/** Forget one (it was dropped, or has its ref again). It is not an error if it is not recorded. */
int lost_forget(struct store *store, const char *id);

#endif
