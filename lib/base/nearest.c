/* SPDX-License-Identifier: MIT */
#include "base/strlist.h"

size_t nearest_distance(const char *a, const char *b)
{
	size_t width = strlen(b), result;
	size_t *row = xcalloc(width + 1, sizeof(*row));

	for (size_t k = 0; k <= width; k++)
		row[k] = k;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t before = row[0];

		row[0] = i;
		for (size_t k = 1; k <= width; k++) {
			size_t above = row[k], best = before;

			if (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[k - 1]))
				best++;
			if (above + 1 < best)
				best = above + 1;
			if (row[k - 1] + 1 < best)
				best = row[k - 1] + 1;
			row[k] = best;
			before = above;
		}
	}
	result = row[width];
	free(row);
	return result;
}

const char *nearest_word(const char *word, const char *const *words, size_t nr)
{
	/* With this much replaced, it is another word. */
	size_t len = strlen(word), best = 2 * (len < 4 ? len / 2 + 1 : len / 3 + 2) - 1;
	const char *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		/* People begin a word as they mean it: "prun" is "prune", not "run". */
		size_t begins = tolower((unsigned char)*word) == tolower((unsigned char)*words[i]);
		size_t distance = 2 * nearest_distance(word, words[i]) + !begins;

		if (distance < best) {
			best = distance;
			found = words[i];
		}
	}
	return found;
}
