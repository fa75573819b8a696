/* SPDX-License-Identifier: MIT */
#include "save/save_lines_internal.h"

#include "record/record.h"
#include "save/save.h"
#include "store/store.h"
#include "tree/tree.h"

/* --- two texts --- */

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

static void split_lines(struct lines *out, const char *text, size_t len)
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

static bool same_line(const struct line *a, const struct line *b)
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

			while (x < a_nr && y < b_nr && same_line(&a[x], &b[y])) {
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

static bool count_changed(struct linediff *out, struct lines *a, struct lines *b)
{
	const struct line *from, *to;
	size_t from_nr, to_nr, before = 0;
	long edits;

	while (before < a->nr && before < b->nr && same_line(&a->items[before], &b->items[before]))
		before++;
	from = a->items + before;
	to = b->items + before;
	from_nr = a->nr - before;
	to_nr = b->nr - before;
	while (from_nr && to_nr && same_line(&from[from_nr - 1], &to[to_nr - 1])) {
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

bool save_lines_add(struct linediff *out, const char *old, size_t old_len, const char *new,
		  size_t new_len)
{
	struct linediff found = { 0, 0 };
	struct seen in_old, in_new;
	struct lines a, b;
	bool known;

	if (is_binary(old, old_len) || is_binary(new, new_len))
		return true;
	split_lines(&a, old, old_len);
	split_lines(&b, new, new_len);
	seen_fill(&in_old, &a);
	seen_fill(&in_new, &b);
	found.removed = drop_unmatched(&a, &in_new);
	found.added = drop_unmatched(&b, &in_old);
	known = count_changed(&found, &a, &b);
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

/* --- a checkpoint and its base --- */

/*
 * Both sides are read again, so what is counted must be small; most saves are. More than this is
 * not a number that tells anything either.
 */
enum { MOST_FILES = 100, MOST_BYTES = 1 << 20 };

static bool is_file(unsigned mode)
{
	return S_ISREG(mode);
}

/* What is still allowed; false if this would be too much. */
static bool take_share(uint64_t *left, uint64_t bytes)
{
	if (bytes > *left)
		return false;
	*left -= bytes;
	return true;
}

static bool read_old(struct strbuf *out, uint64_t *left, struct store *store, const struct oid *oid)
{
	uint64_t size;

	return !objects_size(&size, store, oid) && take_share(left, size) &&
	       !objects_read(out, store, oid, OBJECT_BLOB);
}

/* Only if the file still has the contents that are saved. */
static bool read_new(struct strbuf *out, uint64_t *left, int rootfd, const struct change *change)
{
	int fd = beneath_open(rootfd, change->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	struct digest *sha1;
	struct stat st;
	struct oid oid;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && take_share(left, (uint64_t)st.st_size)) {
		strbuf_grow(out, (size_t)st.st_size);
		n = fs_read_full(fd, out->buf, (size_t)st.st_size);
	}
	close(fd);
	if (n < 0)
		return false;
	strbuf_setlen(out, (size_t)n);
	sha1 = hash_new(HASH_SHA1);
	hash_object(sha1, &oid, "blob", out->buf, out->len);
	hash_free(sha1);
	return oid_equal(&oid, &change->new_oid);
}

/* The target of a symbolic link is a line, as git counts it. */
static bool add_change(struct linediff *out, uint64_t *left, const struct save_job *save,
		       const struct change *change)
{
	struct strbuf old = STRBUF_INIT, new = STRBUF_INIT;
	bool known = true;

	if (change->is_dir || oid_equal(&change->old_oid, &change->new_oid))
		return true;
	if (is_file(change->old_mode))
		known = read_old(&old, left, save->store, &change->old_oid);
	else if (S_ISLNK(change->old_mode))
		out->removed++;
	if (known && is_file(change->new_mode))
		known = read_new(&new, left, save->current.scan->rootfd, change);
	else if (S_ISLNK(change->new_mode))
		out->added++;
	known = known && save_lines_add(out, old.buf, old.len, new.buf, new.len);
	strbuf_release(&old);
	strbuf_release(&new);
	return known;
}

void save_count_lines(struct ckpt_record *record, const struct save_job *save,
		      const struct compare_list *changes)
{
	struct linediff lines = { 0, 0 };
	uint64_t left = MOST_BYTES;

	/* Nobody looks at what a restore is about to overwrite as closely as at its speed. */
	if (save->opts->safety.target || changes->nr > MOST_FILES)
		return;
	for (size_t i = 0; i < changes->nr; i++)
		if (!add_change(&lines, &left, save, &changes->items[i]))
			return;
	record->added = (int64_t)lines.added;
	record->deleted = (int64_t)lines.removed;
}
