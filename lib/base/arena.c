/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include "base/alloc.h"
#include "base/std.h"

#include <stdalign.h>

enum { BLOCK_SIZE = 256 * 1024 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	alignas(max_align_t) char data[];
};

void arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->used = 0;
}

static void *take(struct arena *arena, size_t size, size_t align)
{
	size_t at = (arena->used + align - 1) & ~(align - 1);
	struct arena_block *block = arena->blocks;

	if (!block || at + size > block->size) {
		size_t want = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		block = xmalloc(sizeof(*block) + want);
		block->size = want;
		block->next = arena->blocks;
		arena->blocks = block;
		at = 0;
	}
	arena->used = at + size;
	return block->data + at;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return take(arena, size, alignof(max_align_t));
}

char *arena_memdupz(struct arena *arena, const void *data, size_t len)
{
	char *copy = take(arena, len + 1, 1);

	memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}
