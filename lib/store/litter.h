/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LITTER_H
#define CKPT_STORE_LITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
enum litter_kind {
	LITTER_NONE, /**< not litter, whatever its age */
	LITTER_PID,  /**< made by the process whose pid is in its name */
	LITTER_TEMP, /**< open as long as a process works on it */
	LITTER_LOCK, /**< only its age tells whether it is abandoned */
	LITTER_SIDE, /**< beside a pack, and litter without it */
	LITTER_KEEP, /**< its contents tell who made it */
};

/** What a name in `dir` ("objects/pack", "objects/ab", "objects", ...) may be; a pure function. */
enum litter_kind litter_kind(const char *dir, const char *name, int64_t *pid_out);

/** Count the litter. Unless `dry_run`, remove it, for which the store must be locked. */
size_t litter_sweep(struct store *store, bool dry_run);

#endif
