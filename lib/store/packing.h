/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKING_H
#define CKPT_STORE_PACKING_H

#include "base/base.h"

struct store;

/**
 * Which process packs. There is one at a time, which need not hold the store's
 * lock: saves go on meanwhile. What it reads must stay, so nothing is freed.
 */

/**
 * Be the only process that packs, until `*fd_out` is closed; CKPT_ELOCKED, naming the process, if
 * another does.
 */
int packing_lock(int *fd_out, struct store *store);

/**
 * Before something is removed for a budget: a process that packs would keep it
 * from being freed, so make it give up. CKPT_ELOCKED if it does not. The store
 * must be locked, so that no other starts.
 */
int packing_make_way(struct store *store);

/** For the process that packs: whether it was asked to give up. */
bool packing_must_yield(struct store *store);

/**
 * Forget a request left by a killed process. Both locks must be held: so no other process is
 * asking.
 */
void packing_forget(struct store *store);

#endif
