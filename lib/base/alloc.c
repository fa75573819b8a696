/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdalign.h>

static bool (*on_failure)(void);

void alloc_on_failure(bool (*fn)(void))
{
	on_failure = fn;
}

/*
 * At once, and without memory or locks: whatever an orderly exit would call may need what this
 * thread, in the middle of a library, holds.
 */
static void *must(void *ptr, size_t size)
{
	char text[96];
	int len;

	if (ptr || !size)
		return ptr;
	if (on_failure && on_failure())
		_exit(128);
	len = snprintf(text, sizeof(text), "fatal: out of memory, tried to allocate %zu bytes\n", size);
	len = (int)write(STDERR_FILENO, text, (size_t)len);
	_exit(128);
}

void *xmalloc(size_t size)
{
	return must(malloc(size), size);
}

void *xcalloc(size_t count, size_t size)
{
	return must(calloc(count, size), count && size ? count : 0);
}

void *xrealloc(void *ptr, size_t size)
{
	return must(realloc(ptr, size), size);
}

void *xhave(void *ptr)
{
	return must(ptr, 1);
}

char *xstrdup(const char *str)
{
	return xmemdupz(str, strlen(str));
}

char *xmemdupz(const void *data, size_t len)
{
	char *copy = xmalloc(len + 1);

	if (len)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

char *xstrfmt(const char *fmt, ...)
{
	va_list ap;
	char *out = NULL;

	va_start(ap, fmt);
	if (vasprintf(&out, fmt, ap) < 0)
		out = NULL;
	va_end(ap);
	return must(out, 1);
}

size_t alloc_grow_size(size_t alloc, size_t need)
{
	size_t next = alloc < 16 ? 16 : alloc + alloc / 2;

	return next < need ? need : next;
}

/* --- arenas --- */

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

static void *take_bytes(struct arena *arena, size_t size, size_t align)
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
	return take_bytes(arena, size, alignof(max_align_t));
}

char *arena_memdupz(struct arena *arena, const void *data, size_t len)
{
	char *copy = take_bytes(arena, len + 1, 1);

	memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}
