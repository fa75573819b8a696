/* SPDX-License-Identifier: MIT */
#include "run/run.h"

/* The last good one before the first bad one, and that one. */
static void find_bounds(size_t *good, size_t *bad, const enum bisect_verdict *verdicts, size_t nr)
{
	*good = 0;
	for (*bad = 0; *bad + 1 < nr && verdicts[*bad] != BISECT_BAD; ++*bad)
		if (verdicts[*bad] == BISECT_GOOD)
			*good = *bad;
}

size_t bisect_next(const enum bisect_verdict *verdicts, size_t nr)
{
	size_t good, bad, best = nr, distance = SIZE_MAX;

	find_bounds(&good, &bad, verdicts, nr);
	/* What was skipped is passed over: the nearest to the middle that can be asked. */
	for (size_t i = good + 1; i < bad; i++) {
		size_t middle = good + (bad - good) / 2, off = i < middle ? middle - i : i - middle;

		if (verdicts[i] == BISECT_UNKNOWN && off < distance) {
			best = i;
			distance = off;
		}
	}
	return best;
}

size_t bisect_range(size_t *first_out, const enum bisect_verdict *verdicts, size_t nr)
{
	size_t good, bad;

	find_bounds(&good, &bad, verdicts, nr);
	*first_out = good + 1;
	return bad;
}

unsigned bisect_steps(const enum bisect_verdict *verdicts, size_t nr)
{
	size_t good, bad, left = 0;
	unsigned steps = 0;

	find_bounds(&good, &bad, verdicts, nr);
	for (size_t i = good + 1; i < bad; i++)
		left += verdicts[i] == BISECT_UNKNOWN;
	for (; left; left /= 2)
		steps++;
	return steps;
}
