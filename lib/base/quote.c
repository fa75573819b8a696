/* SPDX-License-Identifier: MIT */
#include "base/quote.h"

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

bool quote_undo_c(struct strbuf *out, const char *s, const char **end_out)
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

void quote_config(struct strbuf *out, const char *value)
{
	strbuf_addch(out, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			strbuf_addch(out, '\\');
		if (*value == '\n')
			strbuf_addstr(out, "\\n");
		else
			strbuf_addch(out, *value);
	}
	strbuf_addch(out, '"');
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

bool quote_undo_shell(struct strbuf *out, const char **pos)
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
