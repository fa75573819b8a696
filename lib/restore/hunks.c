/* SPDX-License-Identifier: MIT */
#include "restore/hunks.h"

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

/* An empty one at index `at`. */
static struct hunk *insert_hunk(struct hunks *hunks, size_t at)
{
	ALLOC_GROW(hunks->items, hunks->nr + 1, hunks->alloc);
	memmove(hunks->items + at + 1, hunks->items + at, (hunks->nr - at) * sizeof(*hunks->items));
	hunks->items[at] = (struct hunk){ .extra = STRBUF_INIT, .text = STRBUF_INIT };
	hunks->nr++;
	return hunks->items + at;
}

void hunks_add(struct hunks *out, enum hunk_kind kind, const char *text, size_t len)
{
	struct hunk *hunk = insert_hunk(out, out->nr);

	hunk->kind = kind;
	strbuf_add(&hunk->text, text, len);
}

/* --- lines --- */

/*
 * A line of a hunk. `text` is without the sign; it has the newline, unless
 * "\ No newline at end of file" follows.
 */
struct hunk_line {
	char sign; /* ' ', '-' or '+'; '\0': it is none that a hunk can have */
	const char *text;
	size_t len;
	const char *raw; /* with the sign */
	size_t raw_len;	 /* up to the next line, with what says that there is no newline */
};

size_t hunks_line_len(const char *text, size_t len)
{
	const char *newline = memchr(text, '\n', len);

	return newline ? (size_t)(newline + 1 - text) : len;
}

/* Read the line at `*at` of `text` and move on; false at the end. */
static bool next_line(struct hunk_line *out, const struct strbuf *text, size_t *at)
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
		size_t note = hunks_line_len(line + len, left - len);

		out->len--;
		out->raw_len += note;
		*at += note;
	}
	return true;
}

static void count_lines(struct hunk *hunk)
{
	struct hunk_line line;

	hunk->old_nr = hunk->new_nr = 0;
	for (size_t at = 0; next_line(&line, &hunk->text, &at);) {
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

/* No file has so many lines; sums of such numbers do not overflow. */
#define MOST_LINES (1ULL << 48)

static bool parse_number(size_t *out, const char **p)
{
	char *end = NULL;
	unsigned long long number =
		isdigit((unsigned char)**p) ? strtoull(*p, &end, 10) : ULLONG_MAX;

	if (number > MOST_LINES)
		return false;
	*out = (size_t)number;
	*p = end;
	return true;
}

static bool parse_range(size_t *at_out, const char **p, char sign)
{
	size_t nr;

	if (*(*p)++ != sign || !parse_number(at_out, p))
		return false;
	if (**p != ',')
		return true;
	(*p)++;
	return parse_number(&nr, p);
}

/* The numbers of lines in it are not needed: the lines are counted. */
static bool parse_header(struct hunk *hunk, const char *line, size_t len)
{
	const char *p = line + 3;

	if (strncmp(line, "@@ ", 3) || !parse_range(&hunk->old_at, &p, '-') || *p++ != ' ' ||
	    !parse_range(&hunk->new_at, &p, '+') || strncmp(p, " @@", 3))
		return false;
	strbuf_reset(&hunk->extra);
	strbuf_add(&hunk->extra, p + 3, len - (size_t)(p + 3 - line));
	return true;
}

int hunks_cut(struct hunks *out, const char *old, size_t old_len, const char *text, size_t len)
{
	struct hunk *hunk = NULL;
	size_t line;

	out->old = old;
	out->old_len = old_len;
	index_lines(out);
	for (; len; text += line, len -= line) {
		line = hunks_line_len(text, len);
		if (*text != '@' && hunk) {
			strbuf_add(&hunk->text, text, line);
			continue;
		}
		hunk = insert_hunk(out, out->nr);
		if (!parse_header(hunk, text, line))
			return ckpt_error_set(CKPT_ERROR, "this is not a patch");
	}
	for (size_t i = 0; i < out->nr; i++) {
		hunk = &out->items[i];
		/* The mode may be asked about first. */
		if (hunk->kind != HUNK_LINES)
			continue;
		count_lines(hunk);
		hunk->place = hunk->old_at - (hunk->old_nr ? 1 : 0);
		if (hunk->place > out->lines || hunk->old_nr > out->lines - hunk->place)
			return ckpt_error_set(CKPT_ERROR, "this is not a patch of these lines");
	}
	return 0;
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
	while (next_line(&line, &hunk->text, &at)) {
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
	for (size_t at = 0; next_line(&line, &hunk->text, &at); last = line.sign)
		pieces += last == ' ' && line.sign != ' ';
	return pieces;
}

/* Where in the text of a hunk a line begins, and the lines of both sides before it. */
struct hunk_at {
	size_t text, old_before, new_before;
};

/* The lines of a hunk from one place to another become the hunk at `at`. */
static void put_piece(struct hunks *hunks, size_t at, const struct hunk *whole,
		      const struct hunk_at *from, size_t end)
{
	struct hunk *hunk = insert_hunk(hunks, at);

	hunk->use = whole->use;
	hunk->old_at = whole->old_at + from->old_before;
	hunk->new_at = whole->new_at + from->new_before;
	hunk->place = whole->place + from->old_before;
	strbuf_add(&hunk->text, whole->text.buf + from->text, end - from->text);
	count_lines(hunk);
}

void hunks_split(struct hunks *hunks, size_t at)
{
	struct hunk_at here = { 0, 0, 0 }, context = here, start = here;
	struct hunk whole = hunks->items[at];
	struct hunk_line line;
	size_t first = at;
	char last = ' ';
	bool changed = false;

	if (hunks_pieces(&whole) < 2)
		return;
	hunks->nr--;
	memmove(hunks->items + at, hunks->items + at + 1, (hunks->nr - at) * sizeof(whole));
	for (size_t next = 0; next_line(&line, &whole.text, &next); here.text = next) {
		/* The context before a piece begins after the changes of the previous one. */
		if (last != ' ' && line.sign == ' ')
			context = here;
		if (last == ' ' && line.sign != ' ') {
			if (changed)
				put_piece(hunks, at++, &whole, &start, here.text);
			start = context;
			changed = true;
		}
		here.old_before += line.sign != '+';
		here.new_before += line.sign != '-';
		last = line.sign;
	}
	put_piece(hunks, at, &whole, &start, here.text);
	strbuf_add(&hunks->items[first].extra, whole.extra.buf, whole.extra.len);
	release_hunk(&whole);
}

/* --- applying --- */

/*
 * A hunk that was cut from the content applies where it was cut. So what is
 * applied are its changes alone, lines that replace lines, and whether the
 * context of two pieces overlaps does not matter. Only one that was edited is
 * looked for in the content, as git-apply(1) does it.
 */
struct line_change {
	size_t at, nr;	   /* old lines that go, from 0 */
	size_t start, end; /* in `text` of line_changes: what takes their place */
};

struct line_changes {
	struct line_change *items;
	size_t nr, alloc;
	struct strbuf text;
};

static void release_changes(struct line_changes *changes)
{
	free(changes->items);
	strbuf_release(&changes->text);
}

static void add_changes(struct line_changes *out, const struct hunk *hunk)
{
	size_t old = hunk->place;
	struct line_change *change = NULL;
	struct hunk_line line;

	for (size_t at = 0; next_line(&line, &hunk->text, &at);) {
		if (line.sign == ' ') {
			change = NULL;
			old++;
			continue;
		}
		if (!change) {
			change = ALLOC_NEXT(out->items, out->nr, out->alloc);
			*change = (struct line_change){ old, 0, out->text.len, out->text.len };
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

/* `all`: not only those to be used. */
static int collect_changes(struct line_changes *out, const struct hunks *hunks, bool all)
{
	size_t free_from = 0;

	*out = (struct line_changes){ .text = STRBUF_INIT };
	for (size_t i = 0; i < hunks->nr; i++)
		if (hunks->items[i].kind == HUNK_LINES &&
		    (all || hunks->items[i].use == HUNK_USE))
			add_changes(out, &hunks->items[i]);
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

/* 0, or CKPT_ERROR if two hunks change the same lines. */
static int check_together(const struct hunks *hunks)
{
	struct line_changes changes;
	int err = collect_changes(&changes, hunks, true);

	release_changes(&changes);
	return err;
}

int hunks_apply(struct strbuf *out, const struct hunks *hunks)
{
	struct line_changes changes;
	size_t line = 0;
	int err = collect_changes(&changes, hunks, false);

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
	release_changes(&changes);
	return err;
}

/* --- editing --- */

/* What was edited, without comments; every line ends. */
static void strip_comments(struct strbuf *out, const char *text, size_t len)
{
	while (len) {
		size_t line = hunks_line_len(text, len);

		if (*text != '#')
			strbuf_add(out, text, line);
		text += line;
		len -= line;
	}
	if (out->len && out->buf[out->len - 1] != '\n')
		strbuf_addch(out, '\n');
}

/* Whether these are the lines of a hunk: something changes, and only the last line may not end. */
static int check_lines(const struct hunk *hunk)
{
	bool changes = false, old_ended = false, new_ended = false;
	struct hunk_line line;

	for (size_t at = 0; next_line(&line, &hunk->text, &at);) {
		bool ends = !line.len || line.text[line.len - 1] != '\n';

		if (!line.sign)
			return ckpt_error_set(CKPT_ERROR, "a line begins with none of ' ', '-', '+'");
		if ((old_ended && line.sign != '+') || (new_ended && line.sign != '-'))
			return ckpt_error_set(CKPT_ERROR, "a line without a newline is not the last");
		changes = changes || line.sign != ' ';
		old_ended = old_ended || (ends && line.sign != '+');
		new_ended = new_ended || (ends && line.sign != '-');
	}
	return changes ? 0 : ckpt_error_set(CKPT_ERROR, "no line is added or removed");
}

/* --- where it applies --- */

struct wanted {
	struct hunk_line *lines; /* of the old side */
	size_t nr;
	bool at_start, at_end; /* it applies only there */
	bool unended;	       /* the new side's last line has no newline */
};

static void fill_wanted(struct wanted *out, const struct hunk *hunk)
{
	size_t trailing = 0;
	struct hunk_line line;

	*out = (struct wanted){ .lines = xcalloc(hunk->old_nr + 1, sizeof(*out->lines)) };
	for (size_t at = 0; next_line(&line, &hunk->text, &at);) {
		if (line.sign != '+')
			out->lines[out->nr++] = line;
		if (line.sign != '-')
			out->unended = !line.len || line.text[line.len - 1] != '\n';
		trailing = line.sign == ' ' ? trailing + 1 : 0;
	}
	out->at_start = hunk->old_at <= 1;
	out->at_end = !trailing;
}

static bool matches_at(const struct hunks *hunks, const struct wanted *wanted, size_t at)
{
	size_t end = at + wanted->nr;

	if (end > hunks->lines || (wanted->at_start && at) ||
	    ((wanted->at_end || wanted->unended) && end != hunks->lines))
		return false;
	for (size_t i = 0; i < wanted->nr; i++) {
		const struct hunk_line *line = &wanted->lines[i];
		size_t start = hunks->starts[at + i];

		if (hunks->starts[at + i + 1] - start != line->len ||
		    memcmp(hunks->old + start, line->text, line->len) != 0)
			return false;
	}
	return true;
}

/* The match nearest to `from`; of two at the same distance the later one, as git has it. */
static bool find_match(size_t *out, const struct hunks *hunks, const struct wanted *wanted,
		       size_t from)
{
	if (wanted->at_start)
		from = 0;
	else if (wanted->at_end)
		from = wanted->nr < hunks->lines ? hunks->lines - wanted->nr : 0;
	if (from > hunks->lines)
		from = hunks->lines;
	for (size_t far = 0; far <= hunks->lines; far++) {
		*out = from + far;
		if (*out <= hunks->lines && matches_at(hunks, wanted, *out))
			return true;
		*out = from - far;
		if (far && far <= from && matches_at(hunks, wanted, *out))
			return true;
	}
	return false;
}

/* `before` is the hunk as it was: its lines are at its place. */
static int locate_hunk(struct hunk *hunk, const struct hunks *hunks, const struct hunk *before)
{
	size_t from = before->place + hunk->new_at;
	struct wanted wanted;
	bool found;

	from = from > before->new_at ? from - before->new_at : 0;
	fill_wanted(&wanted, hunk);
	found = find_match(&hunk->place, hunks, &wanted, from);
	free(wanted.lines);
	return found ? 0 : ckpt_error_set(CKPT_ERROR, "its old lines are not in the file");
}

/* Instead of the one at `at`, if all of them apply together. */
static int put_edited(struct hunks *hunks, size_t at, struct hunk *edited)
{
	struct hunk before = hunks->items[at];
	int err = check_lines(edited);

	if (!err) {
		count_lines(edited);
		err = locate_hunk(edited, hunks, &before);
	}
	if (err)
		return err;
	hunks->items[at] = *edited;
	err = check_together(hunks);
	*edited = err ? *edited : before;
	if (err)
		hunks->items[at] = before;
	return err;
}

int hunks_edit(struct hunks *hunks, size_t at, const char *text, size_t len, bool *empty_out)
{
	struct hunk edited = hunks->items[at];
	struct strbuf lines = STRBUF_INIT;
	size_t header = 0;
	int err = 0;

	strbuf_init(&edited.extra);
	strbuf_init(&edited.text);
	strbuf_add(&edited.extra, hunks->items[at].extra.buf, hunks->items[at].extra.len);
	strip_comments(&lines, text, len);
	*empty_out = !lines.len;
	if (lines.len && lines.buf[0] == '@') {
		header = hunks_line_len(lines.buf, lines.len);
		if (!parse_header(&edited, lines.buf, header))
			err = ckpt_error_set(CKPT_ERROR, "its first line is not the header of a hunk");
	}
	strbuf_add(&edited.text, lines.buf + header, lines.len - header);
	if (!err && lines.len)
		err = put_edited(hunks, at, &edited);
	/* If it took its place, this is the hunk as it was. */
	strbuf_release(&edited.extra);
	strbuf_release(&edited.text);
	strbuf_release(&lines);
	return err;
}
