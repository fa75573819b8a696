/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKING_H
#define CKPT_STORE_PACKING_H

#include <stdbool.h>

struct store;

/**
 * Who makes packs anew. There is one at a time, which need not hold the store's
 * lock: saves go on. What it reads must stay meanwhile, so nothing is freed.
 */

/** Be the only one that packs, until `*fd_out` is closed; CKPT_ELOCKED if another process does. */
int packing_lock(int *fd_out, struct store *store);

/**
 * Before something is let go for a budget: whoever packs would keep it from
 * being freed, so have that one give up. CKPT_ELOCKED if it does not. The store
 * must be locked, so that nobody begins anew.
 */
int packing_make_way(struct store *store);

/** For who packs: whether it was asked to give up. */
bool packing_must_yield(struct store *store);

/** Forget a request that one left which was killed. Both locks must be held: nobody is asking. */
void packing_forget(struct store *store);

#endif
