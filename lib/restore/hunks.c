/* SPDX-License-Identifier: MIT */
#include "restore/hunks_internal.h"

#include "base/base.h"

enum { CONTEXT = 3 };

/* git's own widths for a list of hunks. */
enum { SUMMARY_NUMBERS = 20, SUMMARY_WIDTH = 80 };

static void release_hunk(struct hunk *hunk)
{
	strbuf_release(&hunk->extra);
	strbuf_release(&hunk->text);
}

void hunks_release(struct hunks *hunks)
{
	for (size_t i = 0; i < hunks->nr; i++)
		release_hunk(&hunks->items[i]);
	free(hunks->items);
	free(hunks->starts);
	memset(hunks, 0, sizeof(*hunks));
}

/* Make `nr` empty ones at index `at`. */
static struct hunk *insert(struct hunks *hunks, size_t at, size_t nr)
{
	ALLOC_GROW(hunks->items, hunks->nr + nr, hunks->alloc);
	memmove(hunks->items + at + nr, hunks->items + at, (hunks->nr - at) * sizeof(*hunks->items));
	for (size_t i = at; i < at + nr; i++)
		hunks->items[i] = (struct hunk){ .extra = STRBUF_INIT, .text = STRBUF_INIT };
	hunks->nr += nr;
	return hunks->items + at;
}

void hunks_add(struct hunks *out, enum hunk_kind kind, const char *text, size_t len)
{
	struct hunk *hunk = insert(out, out->nr, 1);

	hunk->kind = kind;
	strbuf_add(&hunk->text, text, len);
}

/* --- lines --- */

size_t hunks_line_len(const char *text, size_t len)
{
	const char *newline = memchr(text, '\n', len);

	return newline ? (size_t)(newline + 1 - text) : len;
}

bool hunks_line_next(struct hunk_line *out, const struct strbuf *text, size_t *at)
{
	const char *line = text->buf + *at;
	size_t left = text->len - *at, len;

	if (!left)
		return false;
	len = hunks_line_len(line, left);
	/* Some editors remove the blank of an empty line, and patch programs know that. */
	if (*line == '\n')
		*out = (struct hunk_line){ ' ', line, 1, line, 1 };
	else if (*line && strchr(" -+", *line))
		*out = (struct hunk_line){ *line, line + 1, len - 1, line, len };
	else
		*out = (struct hunk_line){ '\0', line, len, line, len };
	*at += len;
	if (out->sign && len < left && line[len] == '\\') {
		size_t mark = hunks_line_len(line + len, left - len);

		out->len--;
		out->raw_len += mark;
		*at += mark;
	}
	return true;
}

void hunks_count(struct hunk *hunk)
{
	struct hunk_line line;

	hunk->old_nr = hunk->new_nr = 0;
	for (size_t at = 0; hunks_line_next(&line, &hunk->text, &at);) {
		hunk->old_nr += line.sign != '+';
		hunk->new_nr += line.sign != '-';
	}
}

/* Fill in `starts` and `lines`. */
static void index_lines(struct hunks *hunks)
{
	size_t alloc = 0, at = 0;

	hunks->lines = 0;
	for (;;) {
		ALLOC_GROW(hunks->starts, hunks->lines + 1, alloc);
		hunks->starts[hunks->lines] = at;
		if (at == hunks->old_len)
			break;
		at += hunks_line_len(hunks->old + at, hunks->old_len - at);
		hunks->lines++;
	}
}

/* --- cutting --- */

static void begin_hunk(struct hunks *out, const git_diff_hunk *from)
{
	struct hunk *hunk = insert(out, out->nr, 1);
	const char *header = from->header, *end = header + from->header_len;
	const char *extra = memmem(header, from->header_len, " @@", 3);

	hunk->old_at = (size_t)from->old_start;
	hunk->old_nr = (size_t)from->old_lines;
	hunk->new_at = (size_t)from->new_start;
	hunk->new_nr = (size_t)from->new_lines;
	hunk->place = hunk->old_at - (hunk->old_nr ? 1 : 0);
	if (extra)
		strbuf_add(&hunk->extra, extra + 3, (size_t)(end - extra) - 3);
}

static int take_line(const git_diff_delta *delta, const git_diff_hunk *from,
		     const git_diff_line *line, void *payload)
{
	struct hunks *out = payload;
	struct strbuf *text;

	(void)delta;
	if (line->origin == GIT_DIFF_LINE_HUNK_HDR)
		begin_hunk(out, from);
	if (!out->nr)
		return 0;
	text = &out->items[out->nr - 1].text;
	switch (line->origin) {
	case GIT_DIFF_LINE_CONTEXT:
	case GIT_DIFF_LINE_ADDITION:
	case GIT_DIFF_LINE_DELETION:
		strbuf_addch(text, line->origin);
		strbuf_add(text, line->content, line->content_len);
		if (text->buf[text->len - 1] != '\n')
			strbuf_addch(text, '\n');
		break;
	case GIT_DIFF_LINE_CONTEXT_EOFNL:
	case GIT_DIFF_LINE_ADD_EOFNL:
	case GIT_DIFF_LINE_DEL_EOFNL:
		strbuf_addstr(text, "\\ No newline at end of file\n");
		break;
	default: /* headers */
		break;
	}
	return 0;
}

int hunks_cut(struct hunks *out, const char *old, size_t old_len, const char *new, size_t new_len)
{
	git_patch *patch = NULL;
	git_diff_options opts;
	int rc = libgit2_begin();

	if (rc)
		return rc;
	out->old = old;
	out->old_len = old_len;
	index_lines(out);
	libgit2.diff_options_init(&opts, GIT_DIFF_OPTIONS_VERSION);
	opts.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
	opts.context_lines = CONTEXT;
	rc = libgit2.patch_from_buffers(&patch, old, old_len, NULL, new, new_len, NULL, &opts);
	if (!rc)
		rc = libgit2.patch_print(patch, take_line, out);
	libgit2.patch_free(patch);
	return rc ? libgit2_error(rc, "unable to compare two contents") : 0;
}

/* --- showing --- */

static void add_range(struct strbuf *out, char sign, size_t at, size_t nr)
{
	strbuf_addf(out, "%c%zu", sign, at);
	if (nr != 1)
		strbuf_addf(out, ",%zu", nr);
}

void hunks_show(struct strbuf *out, const struct hunk *hunk)
{
	if (hunk->kind == HUNK_LINES) {
		strbuf_addstr(out, "@@ ");
		add_range(out, '-', hunk->old_at, hunk->old_nr);
		strbuf_addch(out, ' ');
		add_range(out, '+', hunk->new_at, hunk->new_nr);
		strbuf_addstr(out, " @@");
		if (hunk->extra.len)
			strbuf_add(out, hunk->extra.buf, hunk->extra.len);
		else
			strbuf_addch(out, '\n');
	}
	strbuf_add(out, hunk->text.buf, hunk->text.len);
}

void hunks_summarize(struct strbuf *out, const struct hunk *hunk)
{
	size_t start = out->len, at = 0;
	struct hunk_line line;

	strbuf_addf(out, " -%zu,%zu +%zu,%zu ", hunk->old_at, hunk->old_nr, hunk->new_at,
		    hunk->new_nr);
	while (out->len - start < SUMMARY_NUMBERS)
		strbuf_addch(out, ' ');
	while (hunks_line_next(&line, &hunk->text, &at)) {
		if (line.sign == ' ')
			continue;
		strbuf_add(out, line.raw, hunks_line_len(line.raw, line.raw_len));
		break;
	}
	if (out->len - start > SUMMARY_WIDTH)
		strbuf_setlen(out, start + SUMMARY_WIDTH);
	if (out->buf[out->len - 1] != '\n')
		strbuf_addch(out, '\n');
}

/* --- splitting --- */

size_t hunks_pieces(const struct hunk *hunk)
{
	struct hunk_line line;
	size_t pieces = 0;
	char last = ' ';

	if (hunk->kind != HUNK_LINES)
		return 0;
	for (size_t at = 0; hunks_line_next(&line, &hunk->text, &at); last = line.sign)
		pieces += last == ' ' && line.sign != ' ';
	return pieces;
}

/* Where in the text of a hunk a piece begins and ends, and the lines of both sides before it. */
struct piece {
	size_t start, end;
	size_t old_before, new_before;
};

static void find_pieces(struct piece *out, const struct hunk *hunk)
{
	struct piece here = { 0, 0, 0, 0 }, context = here;
	struct hunk_line line;
	size_t at = 0, nr = 0;
	char last = ' ';

	while (hunks_line_next(&line, &hunk->text, &at)) {
		here.start = here.end;
		here.end = at;
		/* The context before a piece begins after the changes of the previous one. */
		if (last != ' ' && line.sign == ' ')
			context = here;
		if (last == ' ' && line.sign != ' ') {
			if (nr)
				out[nr - 1].end = here.start;
			out[nr++] = context;
		}
		here.old_before += line.sign != '+';
		here.new_before += line.sign != '-';
		last = line.sign;
	}
	if (nr)
		out[nr - 1].end = at;
}

void hunks_split(struct hunks *hunks, size_t at)
{
	size_t nr = hunks_pieces(&hunks->items[at]);
	struct piece *pieces;
	struct hunk whole;

	if (nr < 2)
		return;
	pieces = xcalloc(nr, sizeof(*pieces));
	whole = hunks->items[at];
	find_pieces(pieces, &whole);
	hunks->nr--;
	memmove(hunks->items + at, hunks->items + at + 1, (hunks->nr - at) * sizeof(whole));
	(void)insert(hunks, at, nr);
	for (size_t i = 0; i < nr; i++) {
		struct hunk *hunk = &hunks->items[at + i];

		hunk->use = whole.use;
		hunk->old_at = whole.old_at + pieces[i].old_before;
		hunk->new_at = whole.new_at + pieces[i].new_before;
		hunk->place = whole.place + pieces[i].old_before;
		strbuf_add(&hunk->text, whole.text.buf + pieces[i].start,
			   pieces[i].end - pieces[i].start);
		hunks_count(hunk);
	}
	strbuf_add(&hunks->items[at].extra, whole.extra.buf, whole.extra.len);
	release_hunk(&whole);
	free(pieces);
}
