/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LITTER_H
#define CKPT_STORE_LITTER_H

#include "base/base.h"

struct store;

/**
 * What a killed git leaves in a store, whether ours while packing or the
 * user's: half-written packs and objects, locks. (Our own temporaries are
 * removed by whoever takes the lock, see fs_sweep_temps().)
 *
 * It is removed if the process whose pid is in its name is dead, or, without a
 * pid, if no process has it open; and in any case once it is more than a day
 * old. A .keep stays, since somebody asked for it, unless it is from a fetch
 * or push into the store that died.
 */
/** Count the litter. Unless `dry_run`, remove it, for which the store must be locked. */
size_t litter_sweep(struct store *store, bool dry_run);

#endif
