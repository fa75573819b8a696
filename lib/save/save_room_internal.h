/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_ROOM_INTERNAL_H
#define CKPT_SAVE_SAVE_ROOM_INTERNAL_H

#include <stdint.h>

struct save_job;

/** The room that a save needs below maxSize, and making it; for save.c alone. */

/**
 * Bytes that it takes at most, after the scan. What the scan does not know
 * counts with its size, what it knows if the store does not have it.
 */
uint64_t save_room_needed(const struct save_job *save);

/** Bytes that are still to be written when the pack is there. */
uint64_t save_room_beside(const struct save_job *save);

/**
 * Evict what must go before it is written. Sets `room` and, if there is none,
 * `no_room`; lists the refs anew. Nobody may rely on objects that were there.
 */
int save_room_make(struct save_job *save);

#endif
