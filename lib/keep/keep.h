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
#include "keep/reclaim.h"
#include "keep/retain.h"

/*
 * In this folder:
 *
 *   evict stock             which ones go; what is known of each
 *   retain retain_save retain_fetched  removing them by rules; for a save, and room for it in the
 *                           budget; those of other machines
 *   drop tally              removing them by name; what saves note so that most need not look
 *   reclaim gc              freeing bytes that nothing needs; packing tightly
 */

#endif
