/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_RELINK_H
#define CKPT_REPAIR_RELINK_H

#include "base/base.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct session;

/**
 * Adopting the store of a folder that was moved. What is written, in this
 * order, with the store and the home locked:
 *
 *  1. The store that the new path has, if there is one, gets another name:
 *     <key>.replaced-<time> if it is empty, else that of one that was set aside,
 *     see store/health.h; nothing is deleted.
 *  2. The store is renamed to the key of the new path. From now on it is found
 *     there, and by everybody else refused: it says that it belongs to the old
 *     path. No other store can come into being in its place.
 *  3. Identity; the checkpoints of what was set aside in that place, copied, see
 *     ops/salvage.h; manifest, audit line, configuration; at last the path,
 *     which makes it this folder's store.
 *
 * After a crash at any point the same call again goes on where it ended: the
 * store is looked for by the path that it says it belongs to, too. If only the
 * copying fails, the store is adopted all the same, since it is what the user
 * may need; what is still set aside `doctor --fix` brings back.
 */
struct relink_result {
	char *from; /**< the old path; "" if it cannot be told */
	char *to;
	char key[STORE_KEY_SIZE];
	size_t checkpoints; /**< that were adopted */
	size_t merged;      /**< that this folder had, and were added to them */
	bool incomplete;    /**< some of those were not; a warning says why */
	struct strlist warnings;
};

/**
 * `name` is the old path, which need not exist, or the store's key. The session
 * is one without a store. CKPT_EREFUSED, unless `force`: the folder has
 * checkpoints of its own, the old path still leads to the folder of the
 * checkpoints, or this is no place to be saved; in any case: they are adopted
 * already, or a restore was interrupted and there are two stores. CKPT_ENOTFOUND:
 * no such store.
 */
int relink_store(struct relink_result *out, struct session *session, const char *name, bool force);
void relink_result_release(struct relink_result *result);

#endif
