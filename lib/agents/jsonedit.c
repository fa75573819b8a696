/* SPDX-License-Identifier: MIT */
#include "agents/jsonedit_internal.h"

#include "base/base.h"

/* ---- navigating: for texts that are known to be JSON ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_comment(const struct strbuf *text, size_t pos)
{
	return text->buf[pos] == '/' && (text->buf[pos + 1] == '/' || text->buf[pos + 1] == '*');
}

/* The end of the comment at `pos`: its newline does not belong to it, the last slash does. */
static size_t skip_comment(const struct strbuf *text, size_t pos)
{
	const char *end;

	if (text->buf[pos + 1] == '/')
		return pos + strcspn(text->buf + pos, "\r\n");
	end = strstr(text->buf + pos + 2, "*/");
	return end ? (size_t)(end - text->buf) + 2 : text->len;
}

static size_t skip_blank(const struct strbuf *text, size_t pos)
{
	for (;;) {
		while (is_space(text->buf[pos]))
			pos++;
		if (!is_comment(text, pos))
			return pos;
		pos = skip_comment(text, pos);
	}
}

static size_t skip_string(const struct strbuf *text, size_t pos)
{
	for (pos++; pos < text->len && text->buf[pos] != '"'; pos++)
		if (text->buf[pos] == '\\')
			pos++;
	return pos < text->len ? pos + 1 : text->len;
}

static size_t skip_value(const struct strbuf *text, size_t pos)
{
	size_t depth = 0;

	do {
		char c = text->buf[pos];

		if (c == '"') {
			pos = skip_string(text, pos);
		} else if (is_comment(text, pos)) {
			pos = skip_comment(text, pos);
		} else if (c == '{' || c == '[') {
			depth++;
			pos++;
		} else if (c == '}' || c == ']') {
			depth--;
			pos++;
		} else if (depth) {
			pos++;
		} else {
			pos += strcspn(text->buf + pos, ",]} \t\r\n/");
		}
	} while (depth && pos < text->len);
	return pos;
}

size_t jsonedit_root(const struct strbuf *text)
{
	return skip_blank(text, strncmp(text->buf, "\xef\xbb\xbf", 3) ? 0 : 3);
}

void jsonedit_place(struct strbuf *out, const struct strbuf *text, size_t offset)
{
	size_t line = 1, begin = 0;

	for (size_t i = 0; i < offset; i++) {
		if (text->buf[i] == '\n') {
			line++;
			begin = i + 1;
		}
	}
	strbuf_addf(out, "line %zu, column %zu", line, offset - begin + 1);
}

void jsonedit_begin(struct jsonedit_iter *iter, const struct strbuf *text, size_t container)
{
	iter->text = text;
	iter->object = text->buf[container] == '{';
	iter->pos = container + 1;
}

bool jsonedit_next(struct jsonedit_iter *iter, struct jsonedit_item *out)
{
	const struct strbuf *text = iter->text;
	size_t pos = skip_blank(text, iter->pos);

	if (text->buf[pos] == ',')
		pos = skip_blank(text, pos + 1);
	if (pos >= text->len || text->buf[pos] == '}' || text->buf[pos] == ']')
		return false;
	out->key = out->key_end = pos;
	if (iter->object) {
		out->key_end = skip_string(text, pos);
		pos = skip_blank(text, skip_blank(text, out->key_end) + 1);
	}
	out->start = pos;
	out->end = iter->pos = skip_value(text, pos);
	return true;
}

bool jsonedit_equals(const struct strbuf *text, size_t start, const char *expected)
{
	size_t len = strlen(expected), end = skip_string(text, start);
	json_t *string;
	bool equal;

	if (text->buf[start] != '"')
		return false;
	if (!memchr(text->buf + start, '\\', end - start))
		return end - start == len + 2 && !memcmp(text->buf + start + 1, expected, len);
	/* NULL for half a surrogate pair, and for bytes that are not UTF-8. */
	string = json_loadb(text->buf + start, end - start, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	equal = string && json_string_length(string) == len &&
		!memcmp(json_string_value(string), expected, len);
	json_decref(string);
	return equal;
}

bool jsonedit_find(struct jsonedit_item *out, const struct strbuf *text, size_t object,
		   const char *key)
{
	struct jsonedit_iter iter;
	struct jsonedit_item item;
	bool found = false;

	jsonedit_begin(&iter, text, object);
	while (jsonedit_next(&iter, &item)) {
		if (jsonedit_equals(text, item.key, key)) {
			*out = item;
			found = true;
		}
	}
	return found;
}

/* ---- the style of a text ---- */

static bool has_newline(const struct strbuf *text, size_t from, size_t to)
{
	return to > from && memchr(text->buf + from, '\n', to - from);
}

static const char *eol(const struct strbuf *text)
{
	const char *newline = memchr(text->buf, '\n', text->len);

	return newline && newline > text->buf && newline[-1] == '\r' ? "\r\n" : "\n";
}

/* The white space at the beginning of the line that contains `pos`. */
static void line_indent(struct strbuf *out, const struct strbuf *text, size_t pos)
{
	size_t n;

	while (pos > 0 && text->buf[pos - 1] != '\n')
		pos--;
	n = strspn(text->buf + pos, " \t");
	strbuf_add(out, text->buf + pos, n);
}

/* How much deeper one level is indented than the one around it. */
static void indent_unit(struct strbuf *out, const struct strbuf *text)
{
	size_t root = jsonedit_root(text);
	struct jsonedit_iter iter;
	struct jsonedit_item item;

	if (text->buf[root] == '{' || text->buf[root] == '[') {
		jsonedit_begin(&iter, text, root);
		if (jsonedit_next(&iter, &item) && has_newline(text, root, item.key))
			line_indent(out, text, item.key);
	}
	if (!out->len)
		strbuf_addstr(out, "  ");
}

/* Whether there is a space after colons; taken from the first one. */
static bool is_spaced(const struct strbuf *text)
{
	size_t pos = jsonedit_root(text);

	while (pos < text->len && text->buf[pos] != ':')
		pos = text->buf[pos] == '"'	  ? skip_string(text, pos) :
		      is_comment(text, pos) ? skip_comment(text, pos) :
						    pos + 1;
	return pos >= text->len || is_space(text->buf[pos + 1]);
}

/* ---- editing ---- */

static size_t back_over_space(const struct strbuf *text, size_t pos)
{
	while (pos > 0 && is_space(text->buf[pos - 1]))
		pos--;
	return pos;
}

static size_t closing(const struct strbuf *text, size_t container)
{
	return skip_value(text, container) - 1;
}

/* The member or element as text; `indent` is that of its first line, NULL puts it on one line. */
static void format(struct strbuf *out, const struct strbuf *text, const char *key,
		   const json_t *value, const struct strbuf *indent)
{
	bool spaced = indent || is_spaced(text);
	size_t flags = JSON_ENCODE_ANY | (indent ? JSON_INDENT(1) : spaced ? 0 : JSON_COMPACT);
	struct strbuf unit = STRBUF_INIT;
	char *dump = json_dumps(value, flags);

	if (key)
		strbuf_addf(out, "\"%s\":%s", key, spaced ? " " : "");
	indent_unit(&unit, text);
	for (const char *p = dump; *p; p++) {
		if (*p != '\n') {
			strbuf_addch(out, *p);
			continue;
		}
		/* There is no newline in a string or in one line, and one space for each level. */
		strbuf_addstr(out, eol(text));
		if (indent)
			strbuf_add(out, indent->buf, indent->len);
		for (; p[1] == ' '; p++)
			strbuf_add(out, unit.buf, unit.len);
	}
	free(dump);
	strbuf_release(&unit);
}

bool jsonedit_is_empty(const struct strbuf *text, size_t container)
{
	return container + 1 + strspn(text->buf + container + 1, " \t\r\n") ==
	       closing(text, container);
}

bool jsonedit_opens_up(const struct strbuf *text, size_t container)
{
	size_t root = jsonedit_root(text);

	/* A text on one line stays on one line; "{}" alone does not count as such a style. */
	return closing(text, container) == container + 1 &&
	       (container == root || has_newline(text, root, closing(text, root)));
}

void jsonedit_close_up(struct strbuf *text, size_t container)
{
	if (jsonedit_is_empty(text, container))
		strbuf_splice(text, container + 1, closing(text, container), "", 0);
}

static void insert_first(struct strbuf *text, size_t container, const char *key,
			 const json_t *value)
{
	size_t close = closing(text, container), at = back_over_space(text, close);
	bool opens_up = jsonedit_opens_up(text, container);
	struct strbuf in = STRBUF_INIT, unit = STRBUF_INIT, indent = STRBUF_INIT;

	if (opens_up || has_newline(text, at, close)) {
		line_indent(&indent, text, container);
		indent_unit(&unit, text);
		strbuf_add(&indent, unit.buf, unit.len);
		strbuf_addf(&in, "%s%s", eol(text), indent.buf);
		format(&in, text, key, value, &indent);
		strbuf_setlen(&indent, indent.len - unit.len);
		if (opens_up)
			strbuf_addf(&in, "%s%s", eol(text), indent.buf);
	} else {
		strbuf_add(&in, text->buf + at, close - at);
		format(&in, text, key, value, NULL);
	}
	strbuf_splice(text, at, at, in.buf, in.len);
	strbuf_release(&in);
	strbuf_release(&unit);
	strbuf_release(&indent);
}

/* The end of a comment on the same line that belongs to what ends at `pos`; otherwise `pos`. */
static size_t after_remark(const struct strbuf *text, size_t pos)
{
	for (;;) {
		size_t next = pos + strspn(text->buf + pos, " \t");

		if (!is_comment(text, next))
			return pos;
		pos = skip_comment(text, next);
	}
}

static void insert_after(struct strbuf *text, size_t before, const struct jsonedit_item *last,
			 size_t count, const char *key, const json_t *value)
{
	size_t at = after_remark(text, last->end);
	size_t lead = back_over_space(text, last->key);
	struct strbuf in = STRBUF_INIT, indent = STRBUF_INIT;

	if (at > last->end || has_newline(text, before, last->key)) {
		line_indent(&indent, text, last->key);
		strbuf_addf(&in, "%s%s", eol(text), indent.buf);
		format(&in, text, key, value, &indent);
	} else {
		if (count > 1)
			strbuf_add(&in, text->buf + lead, last->key - lead);
		else if (is_spaced(text))
			strbuf_addch(&in, ' ');
		format(&in, text, key, value, NULL);
	}
	strbuf_splice(text, at, at, in.buf, in.len);
	strbuf_splice(text, last->end, last->end, ",", 1);
	strbuf_release(&in);
	strbuf_release(&indent);
}

void jsonedit_insert(struct strbuf *text, size_t container, const char *key, const json_t *value)
{
	struct jsonedit_item item, last = { 0 };
	size_t count = 0, before = container;
	struct jsonedit_iter iter;

	jsonedit_begin(&iter, text, container);
	while (jsonedit_next(&iter, &item)) {
		before = count++ ? last.end : container;
		last = item;
	}
	if (count)
		insert_after(text, before, &last, count, key, value);
	else
		insert_first(text, container, key, value);
}

/* Whether the last thing in [from, to), where no value is, is a comment up to the end of a line. */
static bool ends_in_remark(const struct strbuf *text, size_t from, size_t to)
{
	bool remark = false;

	while (from < to) {
		if (is_comment(text, from)) {
			remark = text->buf[from + 1] == '/';
			from = skip_comment(text, from);
		} else {
			from++;
		}
	}
	return remark;
}

void jsonedit_remove(struct strbuf *text, size_t container, size_t start)
{
	struct jsonedit_item item, previous = { .end = container + 1 };
	size_t comma, from, to;
	struct jsonedit_iter iter;
	bool first = true;

	jsonedit_begin(&iter, text, container);
	while (jsonedit_next(&iter, &item) && item.start != start) {
		previous = item;
		first = false;
	}
	comma = skip_blank(text, item.end);
	to = text->buf[comma] == ',' ? comma + 1 : item.end;
	from = back_over_space(text, item.key);
	if (to != item.end && first) {
		/* The following item takes its place. */
		from = item.key;
		to += strspn(text->buf + to, " \t\r\n");
	} else if (ends_in_remark(text, previous.end, from) && text->buf[to] != '\n' &&
		   text->buf[to] != '\r') {
		from = item.key; /* what follows must not become part of the comment */
	}
	comma = to == item.end && !first ? skip_blank(text, previous.end) : 0;
	strbuf_splice(text, from, to, "", 0);
	if (comma)
		strbuf_splice(text, comma, comma + 1, "", 0);
}
