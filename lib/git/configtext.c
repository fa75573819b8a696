/* SPDX-License-Identifier: MIT */
#include "git/configtext.h"

/*
 * git's grammar, character by character, according to its documentation and
 * its behaviour: "\r\n" counts as "\n", the end of the text as the end of a
 * line, and letters are ASCII whatever the locale says.
 */

struct parser {
	const char *text, *pos, *end;
	size_t line;
	bool over; /* the last line end that was read is the end of the text */
	struct strbuf key, value;
	size_t section; /* how much of the key is the section, with its dot */
	struct configtext_item item;
};

static int read_char(struct parser *p)
{
	if (p->pos >= p->end) {
		p->over = true;
		return '\n';
	}
	if (*p->pos == '\r' && p->pos + 1 < p->end && p->pos[1] == '\n')
		p->pos++;
	if (*p->pos == '\n')
		p->line++;
	return (unsigned char)*p->pos++;
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int to_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* After the space in [section "subsection"]. */
static bool parse_subsection(struct parser *p, int c)
{
	while (is_space(c)) {
		if (c == '\n')
			return false;
		c = read_char(p);
	}
	if (c != '"')
		return false;
	strbuf_addch(&p->key, '.');
	while ((c = read_char(p)) != '"') {
		if (c == '\\')
			c = read_char(p);
		if (c == '\n')
			return false;
		strbuf_addch(&p->key, c);
	}
	return read_char(p) == ']';
}

static bool parse_section(struct parser *p)
{
	int c;

	strbuf_reset(&p->key);
	while ((c = read_char(p)) != ']') {
		if (p->over)
			return false;
		if (is_space(c)) {
			if (!parse_subsection(p, c))
				return false;
			break;
		}
		if (!is_key(c) && c != '.')
			return false;
		strbuf_addch(&p->key, to_lower(c));
	}
	if (!p->key.len)
		return false;
	strbuf_addch(&p->key, '.');
	p->section = p->key.len;
	return true;
}

/* After a backslash; a line that ends with one continues on the next. */
static bool parse_escape(struct parser *p)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	int c = read_char(p);
	const char *known = c ? strchr(from, c) : NULL;

	if (c == '\n')
		return true;
	if (!known)
		return false;
	strbuf_addch(&p->value, to[known - from]);
	return true;
}

/* After "=", up to the end of the line. */
static bool parse_value(struct parser *p)
{
	bool quoted = false, remark = false;
	size_t keep = 0; /* white space at the end does not count, unless in quotes */
	int c;

	strbuf_reset(&p->value);
	for (;;) {
		c = read_char(p);
		if (c == '\n') {
			strbuf_setlen(&p->value, keep);
			return !quoted;
		}
		if (remark)
			continue;
		if (is_space(c) && !quoted) {
			if (p->value.len)
				strbuf_addch(&p->value, c);
			continue;
		}
		if (!quoted && (c == '#' || c == ';')) {
			remark = true;
			continue;
		}
		if (c == '"')
			quoted = !quoted;
		else if (c != '\\')
			strbuf_addch(&p->value, c);
		else if (!parse_escape(p))
			return false;
		keep = p->value.len;
	}
}

/* At the first letter of a key. */
static bool parse_key(struct parser *p, int c, bool *has_value)
{
	strbuf_setlen(&p->key, p->section);
	for (; is_key(c); c = read_char(p)) {
		strbuf_addch(&p->key, to_lower(c));
		p->item.name_end = (size_t)(p->pos - p->text);
	}
	while (c == ' ' || c == '\t')
		c = read_char(p);
	*has_value = c == '=';
	return c == '\n' || (c == '=' && parse_value(p));
}

static int pass_on(struct parser *p, const char *value, configtext_item_fn fn, void *payload)
{
	p->item.key = p->key.buf;
	p->item.value = value;
	return fn(&p->item, payload);
}

/* The line's end was read. */
static size_t before_line_end(const struct parser *p)
{
	const char *end = p->over ? p->pos : p->pos - 1;

	if (!p->over && end > p->text && end[-1] == '\r')
		end--;
	return (size_t)(end - p->text);
}

static int parse_text(struct parser *p, configtext_item_fn fn, void *payload)
{
	bool remark = false, has_value;
	int c, rc = 0;

	while (!rc) {
		size_t line = p->line;

		c = read_char(p);
		p->item.start = (size_t)(p->pos - p->text) - 1;
		if (c == '\n') {
			if (p->over)
				break;
			remark = false;
		} else if (remark || is_space(c)) {
			continue;
		} else if (c == '#' || c == ';') {
			remark = true;
		} else if (c == '[') {
			if (!parse_section(p))
				return ckpt_error_set(CKPT_ERROR, "line %zu is malformed", line);
			p->item.header = true;
			p->item.name_end = p->item.end = (size_t)(p->pos - p->text);
			rc = pass_on(p, NULL, fn, payload);
		} else if (!is_letter(c) || !parse_key(p, c, &has_value)) {
			return ckpt_error_set(CKPT_ERROR, "line %zu is malformed", line);
		} else {
			p->item.header = false;
			p->item.end = before_line_end(p);
			rc = pass_on(p, has_value ? p->value.buf : NULL, fn, payload);
		}
	}
	return rc;
}

int configtext_each(const char *text, size_t len, configtext_item_fn fn, void *payload)
{
	struct parser p = { .text = text,
			    .pos = text,
			    .end = text + len,
			    .line = 1,
			    .key = STRBUF_INIT,
			    .value = STRBUF_INIT };
	int rc;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		p.pos += 3;
	rc = parse_text(&p, fn, payload);
	strbuf_release(&p.key);
	strbuf_release(&p.value);
	return rc;
}

struct values {
	configtext_fn fn;
	void *payload;
};

static int pass_value(const struct configtext_item *item, void *payload)
{
	const struct values *values = payload;

	return item->header ? 0 : values->fn(item->key, item->value, values->payload);
}

int configtext_parse(const char *text, size_t len, configtext_fn fn, void *payload)
{
	struct values values = { fn, payload };

	return configtext_each(text, len, pass_value, &values);
}
