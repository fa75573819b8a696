/* SPDX-License-Identifier: MIT */
#include "settings/edit_internal.h"

#include "base/base.h"

/* One line of the text, in offsets. */
struct line {
	size_t start;	/* of its first byte that is not white space */
	size_t end;	/* of its contents, without line ending */
	size_t next;	/* of the next line */
	size_t key_end; /* without white space; `start` if it has no key */
};

static bool next_line(struct line *out, const struct strbuf *text, size_t at)
{
	const char *newline;

	if (at >= text->len)
		return false;
	newline = memchr(text->buf + at, '\n', text->len - at);
	out->end = newline ? (size_t)(newline - text->buf) : text->len;
	out->next = out->end + (newline != NULL);
	if (out->end > at && text->buf[out->end - 1] == '\r')
		out->end--;
	out->start = at;
	if (!at && text->len >= 3 && !memcmp(text->buf, "\xef\xbb\xbf", 3))
		out->start = 3;
	while (out->start < out->end && isspace((unsigned char)text->buf[out->start]))
		out->start++;
	out->key_end = out->start;
	if (out->start < out->end && !strchr("#;[", text->buf[out->start])) {
		while (out->key_end < out->end && !strchr("=:", text->buf[out->key_end]))
			out->key_end++;
		while (out->key_end > out->start &&
		       isspace((unsigned char)text->buf[out->key_end - 1]))
			out->key_end--;
	}
	return true;
}

static bool is_key(const struct line *line, const struct strbuf *text, const char *key)
{
	size_t len = line->key_end - line->start;

	return len == strlen(key) && !strncasecmp(text->buf + line->start, key, len);
}

static bool is_section(const struct line *line, const struct strbuf *text)
{
	return line->start < line->end && text->buf[line->start] == '[';
}

/* Where a comment after a value begins, with the white space before it, or the end of the line. */
static size_t comment_of(const struct line *line, const struct strbuf *text)
{
	size_t at = line->key_end;

	while (at < line->end && !strchr("=:", text->buf[at]))
		at++;
	for (at++; at < line->end; at++)
		if (strchr("#;", text->buf[at]) && isspace((unsigned char)text->buf[at - 1]))
			break;
	if (at >= line->end)
		return line->end;
	while (at > line->key_end + 1 && isspace((unsigned char)text->buf[at - 1]))
		at--;
	return at;
}

static void splice_text(struct strbuf *text, size_t from, size_t to, const char *with)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_add(&out, text->buf, from);
	strbuf_addstr(&out, with);
	strbuf_add(&out, text->buf + to, text->len - to);
	strbuf_release(text);
	*text = out;
}

/* A new line: after the last key, or before the first section and the comment that is right above. */
static void insert(struct strbuf *text, const char *key, const char *value)
{
	size_t after_key = 0, block = 0, at;
	const char *ending = memmem(text->buf, text->len, "\r\n", 2) ? "\r\n" : "\n";
	struct line line = { 0 };
	bool section = false, comments = false;
	char *added;

	for (at = 0; !section && next_line(&line, text, at); at = line.next) {
		section = is_section(&line, text);
		if (line.key_end > line.start)
			after_key = line.next;
		if (!section && line.start < line.end && line.key_end == line.start) {
			block = comments ? block : at;
			comments = true;
		} else if (!section) {
			comments = false;
		} else {
			block = comments ? block : at;
		}
	}
	at = after_key ? after_key : section ? block : text->len;
	/* The last line may lack its end. */
	added = xstrfmt("%s%s = %s%s", at && text->buf[at - 1] != '\n' ? ending : "", key, value,
			ending);
	splice_text(text, at, at, added);
	free(added);
}

size_t edit_count(const struct strbuf *text, const char *key)
{
	struct line line = { 0 };
	size_t nr = 0;

	for (size_t at = 0; next_line(&line, text, at) && !is_section(&line, text); at = line.next)
		nr += is_key(&line, text, key);
	return nr;
}

void edit_set(struct strbuf *text, const char *key, const char *value, bool add)
{
	struct line line = { 0 }, found = { 0 };
	char *with;

	for (size_t at = 0; next_line(&line, text, at) && !is_section(&line, text); at = line.next)
		if (is_key(&line, text, key))
			found = line;
	if (add || !found.next) {
		insert(text, key, value);
		return;
	}
	with = xstrfmt(" = %s", value);
	splice_text(text, found.key_end, comment_of(&found, text), with);
	free(with);
}

size_t edit_unset(struct strbuf *text, const char *key)
{
	struct line line = { 0 };
	size_t nr = 0, at = 0;

	while (next_line(&line, text, at) && !is_section(&line, text)) {
		if (is_key(&line, text, key)) {
			splice_text(text, at, line.next, "");
			nr++;
		} else {
			at = line.next;
		}
	}
	return nr;
}
