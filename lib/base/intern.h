/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_INTERN_H
#define CKPT_BASE_INTERN_H

#include "base/arena.h"
#include "base/std.h"

/**
 * Byte strings, each held once, by numbers from 1 on. All zero is an empty one. For one thread.
 */
struct intern {
	struct intern_item {
		const char *text; /**< with a NUL after it */
		size_t len;
	} *items; /**< of number n: items[n - 1] */
	size_t nr, alloc;
	size_t *slots; /**< numbers, at a position given by the bytes; 0: free */
	size_t slots_nr; /**< a power of two */
	struct arena arena;
};

/** The number of these bytes, which are added if they are new. */
size_t intern_add(struct intern *intern, const char *text, size_t len);

void intern_release(struct intern *intern);

#endif
