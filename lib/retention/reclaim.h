/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RETENTION_RECLAIM_H
#define CKPT_RETENTION_RECLAIM_H

#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reach;
struct session;
struct store;

/**
 * Giving back the bytes of what no checkpoint needs any more. Deleting a ref
 * frees nothing yet: its objects lie in packs beside those of others. Packs
 * without a needed object are removed; of those with some, the needed ones are
 * copied into a new pack first, which is durable before the old one goes.
 */
enum { RECLAIM_PACKS_MAX = 50 }; /**< more are merged */

enum reclaim_effort {
	RECLAIM_FREE,     /**< only remove what nobody needs */
	RECLAIM_MERGE,    /**< after a save: small packs into one; nothing is looked for to remove */
	RECLAIM_QUICK,    /**< after a save: in a fraction of a second, or not at all */
	RECLAIM_THOROUGH, /**< for a budget: everything worth the copying */
	RECLAIM_ALL,      /**< after a drop or prune: however little it gives back */
};

struct reclaim_result {
	uint64_t before, after; /**< bytes of the store on disk */
	bool postponed;         /**< something is left to do that `gc` can do */
	char why[256];          /**< what kept it from being done, if that was a failure */
};

/** The store must be locked. Nothing is lost if it fails. */
int reclaim_run(struct reclaim_result *out, struct session *session, enum reclaim_effort effort);

/**
 * Everything that must not be thrown away beside the checkpoints `refs`: other
 * refs that somebody made in the store, checkpoints that lost their ref. Added
 * to `reach` as belonging to `owner`.
 */
int reclaim_add_others(struct reach *reach, struct session *session, uint32_t owner);

/* --- parts, for gc.c --- */

/**
 * All that is needed. NULL if that is not known because something is damaged, or
 * if it takes more than `seconds` (0: no limit): then everything counts as
 * needed.
 */
int reclaim_reach(struct reach **out, struct session *session, double seconds);

/** Around a change of packs that loses nothing: the stat cache stays good. */
uint64_t reclaim_cache_before(struct store *store);
void reclaim_cache_after(struct store *store, uint64_t before);

#endif
