/* SPDX-License-Identifier: MIT */
#include "base/std.h"
#ifndef CKPT_BASE_ALLOC_H
#define CKPT_BASE_ALLOC_H

/**
 * Allocation that cannot fail: if memory runs out, the program ends with a
 * message. That is safe because nothing this program does relies on an orderly
 * exit.
 */
void *xmalloc(size_t size);

/** Call `fn` once before the program ends. It must neither allocate nor take a lock. */
void alloc_on_failure(void (*fn)(void));

void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *str);

/** Copy `len` bytes and append a NUL. */
char *xmemdupz(const void *data, size_t len);

char *xstrfmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The next capacity of an array that must hold at least `need` elements. */
size_t alloc_grow_size(size_t alloc, size_t need);

/** Make room for at least `need` elements in the array `ptr` of capacity `alloc`. */
#define ALLOC_GROW(ptr, need, alloc)                                                        \
	do {                                                                                \
		if ((need) > (alloc)) {                                                     \
			(alloc) = alloc_grow_size((alloc), (need));                         \
			(ptr) = xrealloc((ptr), (alloc) * sizeof(*(ptr)));                  \
		}                                                                           \
	} while (0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
