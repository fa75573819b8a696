/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ARENA_H
#define CKPT_BASE_ARENA_H

#include "base/std.h"

/**
 * Memory for many small objects that are freed together. Not safe to share
 * between threads: give each worker its own. Start with ARENA_INIT.
 */
struct arena {
	struct arena_block *blocks;
	size_t used; /**< bytes used in the first block */
};

#define ARENA_INIT { NULL, 0 }

void arena_release(struct arena *arena);

/** `size` bytes, aligned for anything, not cleared. */
void *arena_alloc(struct arena *arena, size_t size);

/** A copy of `len` bytes followed by a NUL, not aligned. */
char *arena_memdupz(struct arena *arena, const void *data, size_t len);

#endif
