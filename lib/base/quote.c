/* SPDX-License-Identifier: MIT */
#include "base/quote.h"

#include <ctype.h>
#include <string.h>

size_t utf8_sequence(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t need;

	if (!len)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		need = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		need = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		need = 4;
	else
		return 0;
	if (len < need)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what lies above U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return need;
}

bool utf8_valid(const char *s, size_t len)
{
	while (len) {
		size_t n = utf8_sequence(s, len);

		if (!n)
			return false;
		s += n;
		len -= n;
	}
	return true;
}

void utf8_sanitize(struct strbuf *out, const char *s, size_t len)
{
	while (len) {
		size_t n = utf8_sequence(s, len);

		if (n)
			strbuf_add(out, s, n);
		else
			strbuf_addstr(out, "\xef\xbf\xbd");
		n = n ? n : 1;
		s += n;
		len -= n;
	}
}

bool utf8_control(const char *s, size_t sequence)
{
	unsigned char c = (unsigned char)s[0];

	if (sequence == 2)
		return c == 0xc2 && (unsigned char)s[1] < 0xa0;
	return sequence == 1 && (c < 0x20 || c == 0x7f);
}

void utf8_printable(struct strbuf *out, const char *s, size_t len, const char *kept, char instead)
{
	while (len) {
		size_t n = utf8_sequence(s, len);

		if (!n)
			strbuf_addstr(out, "\xef\xbf\xbd");
		else if (utf8_control(s, n) && !(*s && strchr(kept, *s)))
			strbuf_addch(out, instead);
		else
			strbuf_add(out, s, n);
		n = n ? n : 1;
		s += n;
		len -= n;
	}
}

static const char escapes[] = "\aa\bb\tt\nn\vv\ff\rr\"\"\\\\";

void quote_c(struct strbuf *out, const char *s, size_t len)
{
	strbuf_addch(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		const char *esc = escapes;

		while (*esc && (unsigned char)*esc != c)
			esc += 2;
		if (*esc)
			strbuf_addf(out, "\\%c", esc[1]);
		else if (c < 0x20 || c >= 0x7f)
			strbuf_addf(out, "\\%03o", c);
		else
			strbuf_addch(out, c);
	}
	strbuf_addch(out, '"');
}

bool unquote_c(struct strbuf *out, const char *s, const char **end_out)
{
	if (*s++ != '"')
		return false;
	while (*s != '"') {
		const char *esc = escapes;

		if (!*s)
			return false;
		if (*s != '\\') {
			strbuf_addch(out, *s++);
			continue;
		}
		s++;
		while (*esc && esc[1] != *s)
			esc += 2;
		if (*s && *esc) {
			strbuf_addch(out, *esc);
			s++;
		} else if (s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
			   s[2] >= '0' && s[2] <= '7') {
			strbuf_addch(out, (s[0] - '0') << 6 | (s[1] - '0') << 3 | (s[2] - '0'));
			s += 3;
		} else {
			return false;
		}
	}
	if (end_out)
		*end_out = s + 1;
	return true;
}

void quote_path(struct strbuf *out, const char *path)
{
	size_t len = strlen(path), n = 0;
	bool plain = true;

	for (size_t i = 0; i < len && plain; i += n) {
		n = utf8_sequence(path + i, len - i);
		plain = n && !utf8_control(path + i, n) && path[i] != '"' && path[i] != '\\';
	}
	if (plain)
		strbuf_add(out, path, len);
	else
		quote_c(out, path, len);
}

void quote_shell(struct strbuf *out, const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_./:@%+=,-~";

	if (*s && *s != '~' && !s[strspn(s, safe)]) {
		strbuf_addstr(out, s);
		return;
	}
	strbuf_addch(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			strbuf_addstr(out, "'\\''");
		else
			strbuf_addch(out, *s);
	}
	strbuf_addch(out, '\'');
}

bool unquote_shell(struct strbuf *out, const char **pos)
{
	const char *p = *pos;

	if (*p != '\'')
		return false;
	for (;;) {
		const char *close = strchr(++p, '\'');

		if (!close)
			return false;
		strbuf_add(out, p, (size_t)(close - p));
		p = close + 1;
		if (p[0] == '\\' && (p[1] == '\'' || p[1] == '!') && p[2] == '\'') {
			strbuf_addch(out, p[1]);
			p += 2;
			continue;
		}
		*pos = p;
		return true;
	}
}
