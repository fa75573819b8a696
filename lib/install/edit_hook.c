/* SPDX-License-Identifier: MIT */
#include "install/install_internal.h"

#include "base/base.h"

/* ---- shell scripts ---- */

/* The interpreter's name without its directory; past "env" if that is what looks for it. */
static const char *find_interpreter(size_t *len_out, const char *line, size_t len)
{
	const char *end = line + len, *p = line, *word;

	for (int words = 0; words < 2; words++) {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		word = p;
		for (; p < end && *p != ' ' && *p != '\t'; p++)
			if (*p == '/')
				word = p + 1;
		*len_out = (size_t)(p - word);
		if (*len_out != 3 || memcmp(word, "env", 3))
			return word;
	}
	return word;
}

/* Options that trace, or that take an argument, would change what our lines do. */
static bool has_plain_options(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end)
		return true;
	if (*p++ != '-' || p == end)
		return false;
	while (p < end && (*p == 'e' || *p == 'u'))
		p++;
	return p == end;
}

bool install_is_shell(const struct strbuf *text)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh", NULL };
	const char *eol = memchr(text->buf, '\n', text->len), *name;
	size_t size;

	if (!eol || text->len < 3 || memcmp(text->buf, "#!", 2) || strlen(text->buf) != text->len)
		return false;
	name = find_interpreter(&size, text->buf + 2, (size_t)(eol - text->buf) - 2);
	for (size_t i = 0; shells[i]; i++)
		if (strlen(shells[i]) == size && !memcmp(shells[i], name, size))
			return has_plain_options(name + size, eol);
	return false;
}

/* ---- lines in them ---- */

/* A new file: its first line, the lines that are inserted, and the rest, which runs what is aside. */
struct parts {
	char *lines;
	const char *rest;
};

static void split_hook(struct parts *out, const char *hook)
{
	const char *begin = strchr(hook, '\n') + 1, *end = strstr(begin, INSTALL_HOOK_END);

	out->rest = end + strlen(INSTALL_HOOK_END);
	out->lines = xmemdupz(begin, (size_t)(out->rest - begin));
}

/* At the beginning of a line. */
static const char *find_lines(const struct strbuf *text, const char *lines)
{
	const char *at = text->buf;

	while ((at = strstr(at, lines)) && at > text->buf && at[-1] != '\n')
		at++;
	return at;
}

/* Perhaps twice in one file, if somebody merged two hooks. */
static bool remove_lines(struct strbuf *text, const char *lines)
{
	bool found = false;

	for (const char *at; *lines && (at = find_lines(text, lines)); found = true)
		strbuf_splice(text, (size_t)(at - text->buf),
			      (size_t)(at - text->buf) + strlen(lines), NULL, 0);
	return found;
}

void install_insert(struct strbuf *text, const char *hook)
{
	const char *eol = memchr(text->buf, '\n', text->len);
	size_t first = eol ? (size_t)(eol - text->buf) + 1 : 0;
	struct parts parts;

	split_hook(&parts, hook);
	strbuf_splice(text, first, first, parts.lines, strlen(parts.lines));
	free(parts.lines);
}

bool edit_hook_has_lines(const struct install_change *change, const struct strbuf *text)
{
	struct parts parts;
	bool has;

	split_hook(&parts, change->text);
	has = find_lines(text, parts.lines);
	free(parts.lines);
	return has;
}

bool edit_hook_runs_aside(const struct install_change *change, const struct strbuf *text)
{
	struct parts parts;
	bool runs;

	split_hook(&parts, change->text);
	runs = *parts.rest && find_lines(text, parts.rest);
	free(parts.lines);
	return runs;
}

bool edit_hook_remove(struct strbuf *text, const struct install_change *change)
{
	bool whole = !strcmp(text->buf, change->text);
	struct parts parts;

	split_hook(&parts, change->text);
	if (remove_lines(text, parts.lines))
		(void)remove_lines(text, parts.rest);
	free(parts.lines);
	return whole;
}
