/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_INTERNAL_H
#define CKPT_SAVE_SAVE_INTERNAL_H

#include "save/save.h"

/* --- save.c --- */

/**
 * --every and --min-interval: whether a requested save is due. Exact, because
 * the lock is held, however many processes call at once.
 *
 * Calls with --every are counted separately for each source and number. With
 * both options, a turn that comes too early passes to the next call. If the
 * program is killed, or the count is lost or outdated, an extra checkpoint may
 * be taken, but none is missed. For that, counting starts over when the
 * machine is restarted.
 */
int save_is_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest);

/**
 * Count the call, `due` or not, once it is done: a save that failed does not
 * use up the turn.
 */
void save_count_call(struct store *store, const struct save_opts *opts, bool due);

/* --- save_create.c --- */

/** Write the record and make the ref. */
int save_create(struct save_result *out, struct save_job *job);

/* --- save_room.c: the space that a save needs below maxSize, and making room for it --- */

/**
 * Bytes that it takes at most, after the scan. What the scan does not know
 * counts with its full size, what it knows only if the store does not have it.
 */
uint64_t save_room_needed(const struct save_job *save);

/** Bytes still to be written after the pack. */
uint64_t save_room_beside(const struct save_job *save);

/**
 * Evict what must go before anything is written. Sets `room` and, if there is
 * not enough, `no_room`; lists the refs again. Afterwards no caller may rely
 * on objects that existed before.
 */
int save_room_make(struct save_job *save);

/* --- save_sibling.c --- */

/**
 * The first checkpoint of a worktree whose repository has other worktrees: most of its contents are in
 * the store of one of them. Link the packs that it will need; after a scan, with the store locked.
 *
 * This only saves space and writing: every file is read, and whatever is missing, damaged or in doubt
 * is stored, as if there were no other worktree. The other store is only read, without its lock.
 */
void save_sibling_share(struct save_job *job);

#endif
