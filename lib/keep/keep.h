/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_RETENTION_H
#define CKPT_KEEP_RETENTION_H

/**
 * Which checkpoints go, and the bytes that this frees.
 *
 * This is what other folders include.
 */
#include "keep/evict.h"
#include "keep/reclaim.h"
#include "keep/retain.h"

/*
 * In this folder:
 *
 *   evict stock             which ones go; what is known of each
 *   retain drop             removing them by rules, for a save and to make room; by name
 *   reclaim gc              freeing bytes that nothing needs; packing tightly
 */

#endif
