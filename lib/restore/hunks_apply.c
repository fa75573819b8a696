/* SPDX-License-Identifier: MIT */
#include "restore/hunks_internal.h"

#include "base/base.h"

/*
 * A hunk that was cut from the content applies where it was cut. So what is
 * applied are its changes alone, lines that replace lines, and whether the
 * context of two pieces overlaps does not matter. Only one that was edited is
 * looked for in the content, as git-apply(1) does it.
 */
struct line_change {
	size_t at, nr;	    /* old lines that go, from 0 */
	size_t start, end;  /* in `text` of line_changes: what takes their place */
	size_t hunk;
};

struct line_changes {
	struct line_change *items;
	size_t nr, alloc;
	struct strbuf text;
};

static void changes_release(struct line_changes *changes)
{
	free(changes->items);
	strbuf_release(&changes->text);
}

static void add_changes(struct line_changes *out, const struct hunk *hunk, size_t index)
{
	size_t old = hunk->place;
	struct line_change *change = NULL;
	struct hunk_line line;

	for (size_t at = 0; hunks_line_next(&line, &hunk->text, &at);) {
		if (line.sign == ' ') {
			change = NULL;
			old++;
			continue;
		}
		if (!change) {
			ALLOC_GROW(out->items, out->nr + 1, out->alloc);
			change = &out->items[out->nr++];
			*change = (struct line_change){ old, 0, out->text.len, out->text.len, index };
		}
		if (line.sign == '-') {
			change->nr++;
			old++;
		} else {
			strbuf_add(&out->text, line.text, line.len);
			change->end = out->text.len;
		}
	}
}

/* In the order of the content; what is inserted at the same place stays in the order of hunks. */
static int by_place(const void *a, const void *b)
{
	const struct line_change *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int collect(struct line_changes *out, const struct hunks *hunks, bool all)
{
	size_t free_from = 0;

	*out = (struct line_changes){ .text = STRBUF_INIT };
	for (size_t i = 0; i < hunks->nr; i++)
		if (hunks->items[i].kind == HUNK_LINES &&
		    (all || hunks->items[i].use == HUNK_USE))
			add_changes(out, &hunks->items[i], i);
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_place);
	for (size_t i = 0; i < out->nr; i++) {
		const struct line_change *change = &out->items[i];

		if (change->at < free_from)
			return ckpt_error_set(CKPT_ERROR, "two hunks change line %zu", change->at + 1);
		free_from = change->at + change->nr;
	}
	return 0;
}

int hunks_check(const struct hunks *hunks, bool all)
{
	struct line_changes changes;
	int err = collect(&changes, hunks, all);

	changes_release(&changes);
	return err;
}

int hunks_apply(struct strbuf *out, const struct hunks *hunks)
{
	struct line_changes changes;
	size_t line = 0;
	int err = collect(&changes, hunks, false);

	for (size_t i = 0; i < changes.nr && !err; i++) {
		const struct line_change *change = &changes.items[i];

		strbuf_add(out, hunks->old + hunks->starts[line],
			   hunks->starts[change->at] - hunks->starts[line]);
		strbuf_add(out, changes.text.buf + change->start, change->end - change->start);
		line = change->at + change->nr;
	}
	if (!err && hunks->starts)
		strbuf_add(out, hunks->old + hunks->starts[line],
			   hunks->old_len - hunks->starts[line]);
	changes_release(&changes);
	return err;
}
