/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_RECLAIM_H
#define CKPT_KEEP_RECLAIM_H

#include "store/store.h"

struct session;

/**
 * Freeing the bytes that no checkpoint needs any more. Deleting a ref alone
 * frees nothing: its objects share packs with others. Packs without a needed
 * object are removed; of the others, the needed objects are first copied into
 * a new pack, which is durable before the old one goes.
 */
enum { RECLAIM_PACKS_MAX = 50 }; /**< more are merged */

enum reclaim_effort {
	RECLAIM_FREE,     /**< only remove what nothing needs */
	RECLAIM_MERGE,    /**< after a save: merge small packs; do not look for anything to remove */
	RECLAIM_QUICK,    /**< after a save: in a fraction of a second, or not at all */
	RECLAIM_THOROUGH, /**< for a budget: everything that is worth the copying */
	RECLAIM_ALL,      /**< after a drop or prune: however little it frees */
};

struct reclaim_result {
	uint64_t before, after; /**< bytes of the store on disk */
	bool postponed;         /**< `gc` can do more */
	char why[256];          /**< what kept it from being done, after a failure */
};

/** The store must be locked. Nothing is lost if this fails. */
int reclaim_run(struct reclaim_result *out, struct session *session, enum reclaim_effort effort);

/**
 * Everything besides the checkpoints `refs` that must not be deleted: other
 * refs that people made in the store, checkpoints that lost their ref. Added
 * to `reach` as belonging to `owner`.
 */
int reclaim_add_others(struct reach *reach, struct session *session, uint32_t owner);

/** Remove keepers of what is gone, and of processes that are: see store/keepers.h. */
int reclaim_sweep_keepers(struct session *session);

/* --- gc.c --- */

/**
 * Packing a whole store tightly: everything that is needed in one pack, with
 * deltas, the rest removed.
 *
 * What is not needed is removed first, so that it works on a full disk. The
 * long part, making the new pack, is done without the store's lock; saves go on
 * meanwhile. Then, with the lock, the new pack is moved into place, and each
 * old one goes unless a checkpoint taken meanwhile needs something that only it
 * has. Killed at any point, it leaves everything that was there, and perhaps a
 * temporary that the next run removes.
 */
struct gc_result {
	uint64_t before, after; /**< bytes of the store on disk */
	size_t packs;
	bool damaged; /**< something cannot be read: nothing was deleted */
	char why[256]; /**< what kept it from packing everything; "" if nothing did */
};

/**
 * `show`: show progress of the long part on stderr. CKPT_ELOCKED: another process is packing, or
 * holds the store's lock for too long.
 */
int gc_store(struct gc_result *out, struct session *session, bool show);

/* --- parts, for gc.c --- */

/**
 * Everything that is needed. NULL if that is unknown because something is
 * damaged, or if it takes more than `seconds` (0: no limit): then everything
 * counts as needed.
 */
int reclaim_reach(struct reach **out, struct session *session, double seconds);

/** Before and after a change of packs that loses nothing, so that the stat cache stays valid. */
uint64_t reclaim_cache_before(struct store *store);
void reclaim_cache_after(struct store *store, uint64_t before);

#endif
