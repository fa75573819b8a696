/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RETENTION_RETENTION_H
#define CKPT_RETENTION_RETENTION_H

/**
 * Which checkpoints go, and the bytes that this frees.
 *
 * This is what other folders include.
 */
#include "retention/drop.h"
#include "retention/evict.h"
#include "retention/gc.h"
#include "retention/hold.h"
#include "retention/reclaim.h"
#include "retention/retain.h"

#endif
