/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_ROOM_INTERNAL_H
#define CKPT_SAVE_SAVE_ROOM_INTERNAL_H

#include "base/base.h"

struct save_job;

/** The space that a save needs below maxSize, and making room for it; for save.c alone. */

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

#endif
