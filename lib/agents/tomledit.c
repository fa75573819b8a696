/* SPDX-License-Identifier: MIT */
#include "agents/tomledit_internal.h"

#include "base/base.h"

#include <regex.h>
#include <stdint.h>
#include <string.h>

/* Values nest; what nobody writes by hand is refused rather than the stack exhausted. */
enum { MAX_DEPTH = 200 };

struct scan {
	const struct strbuf *text;
	size_t pos;
	unsigned depth;
	const char *problem;
	regex_t plain; /* values without quotes or brackets */
	struct strlist table; /* the one whose keys follow */
	tomledit_seen seen;
	void *data;
};

static bool wrong(struct scan *s, const char *problem)
{
	if (!s->problem)
		s->problem = problem;
	return false;
}

static char peek(const struct scan *s)
{
	return s->text->buf[s->pos]; /* a NUL at the end */
}

static bool starts(const struct scan *s, const char *prefix)
{
	return !strncmp(s->text->buf + s->pos, prefix, strlen(prefix));
}

static bool at_newline(const struct scan *s)
{
	return peek(s) == '\n' || starts(s, "\r\n");
}

static void skip_space(struct scan *s)
{
	s->pos += strspn(s->text->buf + s->pos, " \t");
}

static bool skip_remark(struct scan *s)
{
	skip_space(s);
	if (peek(s) != '#')
		return true;
	while (s->pos < s->text->len && !at_newline(s)) {
		if (((unsigned char)peek(s) < 0x20 && peek(s) != '\t') || peek(s) == 0x7f)
			return wrong(s, "a control character in a comment");
		s->pos++;
	}
	return true;
}

/* Space, comments and newlines: what may stand between the elements of an array. */
static bool skip_lines(struct scan *s)
{
	for (;;) {
		if (!skip_remark(s))
			return false;
		if (!at_newline(s))
			return true;
		s->pos += peek(s) == '\r' ? 2 : 1;
	}
}

/* ---- strings ---- */

static void add_utf8(struct strbuf *out, uint32_t c)
{
	if (c < 0x80) {
		strbuf_addch(out, (int)c);
	} else if (c < 0x800) {
		strbuf_addch(out, (int)(0xc0 | c >> 6));
		strbuf_addch(out, (int)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		strbuf_addch(out, (int)(0xe0 | c >> 12));
		strbuf_addch(out, (int)(0x80 | (c >> 6 & 0x3f)));
		strbuf_addch(out, (int)(0x80 | (c & 0x3f)));
	} else {
		strbuf_addch(out, (int)(0xf0 | c >> 18));
		strbuf_addch(out, (int)(0x80 | (c >> 12 & 0x3f)));
		strbuf_addch(out, (int)(0x80 | (c >> 6 & 0x3f)));
		strbuf_addch(out, (int)(0x80 | (c & 0x3f)));
	}
}

static bool scan_code_point(struct scan *s, struct strbuf *out, int digits)
{
	uint32_t c = 0;

	for (int i = 0; i < digits; i++, s->pos++) {
		static const char hex[] = "0123456789abcdef0123456789ABCDEF";
		const char *digit = peek(s) ? strchr(hex, peek(s)) : NULL;

		if (!digit)
			return wrong(s, "a hexadecimal digit is missing here");
		c = c << 4 | (uint32_t)((digit - hex) & 15);
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return wrong(s, "there is no such character");
	add_utf8(out, c);
	return true;
}

static bool scan_escape(struct scan *s, struct strbuf *out, bool lines)
{
	static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
	const char *known;
	char c;

	s->pos++;
	c = peek(s);
	if (c == 'u' || c == 'U' || c == 'x') {
		s->pos++;
		return scan_code_point(s, out, c == 'u' ? 4 : c == 'U' ? 8 : 2);
	}
	known = c ? strchr(from, c) : NULL;
	if (known) {
		strbuf_addch(out, to[known - from]);
		s->pos++;
		return true;
	}
	/* A backslash at the end of a line joins it with the next that has text. */
	skip_space(s);
	if (!lines || !at_newline(s))
		return wrong(s, "an escape that TOML does not have");
	s->pos += strspn(s->text->buf + s->pos, " \t\r\n");
	return true;
}

static bool scan_char(struct scan *s, struct strbuf *out, bool lines)
{
	if (lines && at_newline(s)) {
		s->pos += peek(s) == '\r' ? 2 : 1;
		strbuf_addch(out, '\n');
		return true;
	}
	if (s->pos >= s->text->len || at_newline(s))
		return wrong(s, "this string does not end");
	if (((unsigned char)peek(s) < 0x20 && peek(s) != '\t') || peek(s) == 0x7f)
		return wrong(s, "a control character in a string");
	strbuf_addch(out, peek(s));
	s->pos++;
	return true;
}

/* Any of the four kinds; `out` gets what it stands for. */
static bool scan_string(struct scan *s, struct strbuf *out, bool may_have_lines)
{
	char quote = peek(s), three[4] = { quote, quote, quote, '\0' };
	bool lines = may_have_lines && starts(s, three);

	s->pos += lines ? 3 : 1;
	if (lines && at_newline(s))
		s->pos += peek(s) == '\r' ? 2 : 1;
	while (lines ? !starts(s, three) : peek(s) != quote) {
		if (quote == '"' && peek(s) == '\\' ? !scan_escape(s, out, lines) :
						      !scan_char(s, out, lines))
			return false;
	}
	s->pos += lines ? 3 : 1;
	/* Up to two quotes more may belong to the text. */
	for (int i = 0; lines && i < 2 && peek(s) == quote; i++, s->pos++)
		strbuf_addch(out, quote);
	return true;
}

/* ---- keys and values ---- */

/* a."b".c, appended to `path`. */
static bool scan_key(struct scan *s, struct strlist *path)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-";
	struct strbuf part = STRBUF_INIT;
	bool ok = true;

	do {
		strbuf_reset(&part);
		skip_space(s);
		if (peek(s) == '"' || peek(s) == '\'') {
			ok = scan_string(s, &part, false);
		} else {
			size_t n = strspn(s->text->buf + s->pos, bare);

			strbuf_add(&part, s->text->buf + s->pos, n);
			s->pos += n;
			if (!n)
				ok = wrong(s, "a key is missing here");
		}
		strlist_add(path, part.buf);
		skip_space(s);
	} while (ok && peek(s) == '.' && s->pos++ < s->text->len);
	strbuf_release(&part);
	return ok;
}

static bool scan_value(struct scan *s, const struct strlist *path);

static bool scan_pair(struct scan *s, const struct strlist *around)
{
	struct strlist path = STRLIST_INIT;
	bool ok;

	strlist_extend(&path, around);
	ok = scan_key(s, &path);
	if (ok && peek(s) != '=')
		ok = wrong(s, "an equals sign is missing here");
	if (ok) {
		s->pos++;
		skip_space(s);
		if (s->seen)
			s->seen(s->data, TOMLEDIT_KEY, &path);
		ok = scan_value(s, &path);
	}
	strlist_release(&path);
	return ok;
}

static bool scan_array(struct scan *s, const struct strlist *path)
{
	for (s->pos++;;) {
		if (!skip_lines(s))
			return false;
		if (peek(s) == ']')
			break;
		if (!scan_value(s, path) || !skip_lines(s))
			return false;
		if (peek(s) == ']')
			break;
		if (peek(s) != ',')
			return wrong(s, "a comma or a closing bracket is missing here");
		s->pos++;
	}
	s->pos++;
	return true;
}

/* Newlines and a comma at the end are allowed in them since TOML 1.1. */
static bool scan_inline_table(struct scan *s, const struct strlist *path)
{
	for (s->pos++;;) {
		if (!skip_lines(s))
			return false;
		if (peek(s) == '}')
			break;
		if (!scan_pair(s, path) || !skip_lines(s))
			return false;
		if (peek(s) == '}')
			break;
		if (peek(s) != ',')
			return wrong(s, "a comma or a closing brace is missing here");
		s->pos++;
	}
	s->pos++;
	return true;
}

/* Numbers, dates, times, true and false. */
#define DIGITS "[0-9](_?[0-9])*"
#define TIME "[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?"

static const char plain_values[] =
	"^(true|false|[+-]?(inf|nan)"
	"|[+-]?(0|[1-9](_?[0-9])*)(\\." DIGITS ")?([eE][+-]?" DIGITS ")?"
	"|0x[0-9A-Fa-f](_?[0-9A-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*"
	"|[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ]" TIME "([Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
	"|" TIME ")$";

static bool scan_plain(struct scan *s)
{
	const char *p = s->text->buf + s->pos;
	size_t n = strcspn(p, ",]}# \t\r\n");
	struct strbuf value = STRBUF_INIT;
	bool ok;

	if (!n)
		return wrong(s, "a value is missing here");
	/* A date and a time may have a space in between. */
	if (n == 10 && p[4] == '-' && p[10] == ' ' && p[11] >= '0' && p[11] <= '9')
		n += 1 + strcspn(p + 11, ",]}# \t\r\n");
	strbuf_add(&value, p, n);
	ok = !regexec(&s->plain, value.buf, 0, NULL, 0);
	strbuf_release(&value);
	if (!ok)
		return wrong(s, "this is no value of TOML");
	s->pos += n;
	return true;
}

static bool scan_value(struct scan *s, const struct strlist *path)
{
	struct strbuf string = STRBUF_INIT;
	bool ok;

	if (s->depth == MAX_DEPTH)
		return wrong(s, "values are nested too deeply");
	s->depth++;
	if (peek(s) == '"' || peek(s) == '\'')
		ok = scan_string(s, &string, true);
	else if (peek(s) == '[')
		ok = scan_array(s, path);
	else if (peek(s) == '{')
		ok = scan_inline_table(s, path);
	else
		ok = scan_plain(s);
	s->depth--;
	strbuf_release(&string);
	return ok;
}

static bool scan_header(struct scan *s)
{
	bool array = starts(s, "[[");

	s->pos += array ? 2 : 1;
	strlist_release(&s->table);
	s->table = (struct strlist)STRLIST_INIT;
	if (!scan_key(s, &s->table))
		return false;
	if (!starts(s, array ? "]]" : "]"))
		return wrong(s, "a closing bracket is missing here");
	s->pos += array ? 2 : 1;
	if (s->seen)
		s->seen(s->data, array ? TOMLEDIT_TABLE_ARRAY : TOMLEDIT_TABLE, &s->table);
	return true;
}

static bool scan_text(struct scan *s)
{
	if (!strncmp(s->text->buf, "\xef\xbb\xbf", 3))
		s->pos = 3;
	for (;;) {
		if (!skip_lines(s))
			return false;
		if (s->pos >= s->text->len)
			return true;
		if (!(peek(s) == '[' ? scan_header(s) : scan_pair(s, &s->table)) ||
		    !skip_remark(s))
			return false;
		if (s->pos < s->text->len && !at_newline(s))
			return wrong(s, "the line should end here");
	}
}

int tomledit_scan(const struct strbuf *text, tomledit_seen seen, void *data)
{
	struct scan s = { .text = text, .seen = seen, .data = data, .table = STRLIST_INIT };
	int err = 0;

	if (regcomp(&s.plain, plain_values, REG_EXTENDED | REG_NOSUB))
		return ckpt_error_set(CKPT_ERROR, "out of memory");
	if (!scan_text(&s)) {
		size_t line = 1, begin = 0;

		for (size_t i = 0; i < s.pos; i++) {
			if (text->buf[i] == '\n') {
				line++;
				begin = i + 1;
			}
		}
		err = ckpt_error_set(CKPT_ERROR, "line %zu, column %zu: %s", line,
				     s.pos - begin + 1, s.problem);
	}
	strlist_release(&s.table);
	regfree(&s.plain);
	return err;
}
