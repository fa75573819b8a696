/* SPDX-License-Identifier: MIT */
#include "base/linediff.h"

#include "base/alloc.h"
#include "base/std.h"

enum {
	BINARY_LOOK = 8000,
	MOST_EDITS = 1000,    /* the work grows with their square */
	MOST_STEPS = 2000000, /* comparisons of lines, some milliseconds */
};

struct line {
	const char *text;
	size_t len;
	uint64_t hash;
};

struct lines {
	struct line *items;
	size_t nr;
};

static bool is_binary(const char *text, size_t len)
{
	return len && memchr(text, '\0', len < BINARY_LOOK ? len : BINARY_LOOK);
}

static uint64_t hash_line(const char *text, size_t len)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

static void split(struct lines *out, const char *text, size_t len)
{
	size_t nr = 0, alloc = 0;

	out->items = NULL;
	for (const char *end = text + len; text < end; nr++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t line = newline ? (size_t)(newline + 1 - text) : (size_t)(end - text);

		ALLOC_GROW(out->items, nr + 1, alloc);
		out->items[nr] = (struct line){ text, line, hash_line(text, line) };
		text += line;
	}
	out->nr = nr;
}

static bool same(const struct line *a, const struct line *b)
{
	return a->hash == b->hash && a->len == b->len && !memcmp(a->text, b->text, a->len);
}

/* --- lines that cannot match: removed before the search --- */

/* A set of hashes, open addressing; a collision only costs time. */
struct seen {
	uint64_t *slots;
	size_t mask;
};

static void seen_fill(struct seen *out, const struct lines *lines)
{
	size_t size = 16;

	while (size < 2 * lines->nr)
		size *= 2;
	out->slots = xcalloc(size, sizeof(*out->slots));
	out->mask = size - 1;
	for (size_t i = 0; i < lines->nr; i++) {
		uint64_t hash = lines->items[i].hash | 1;
		size_t at = (size_t)(hash >> 7) & out->mask;

		while (out->slots[at] && out->slots[at] != hash)
			at = (at + 1) & out->mask;
		out->slots[at] = hash;
	}
}

static bool seen_has(const struct seen *seen, const struct line *line)
{
	uint64_t hash = line->hash | 1;
	size_t at = (size_t)(hash >> 7) & seen->mask;

	while (seen->slots[at] && seen->slots[at] != hash)
		at = (at + 1) & seen->mask;
	return seen->slots[at] == hash;
}

/* Returns how many lines of `lines` the others do not have. */
static size_t drop_unmatched(struct lines *lines, const struct seen *others)
{
	size_t kept = 0, all = lines->nr;

	for (size_t i = 0; i < all; i++)
		if (seen_has(others, &lines->items[i]))
			lines->items[kept++] = lines->items[i];
	lines->nr = kept;
	return all - kept;
}

/* --- the search --- */

/*
 * Myers' greedy search: how many single-line edits turn `a` into `b`; -1 if there are too many.
 * far[k] is how far into `a` the best path on diagonal k gets.
 */
static long count_edits(const struct line *a, size_t a_nr, const struct line *b, size_t b_nr)
{
	size_t *storage = xcalloc(2 * MOST_EDITS + 3, sizeof(*storage));
	size_t *far = storage + MOST_EDITS + 1, steps = 0;
	long found = -1;

	for (long edits = 0; edits <= MOST_EDITS && found < 0 && steps < MOST_STEPS; edits++) {
		for (long k = -edits; k <= edits && found < 0; k += 2) {
			bool down = k == -edits || (k != edits && far[k - 1] < far[k + 1]);
			size_t x = down ? far[k + 1] : far[k - 1] + 1;
			size_t y = (size_t)((long)x - k);

			while (x < a_nr && y < b_nr && same(&a[x], &b[y])) {
				x++;
				y++;
				steps++;
			}
			steps++;
			far[k] = x;
			if (x >= a_nr && y >= b_nr)
				found = edits;
		}
	}
	free(storage);
	return found;
}

static bool count(struct linediff *out, struct lines *a, struct lines *b)
{
	const struct line *from, *to;
	size_t from_nr, to_nr, before = 0;
	long edits;

	while (before < a->nr && before < b->nr && same(&a->items[before], &b->items[before]))
		before++;
	from = a->items + before;
	to = b->items + before;
	from_nr = a->nr - before;
	to_nr = b->nr - before;
	while (from_nr && to_nr && same(&from[from_nr - 1], &to[to_nr - 1])) {
		from_nr--;
		to_nr--;
	}
	edits = count_edits(from, from_nr, to, to_nr);
	if (edits < 0)
		return false;
	/* added - removed = to_nr - from_nr, and added + removed = edits */
	out->added += ((size_t)edits + to_nr - from_nr) / 2;
	out->removed += ((size_t)edits + from_nr - to_nr) / 2;
	return true;
}

bool linediff_add(struct linediff *out, const char *old, size_t old_len, const char *new,
		  size_t new_len)
{
	struct linediff found = { 0, 0 };
	struct seen in_old, in_new;
	struct lines a, b;
	bool known;

	if (is_binary(old, old_len) || is_binary(new, new_len))
		return true;
	split(&a, old, old_len);
	split(&b, new, new_len);
	seen_fill(&in_old, &a);
	seen_fill(&in_new, &b);
	found.removed = drop_unmatched(&a, &in_new);
	found.added = drop_unmatched(&b, &in_old);
	known = count(&found, &a, &b);
	if (known) {
		out->added += found.added;
		out->removed += found.removed;
	}
	free(in_old.slots);
	free(in_new.slots);
	free(a.items);
	free(b.items);
	return known;
}
