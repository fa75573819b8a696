/* SPDX-License-Identifier: MIT */
/*
 * Which added files are deleted ones under another name, by git's measure: the contents are
 * cut into lines (long ones into pieces), and what counts is how many bytes of the old file
 * are in pieces that the new one has, too, as a part of the larger of the two.
 *
 * In this order: files that are the same; then those whose base name occurs once on both
 * sides, which must be rather similar; then everything else, the best pair first.
 */
#include "look/diff.h"

enum {
	PIECE = 64, /* most bytes of a piece */
	BINARY_LOOK = 8000,
	CANDIDATES = 4, /* pairs that are remembered of each new file */
	MOST_PAIRS = 1000 * 1000,
};

#define EMPTY_BLOB "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

struct piece {
	uint64_t hash;
	size_t bytes;
};

/* A file that was added or deleted. */
struct file {
	struct change *change;
	bool used; /* it is part of a rename */
	bool loaded;
	size_t size;
	struct piece *pieces; /* sorted, each once */
	size_t nr;
};

struct files {
	struct file *items;
	size_t nr;
};

struct search {
	struct diff *diff;
	unsigned least; /* score */
	struct files old, new;
};

struct candidate {
	struct file *old, *new;
	unsigned score;
	bool same_name;
	size_t order;
};

static const char *base_name(const struct file *file)
{
	return path_base(file->change->path);
}

static bool is_empty(const struct change *change)
{
	const struct oid *oid = change->kind == CHANGE_ADDED ? &change->new_oid : &change->old_oid;
	char hex[OID_HEX + 1];

	return !strcmp(oid_hex(hex, oid), EMPTY_BLOB);
}

static void collect_files(struct files *out, struct compare_list *list, enum change_kind kind,
			  bool no_empty)
{
	out->items = xcalloc(list->nr + 1, sizeof(*out->items));
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].kind == kind && !list->items[i].is_dir &&
		    !(no_empty && is_empty(&list->items[i])))
			out->items[out->nr++].change = &list->items[i];
}

static void files_release(struct files *files)
{
	for (size_t i = 0; i < files->nr; i++)
		free(files->items[i].pieces);
	free(files->items);
}

static unsigned mode_of(const struct file *file)
{
	return file->change->old_mode | file->change->new_mode;
}

static const struct oid *oid_of(const struct file *file)
{
	return file->change->kind == CHANGE_ADDED ? &file->change->new_oid : &file->change->old_oid;
}

/* The deleted one goes when all are found. */
static void join_pair(struct file *old, struct file *new, unsigned score)
{
	struct change *to = new->change;

	old->used = new->used = true;
	to->from = old->change->path;
	to->old_mode = old->change->old_mode;
	to->old_oid = old->change->old_oid;
	to->similarity = score * 100 / RENAMES_SCORE_MAX;
}

/* ---- the same contents ---- */

static int by_oid(const void *a, const void *b)
{
	const struct file *one = *(struct file *const *)a, *other = *(struct file *const *)b;
	int cmp = memcmp(oid_of(one), oid_of(other), sizeof(struct oid));

	return cmp ? cmp : one < other ? -1 : one > other;
}

static struct file *find_same(struct file **sorted, size_t nr, const struct file *new)
{
	struct file *best = NULL;
	size_t at;

	LOWER_BOUND(at, nr, memcmp(oid_of(sorted[at]), oid_of(new), sizeof(struct oid)) < 0);
	for (; at < nr && oid_equal(oid_of(sorted[at]), oid_of(new)); at++) {
		struct file *old = sorted[at];

		if (old->used || (mode_of(old) & S_IFMT) != (mode_of(new) & S_IFMT))
			continue;
		if (!strcmp(base_name(old), base_name(new)))
			return old;
		best = best ? best : old;
	}
	return best;
}

static void join_same(struct search *search)
{
	struct file **sorted = xcalloc(search->old.nr + 1, sizeof(*sorted));

	for (size_t i = 0; i < search->old.nr; i++)
		sorted[i] = &search->old.items[i];
	qsort(sorted, search->old.nr, sizeof(*sorted), by_oid);
	for (size_t i = 0; i < search->new.nr; i++) {
		struct file *new = &search->new.items[i];
		struct file *old = find_same(sorted, search->old.nr, new);

		if (old)
			join_pair(old, new, RENAMES_SCORE_MAX);
	}
	free(sorted);
}

/* ---- similar contents ---- */

static int by_hash(const void *a, const void *b)
{
	const struct piece *one = a, *other = b;

	return one->hash < other->hash ? -1 : one->hash > other->hash;
}

static void sum_up(struct file *file)
{
	size_t kept = 0;

	if (file->nr)
		qsort(file->pieces, file->nr, sizeof(*file->pieces), by_hash);
	for (size_t i = 0; i < file->nr; i++) {
		if (kept && file->pieces[kept - 1].hash == file->pieces[i].hash)
			file->pieces[kept - 1].bytes += file->pieces[i].bytes;
		else
			file->pieces[kept++] = file->pieces[i];
	}
	file->nr = kept;
}

/* In text, the CR of a CRLF does not count. */
static void cut_text(struct file *file, const struct strbuf *text)
{
	size_t look = text->len < BINARY_LOOK ? text->len : BINARY_LOOK, bytes = 0, alloc = 0;
	bool binary = memchr(text->buf, 0, look);
	uint64_t hash = 0;

	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->buf[i];
		bool last = i + 1 == text->len;

		if (binary || c != '\r' || last || text->buf[i + 1] != '\n') {
			hash = (hash ^ c) * 0x100000001b3u + 0x9e3779b97f4a7c15u;
			bytes++;
		}
		if (!bytes || (bytes < PIECE && c != '\n' && !last))
			continue;
		*ALLOC_NEXT(file->pieces, file->nr, alloc) = (struct piece){ hash, bytes };
		hash = bytes = 0;
	}
	sum_up(file);
}

static int load_file(struct search *search, struct file *file)
{
	bool added = file->change->kind == CHANGE_ADDED;
	struct strbuf text = STRBUF_INIT;
	uint64_t too_large;
	int err;

	if (file->loaded)
		return 0;
	file->loaded = true;
	if (!S_ISREG(mode_of(file)))
		return 0;
	err = diff_content(&text, &too_large, search->diff, file->change,
			   added ? DIFF_NEW : DIFF_OLD);
	if (!err) {
		file->size = text.len;
		cut_text(file, &text);
	}
	strbuf_release(&text);
	return err;
}

static size_t common_bytes(const struct file *a, const struct file *b)
{
	size_t i = 0, j = 0, bytes = 0;

	while (i < a->nr && j < b->nr) {
		const struct piece *one = &a->pieces[i], *other = &b->pieces[j];

		if (one->hash == other->hash)
			bytes += one->bytes < other->bytes ? one->bytes : other->bytes;
		i += one->hash <= other->hash;
		j += one->hash >= other->hash;
	}
	return bytes;
}

/* 0: not similar enough, or not comparable. */
static int score_of(unsigned *out, struct search *search, struct file *old, struct file *new)
{
	size_t larger, smaller;
	int err;

	*out = 0;
	err = load_file(search, old);
	if (!err)
		err = load_file(search, new);
	if (err || !old->size || !new->size)
		return err;
	larger = old->size > new->size ? old->size : new->size;
	smaller = old->size > new->size ? new->size : old->size;
	if (larger * (RENAMES_SCORE_MAX - search->least) < (larger - smaller) * RENAMES_SCORE_MAX)
		return 0;
	*out = (unsigned)(common_bytes(old, new) * RENAMES_SCORE_MAX / larger);
	return 0;
}

/* ---- by name ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(base_name(*(struct file *const *)a), base_name(*(struct file *const *)b));
}

/* The unused files whose base name no other one has, sorted by it. */
static struct file **lone_names(size_t *nr_out, struct files *files)
{
	struct file **all = xcalloc(files->nr + 1, sizeof(*all));
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < files->nr; i++)
		if (!files->items[i].used)
			all[nr++] = &files->items[i];
	qsort(all, nr, sizeof(*all), by_name);
	for (size_t i = 0, next; i < nr; i = next) {
		struct file *first = all[i];

		for (next = i + 1; next < nr && !by_name(&first, &all[next]); next++)
			;
		if (next == i + 1)
			all[kept++] = first;
	}
	*nr_out = kept;
	return all;
}

static int join_by_name(struct search *search)
{
	unsigned least = search->least + (RENAMES_SCORE_MAX - search->least) / 2, score;
	size_t old_nr, new_nr, i = 0, j = 0;
	struct file **old = lone_names(&old_nr, &search->old);
	struct file **new = lone_names(&new_nr, &search->new);
	int err = 0;

	while (i < old_nr && j < new_nr && !err) {
		int cmp = by_name(&old[i], &new[j]);

		if (!cmp) {
			err = score_of(&score, search, old[i], new[j]);
			if (!err && score >= least)
				join_pair(old[i], new[j], score);
		}
		i += cmp <= 0;
		j += cmp >= 0;
	}
	free(old);
	free(new);
	return err;
}

/* ---- the rest ---- */

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	return a->score != b->score ? a->score > b->score : a->same_name && !b->same_name;
}

static int by_score(const void *a, const void *b)
{
	const struct candidate *one = a, *other = b;

	if (is_better(one, other) || is_better(other, one))
		return is_better(one, other) ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

/* The best candidates for one new file, in `out`; returns how many. */
static int find_candidates(struct candidate *out, size_t *nr_out, struct search *search,
			   struct file *new)
{
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < search->old.nr && !err; i++) {
		struct candidate one = { .old = &search->old.items[i], .new = new, .order = i };
		size_t worst = 0;

		if (one.old->used)
			continue;
		one.same_name = !strcmp(base_name(one.old), base_name(new));
		err = score_of(&one.score, search, one.old, new);
		if (err || one.score < search->least || !one.score)
			continue;
		for (size_t k = 1; k < nr; k++)
			worst = is_better(&out[worst], &out[k]) ? k : worst;
		if (nr < CANDIDATES)
			out[nr++] = one;
		else if (is_better(&one, &out[worst]))
			out[worst] = one;
	}
	*nr_out = nr;
	return err;
}

static size_t count_unused(const struct files *files)
{
	size_t nr = 0;

	for (size_t i = 0; i < files->nr; i++)
		nr += !files->items[i].used;
	return nr;
}

static int join_similar(struct search *search, bool *too_many_out)
{
	size_t wanted = count_unused(&search->new), nr = 0;
	struct candidate *all;
	int err = 0;

	if (wanted && count_unused(&search->old) > MOST_PAIRS / wanted) {
		*too_many_out = true;
		return 0;
	}
	all = xcalloc(wanted * CANDIDATES + 1, sizeof(*all));
	for (size_t i = 0; i < search->new.nr && !err; i++) {
		size_t found = 0;

		if (search->new.items[i].used)
			continue;
		err = cancel_check();
		if (!err)
			err = find_candidates(all + nr, &found, search, &search->new.items[i]);
		for (size_t k = nr; k < nr + found; k++)
			all[k].order += i * (search->old.nr + 1);
		nr += found;
	}
	if (!err)
		qsort(all, nr, sizeof(*all), by_score);
	for (size_t i = 0; i < nr && !err; i++)
		if (!all[i].old->used && !all[i].new->used)
			join_pair(all[i].old, all[i].new, all[i].score);
	free(all);
	return err;
}

/* Sorted out of the list: the deleted ones that were renamed. Their paths belong to the others. */
static bool has_path(struct change *change, void *payload UNUSED)
{
	return change->path != NULL;
}

static void settle_changes(struct search *search)
{
	for (size_t i = 0; i < search->old.nr; i++)
		if (search->old.items[i].used)
			search->old.items[i].change->path = NULL;
	for (size_t i = 0; i < search->new.nr; i++)
		if (search->new.items[i].used)
			search->new.items[i].change->kind = CHANGE_RENAMED;
	compare_list_filter(&search->diff->changes, has_path, NULL);
}

int renames_find(struct diff *diff, unsigned least, bool *too_many_out)
{
	struct search search = { .diff = diff, .least = least };
	int err = 0;

	*too_many_out = false;
	collect_files(&search.old, &diff->changes, CHANGE_DELETED, diff->as_merge);
	collect_files(&search.new, &diff->changes, CHANGE_ADDED, diff->as_merge);
	join_same(&search);
	if (least < RENAMES_SCORE_MAX)
		err = join_by_name(&search);
	if (!err && least < RENAMES_SCORE_MAX)
		err = join_similar(&search, too_many_out);
	settle_changes(&search);
	files_release(&search.old);
	files_release(&search.new);
	return err;
}
