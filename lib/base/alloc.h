/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ALLOC_H
#define CKPT_BASE_ALLOC_H

#include "base/std.h"

/**
 * Allocation that cannot fail: if memory runs out, the program ends with a
 * message. That is safe because nothing this program does relies on an orderly
 * exit.
 */
void *xmalloc(size_t size);

/**
 * Call `fn` before the program ends. It must neither allocate nor take a lock; true if it has
 * already told why the program ends, so that nothing more is printed.
 */
void alloc_on_failure(bool (*fn)(void));

void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *str);

/** `ptr`, which a library has allocated; it ends the program as well if it is NULL. */
void *xhave(void *ptr);

/** Copy `len` bytes and append a NUL. */
char *xmemdupz(const void *data, size_t len);

char *xstrfmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The next capacity of an array that must hold at least `need` elements. */
size_t alloc_grow_size(size_t alloc, size_t need);

/** Make room for at least `need` elements in the array `ptr` of capacity `alloc`. */
#define ALLOC_GROW(ptr, need, alloc) \
	((ptr) = alloc_room((ptr), (need), &(alloc), sizeof(*(ptr))))

/** Count one more element of the array, and point to it: it has no value yet. */
#define ALLOC_NEXT(ptr, nr, alloc) (ALLOC_GROW(ptr, (nr) + 1, alloc), &(ptr)[(nr)++])

static inline void *alloc_room(void *ptr, size_t need, size_t *alloc, size_t size)
{
	if (need <= *alloc)
		return ptr;
	*alloc = alloc_grow_size(*alloc, need);
	return xrealloc(ptr, *alloc * size);
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * Search `nr` sorted elements: set `at`, a size_t, to the first index for which `before`, an
 * expression with `at`, is false, or to `nr`.
 */
#define LOWER_BOUND(at, nr, before)                                                         \
	do {                                                                                \
		size_t low_ = 0, high_ = (nr);                                              \
                                                                                            \
		while (low_ < high_) {                                                      \
			(at) = low_ + (high_ - low_) / 2;                                   \
			if (before)                                                         \
				low_ = (at) + 1;                                            \
			else                                                                \
				high_ = (at);                                               \
		}                                                                           \
		(at) = low_;                                                                \
	} while (0)

/* --- arenas --- */

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
