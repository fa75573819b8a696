/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_PROBLEMS_H
#define CKPT_BASE_PROBLEMS_H

#include "base/std.h"

/** What is wrong, in sentences, and whether it was fixed. All zero is an empty list. */
struct problem {
	char *what;
	bool fixed;
};

struct problems {
	struct problem *items;
	size_t nr, alloc;
};

void problems_addf(struct problems *list, bool fixed, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Remove all but the first `nr`. */
void problems_truncate(struct problems *list, size_t nr);
void problems_release(struct problems *list);

#endif
