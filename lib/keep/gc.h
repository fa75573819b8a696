/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_GC_H
#define CKPT_KEEP_GC_H

#include "keep/reclaim.h"

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

#endif
