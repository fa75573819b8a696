/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_RESCUE_H
#define CKPT_STORE_RESCUE_H

#include "store/health.h"

struct store;

/**
 * Check every pack and index of the store: whether both exist, match each
 * other and have the checksums that they end with. All bytes are read.
 *
 * With `fix`, what can be read of a pack that is damaged, or has no index, is
 * written to a new one, each object under the name that its contents give;
 * then the old one goes: it is removed if nothing of it is lost, otherwise
 * moved to checkpoint/damaged/. If this is killed at any moment, nothing is
 * lost. The store must then be locked.
 */
int rescue_packs(struct problems *out, struct store *store, bool fix);

#endif
