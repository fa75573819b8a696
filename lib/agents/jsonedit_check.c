/* SPDX-License-Identifier: MIT */
#include "agents/jsonedit_internal.h"

#include "base/base.h"

struct check {
	const struct strbuf *text;
	unsigned flags;
	size_t pos;
	struct strbuf open; /* the brackets that are still to be closed */
	const char *problem;
};

static bool wrong(struct check *c, const char *problem)
{
	if (!c->problem)
		c->problem = problem;
	return false;
}

static char peek(const struct check *c)
{
	return c->text->buf[c->pos]; /* a NUL at the end */
}

static bool check_comment(struct check *c)
{
	const char *buf = c->text->buf, *end;

	if (!(c->flags & JSONEDIT_COMMENTS))
		return wrong(c, "comments are not part of this format");
	if (buf[c->pos + 1] == '/') {
		c->pos += strcspn(buf + c->pos, "\r\n");
		return true;
	}
	end = strstr(buf + c->pos + 2, "*/");
	if (!end)
		return wrong(c, "this comment does not end");
	c->pos = (size_t)(end - buf) + 2;
	return true;
}

static bool check_blank(struct check *c)
{
	for (;;) {
		c->pos += strspn(c->text->buf + c->pos, " \t\r\n");
		if (peek(c) != '/')
			return true;
		if (c->text->buf[c->pos + 1] != '/' && c->text->buf[c->pos + 1] != '*')
			return wrong(c, "a slash has no meaning here");
		if (!check_comment(c))
			return false;
	}
}

static bool check_string(struct check *c)
{
	const char *buf = c->text->buf;

	if (buf[c->pos] != '"')
		return wrong(c, "a string in double quotes is missing here");
	for (c->pos++; buf[c->pos] != '"'; c->pos++) {
		if ((unsigned char)buf[c->pos] < 0x20)
			return wrong(c, c->pos < c->text->len ?
						"a control character in a string" :
						"the text ends within a string");
		if (buf[c->pos] != '\\')
			continue;
		c->pos++;
		if (buf[c->pos] == 'u') {
			for (int i = 0; i < 4; i++)
				if (!buf[++c->pos] ||
				    !strchr("0123456789abcdefABCDEF", buf[c->pos]))
					return wrong(c, "four hexadecimal digits are missing here");
		} else if (!buf[c->pos] || !strchr("\"\\/bfnrt", buf[c->pos])) {
			return wrong(c, "an escape that JSON does not have");
		}
	}
	c->pos++;
	return true;
}

static size_t digits(struct check *c)
{
	size_t n = strspn(c->text->buf + c->pos, "0123456789");

	c->pos += n;
	return n;
}

static bool check_number(struct check *c)
{
	if (peek(c) == '-')
		c->pos++;
	if (peek(c) == '0')
		c->pos++;
	else if (!digits(c))
		return wrong(c, "a value is missing here");
	if (peek(c) == '.') {
		c->pos++;
		if (!digits(c))
			return wrong(c, "a digit is missing here");
	}
	if (peek(c) == 'e' || peek(c) == 'E') {
		c->pos++;
		if (peek(c) == '+' || peek(c) == '-')
			c->pos++;
		if (!digits(c))
			return wrong(c, "a digit is missing here");
	}
	return true;
}

static bool check_scalar(struct check *c)
{
	static const char *const words[] = { "true", "false", "null" };

	if (peek(c) == '"')
		return check_string(c);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strncmp(c->text->buf + c->pos, words[i], strlen(words[i]))) {
			c->pos += strlen(words[i]);
			return true;
		}
	}
	return check_number(c);
}

static bool check_key(struct check *c)
{
	if (!check_blank(c) || !check_string(c) || !check_blank(c))
		return false;
	if (peek(c) != ':')
		return wrong(c, "a colon is missing here");
	c->pos++;
	return true;
}

/* After a value: closing brackets, until a comma announces the next value or all are closed. */
static bool check_after(struct check *c, bool *more)
{
	*more = false;
	while (c->open.len) {
		bool object = c->open.buf[c->open.len - 1] == '{';

		if (!check_blank(c))
			return false;
		if (peek(c) == ',') {
			c->pos++;
			*more = true;
			return object ? check_key(c) : true;
		}
		if (peek(c) != (object ? '}' : ']'))
			return wrong(c, object ? "a comma or a closing brace is missing here" :
						 "a comma or a closing bracket is missing here");
		c->pos++;
		strbuf_setlen(&c->open, c->open.len - 1);
	}
	return true;
}

static bool check_text(struct check *c)
{
	bool more = true;

	while (more) {
		char bracket;

		if (!check_blank(c))
			return false;
		bracket = peek(c);
		if (bracket == '{' || bracket == '[') {
			strbuf_addch(&c->open, bracket);
			c->pos++;
			if (!check_blank(c))
				return false;
			if (peek(c) != (bracket == '{' ? '}' : ']')) {
				if (bracket == '{' && !check_key(c))
					return false;
				continue;
			}
		} else if (!check_scalar(c)) {
			return false;
		}
		if (!check_after(c, &more))
			return false;
	}
	if (!check_blank(c))
		return false;
	return c->pos == c->text->len ? true : wrong(c, "there is more text after the end");
}

int jsonedit_check(const struct strbuf *text, unsigned flags)
{
	struct check c = { .text = text, .flags = flags, .open = STRBUF_INIT };
	struct strbuf place = STRBUF_INIT;
	int err = 0;

	if (!strncmp(text->buf, "\xef\xbb\xbf", 3))
		c.pos = 3;
	if (!check_text(&c)) {
		jsonedit_place(&place, text, c.pos);
		err = ckpt_error_set(CKPT_ERROR, "%s: %s", place.buf, c.problem);
	}
	strbuf_release(&c.open);
	strbuf_release(&place);
	return err;
}
