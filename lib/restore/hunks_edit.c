/* SPDX-License-Identifier: MIT */
#include "restore/hunks_internal.h"

#include "base/base.h"

/* No file has so many lines; sums of such numbers do not overflow. */
#define MOST_LINES ((size_t)1 << 48)

static bool parse_number(size_t *out, const char **p, const char *end)
{
	const char *start = *p;
	size_t number = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		number = number * 10 + (size_t)(**p - '0');
		if (number > MOST_LINES)
			return false;
	}
	*out = number;
	return *p > start;
}

static bool parse_text(const char **p, const char *end, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(end - *p) < len || memcmp(*p, text, len) != 0)
		return false;
	*p += len;
	return true;
}

static bool parse_range(size_t *at_out, const char **p, const char *end)
{
	size_t nr;

	return parse_number(at_out, p, end) &&
	       (!parse_text(p, end, ",") || parse_number(&nr, p, end));
}

/* The numbers of lines in it are not needed: the lines are counted. */
static bool parse_header(struct hunk *hunk, const char *line, size_t len)
{
	const char *p = line, *end = line + len;

	if (!parse_text(&p, end, "@@ -") || !parse_range(&hunk->old_at, &p, end) ||
	    !parse_text(&p, end, " +") || !parse_range(&hunk->new_at, &p, end) ||
	    !parse_text(&p, end, " @@"))
		return false;
	strbuf_reset(&hunk->extra);
	strbuf_add(&hunk->extra, p, (size_t)(end - p));
	return true;
}

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

	for (size_t at = 0; hunks_line_next(&line, &hunk->text, &at);) {
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

static void wanted_fill(struct wanted *out, const struct hunk *hunk)
{
	size_t trailing = 0;
	struct hunk_line line;

	*out = (struct wanted){ .lines = xcalloc(hunk->old_nr + 1, sizeof(*out->lines)) };
	for (size_t at = 0; hunks_line_next(&line, &hunk->text, &at);) {
		if (line.sign != '+')
			out->lines[out->nr++] = line;
		if (line.sign != '-')
			out->unended = !line.len || line.text[line.len - 1] != '\n';
		trailing = line.sign == ' ' ? trailing + 1 : 0;
	}
	out->at_start = hunk->old_at <= 1;
	out->at_end = !trailing;
}

static bool matches(const struct hunks *hunks, const struct wanted *wanted, size_t at)
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
		if (*out <= hunks->lines && matches(hunks, wanted, *out))
			return true;
		*out = from - far;
		if (far && far <= from && matches(hunks, wanted, *out))
			return true;
	}
	return false;
}

/* `before` is the hunk as it was: its lines are at its place. */
static int locate(struct hunk *hunk, const struct hunks *hunks, const struct hunk *before)
{
	size_t from = before->place + hunk->new_at;
	struct wanted wanted;
	bool found;

	from = from > before->new_at ? from - before->new_at : 0;
	wanted_fill(&wanted, hunk);
	found = find_match(&hunk->place, hunks, &wanted, from);
	free(wanted.lines);
	return found ? 0 : ckpt_error_set(CKPT_ERROR, "its old lines are not in the file");
}

/* Instead of the one at `at`, if all of them apply together. */
static int put(struct hunks *hunks, size_t at, struct hunk *edited)
{
	struct hunk before = hunks->items[at];
	int err = check_lines(edited);

	if (!err) {
		hunks_count(edited);
		err = locate(edited, hunks, &before);
	}
	if (err)
		return err;
	hunks->items[at] = *edited;
	err = hunks_check(hunks, true);
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
		err = put(hunks, at, &edited);
	/* If it took its place, this is the hunk as it was. */
	strbuf_release(&edited.extra);
	strbuf_release(&edited.text);
	strbuf_release(&lines);
	return err;
}
