/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LITTER_H
#define CKPT_STORE_LITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/**
 * What a git that was killed leaves in a store, ours while it packed or the
 * user's own: half-written packs and objects, locks. (Our own temporaries are
 * swept by whoever takes the lock, see fs_sweep_temps().)
 *
 * It goes if the process whose pid is in its name is dead. One without a pid
 * goes if nobody has it open. Whatever it is, it goes when it is over a day
 * old. A .keep stays, for somebody wants it, unless it is that of a fetch or
 * push into the store that died.
 */
enum litter_kind {
	LITTER_NONE, /**< not litter, whatever its age */
	LITTER_PID,  /**< made by the process whose pid is in its name */
	LITTER_TEMP, /**< open as long as somebody is at work on it */
	LITTER_LOCK, /**< nothing tells whose it is but its age */
	LITTER_SIDE, /**< beside a pack, and litter without it */
	LITTER_KEEP, /**< its contents tell who made it */
};

/** What a name in `dir` ("objects/pack", "objects/ab", "objects", ...) may be; pure. */
enum litter_kind litter_kind(const char *dir, const char *name, int64_t *pid_out);

/** How many there are. Unless `dry_run`, they are removed: for that the store must be locked. */
size_t litter_sweep(struct store *store, bool dry_run);

#endif
