/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_HEALTH_H
#define CKPT_STORE_HEALTH_H

#include "base/base.h"

struct store;

/**
 * The health of a store's own files: directories, HEAD, config, info/,
 * checkpoint/version, checkpoint/worktree. Cheap: a few small files are read,
 * but no object.
 *
 * There is one rule: what differs from the layout is written again. What
 * stands in the place of a file or directory is kept, as <name>.damaged.
 */

/**
 * Look, and change nothing: a sentence about each thing that is wrong is added
 * to `out`. CKPT_ERROR if the store has another format, belongs to another
 * worktree, or cannot be read.
 */
int health_check(struct strlist *out, struct store *store);

/** CKPT_ERROR if the store has another format, which is a part of what health_check() looks at. */
int health_check_version(const struct store *store);

/** Repair all of it; the store must be locked. What cannot be written stays as it is. */
void health_repair(struct store *store);

/** For layout_create(): the same in an empty directory. Fails if something cannot be written. */
int health_make(struct store *store);

/** For store_lock(), if there is no lock to be opened: make it again, alone in this home. */
void health_repair_lock(struct store *store);

/* --- packs; in rescue.c --- */

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

/* --- litter; in litter.c --- */

/**
 * What a killed git leaves in a store, whether ours while packing or the
 * user's: half-written packs and objects, locks. (Our own temporaries are
 * removed by whoever takes the lock, see fs_sweep_temps().)
 *
 * It is removed if the process whose pid is in its name is dead, or, without a
 * pid, if no process has it open; and in any case once it is more than a day
 * old. A .keep stays, since somebody asked for it, unless it is from a fetch
 * or push into the store that died.
 *
 * Returns how much there is. Unless `dry_run`, it is removed, for which the store must be locked.
 */
size_t litter_sweep(struct store *store, bool dry_run);

#endif
