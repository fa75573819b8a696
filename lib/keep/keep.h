/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_RETENTION_H
#define CKPT_KEEP_RETENTION_H

/**
 * Which checkpoints go, and the bytes that this frees.
 *
 * This is what other folders include.
 */
#include "keep/drop.h"
#include "keep/evict.h"
#include "keep/gc.h"
#include "keep/hold.h"
#include "keep/reclaim.h"
#include "keep/retain.h"

#endif
