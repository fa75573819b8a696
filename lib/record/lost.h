/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_LOST_H
#define CKPT_RECORD_LOST_H

#include "store/store.h"

#include <stddef.h>

struct store;

/**
 * checkpoint/lost: checkpoints whose refs disappeared although nobody dropped
 * them (a damaged file system, a stray rm), a line "<id> <beginning of the
 * commit's name>" each. Noted before anything that knew of them is written
 * anew; what they need is not thrown away, and `doctor --fix` brings them back.
 */

/**
 * Compare refs with what was known: the manifest, and if there is no ref at
 * all or the manifest is damaged, the commits in the packs; those that the audit trail says were dropped
 * or evicted are not lost, nor is what a save left that was killed before it
 * made its ref. New ones are added to the file, durably. `refs` are those that
 * there are. The store must be locked. Costs the reading of the manifest if
 * nothing is lost.
 */
int lost_note(struct store *store, const struct ref_list *refs);

/** manifest_rebuild() after lost_note(), if that is possible: what the old one knew is not forgotten. */
void lost_rebuild_manifest(struct store *store);

/** How many are noted and still without a ref. */
size_t lost_count(struct store *store, const struct ref_list *refs);

/** Those that are noted, still lost, and whose commit is in the store. */
int lost_read(struct ref_list *out, struct store *store, const struct ref_list *refs);

/**
 * The same with those that lost_note() would add, and those whose commit is
 * gone, too: it is zero then. Writes nothing. With `any`, a commit that the
 * audit trail knows nothing of counts as well.
 */
int lost_find(struct ref_list *out, struct store *store, const struct ref_list *refs, bool any);

/** Every commit in the packs that is a checkpoint, by id. */
int lost_commits(struct ref_list *out, struct store *store);

/** Forget one (it was dropped, or has its ref again). None of that id is no failure. */
int lost_forget(struct store *store, const char *id);

#endif
