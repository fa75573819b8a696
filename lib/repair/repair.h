/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_REPAIR_H
#define CKPT_REPAIR_REPAIR_H

/**
 * What is wrong with a store, and fixing it.
 *
 * This is what other folders include.
 */
#include "store/store.h"

struct session;

/**
 * Everything that can be wrong with a store, from the bytes of its packs to
 * the manifest. `session` is opened with SESSION_ANY: a store that other
 * commands refuse is checked, too.
 *
 * With `fix`, problems are fixed in this order: the store's own files; packs; refs;
 * checkpoints of stores that wait to be merged, see relink_store();
 * lost contents, from the worktree if it has them; then what can be rebuilt.
 * No checkpoint of which anything is left is ever removed, and nothing else that exists only once.
 *
 * A problem is a result, not a failure.
 */
int doctor_run(struct problems *out, struct session *session, bool fix, progress_fn progress);

/**
 * Adopting the store of a folder that was moved. What is written, in this order, with
 * the store and the home locked:
 *
 *  1. The store of the new path, if there is one, gets another name:
 *     <key>.replaced-<time>, or <key>.merged-<time> if it is empty; nothing is deleted.
 *  2. The store is renamed to the key of the new path. From now on it is found
 *     there, and refused by all other commands: it says that it belongs to the
 *     old path. No other store can be created in its place.
 *  3. Identity; the checkpoints of what waits in that place, copied, see
 *     repair_internal.h; manifest, audit line, configuration; last the path,
 *     which makes it this folder's store.
 *
 * After a crash at any point the same call continues where it stopped: the store is
 * also looked up by the path to which it says it belongs. If only the copying fails,
 * the store is adopted nevertheless, since the user may need it; `doctor --fix`
 * recovers what still waits.
 */
struct relink_result {
	char *from; /**< the old path; "" if it is unknown */
	char *to;
	char key[STORE_KEY_SIZE];
	size_t checkpoints; /**< that were adopted */
	size_t merged;      /**< that this folder already had, and that were added */
	bool incomplete;    /**< some of those were not added; a warning says why */
	struct strlist warnings;
};

/**
 * `name` is the old path, which need not exist, or the store's key. The session
 * has no store. CKPT_EREFUSED, unless `force`: the folder already has
 * checkpoints, the old path still leads to the folder of the checkpoints, or this
 * is a place that is not saved without --force; in any case: they are already
 * adopted, or a restore was interrupted and there are two stores. CKPT_ENOTFOUND:
 * no such store.
 */
int relink_store(struct relink_result *out, struct session *session, const char *name, bool force);
void relink_result_release(struct relink_result *result);

/*
 * In this folder:
 *
 *   doctor doctor_files doctor_restore  what is wrong with a store
 *   salvage relink          checkpoints of a store that another one replaced; the store of a moved folder
 */

#endif
