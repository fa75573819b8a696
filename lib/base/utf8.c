/* SPDX-License-Identifier: MIT */
#include "base/quote.h"

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
	/* Overlong forms, surrogates, and anything above U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return need;
}

uint32_t utf8_decode(const char *s, size_t sequence)
{
	uint32_t c = (unsigned char)s[0];

	if (sequence > 1)
		c &= 0x7fu >> sequence;
	for (size_t i = 1; i < sequence; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
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

bool utf8_control(const char *s, size_t sequence)
{
	const unsigned char *c = (const unsigned char *)s;

	if (sequence == 3)
		return c[0] == 0xe2 && ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) ||
					(c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
	if (sequence == 2)
		return c[0] == 0xc2 && c[1] < 0xa0;
	return sequence == 1 && (c[0] < 0x20 || c[0] == 0x7f);
}

void utf8_printable(struct strbuf *out, const char *s, size_t len, const char *kept, char instead)
{
	while (len) {
		size_t n = utf8_sequence(s, len);

		if (!n)
			strbuf_addstr(out, "\xef\xbf\xbd");
		else if (kept && utf8_control(s, n) && !(*s && strchr(kept, *s)))
			strbuf_addch(out, instead);
		else
			strbuf_add(out, s, n);
		n = n ? n : 1;
		s += n;
		len -= n;
	}
}

void utf8_sanitize(struct strbuf *out, const char *s, size_t len)
{
	utf8_printable(out, s, len, NULL, 0);
}
