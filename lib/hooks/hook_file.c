/* SPDX-License-Identifier: MIT */
#include "hooks/hook_file_internal.h"

#include "base/base.h"

/* The variable that only a dispatcher's lines set. */
#define DISPATCH "_ckpt_hook="

/* All our lines set this variable. */
#define PROGRAM "_ckpt_program="

/* The position of the line `line` (with its end) in the text, NULL if it does not occur. */
static const char *find_line(const char *text, size_t len, const char *line)
{
	size_t size = strlen(line);
	const char *end = text + len, *p = text;

	while ((p = memmem(p, (size_t)(end - p), line, size))) {
		if (p == text || p[-1] == '\n')
			return p;
		p++;
	}
	return NULL;
}

/*
 * Our lines, including both markers. All that were ever inserted into a hook
 * name the program in the same way; other text between such markers is not ours.
 */
static bool find_ours(const char **start, const char **end, const char *text, size_t len)
{
	const char *limit = text + len;

	while ((*start = find_line(text, (size_t)(limit - text), HOOK_FILE_BEGIN))) {
		text = *start + strlen(HOOK_FILE_BEGIN);
		*end = find_line(text, (size_t)(limit - text), HOOK_FILE_END);
		if (!*end)
			return false;
		if (memmem(text - 1, (size_t)(*end - text) + 1, "\n" PROGRAM, strlen("\n" PROGRAM))) {
			*end += strlen(HOOK_FILE_END);
			return true;
		}
	}
	return false;
}

/* The interpreter's name without its directory; past "env" if that is what looks for it. */
static const char *interpreter(size_t *len_out, const char *line, size_t len)
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
static bool plain_options(const char *p, const char *end)
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

bool hook_file_is_shell(const char *text, size_t len)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh", NULL };
	const char *eol = memchr(text, '\n', len), *name;
	size_t size;

	if (!eol || len < 3 || memcmp(text, "#!", 2) || memchr(text, '\0', len))
		return false;
	name = interpreter(&size, text + 2, (size_t)(eol - text) - 2);
	for (size_t i = 0; shells[i]; i++)
		if (strlen(shells[i]) == size && !memcmp(shells[i], name, size))
			return plain_options(name + size, eol);
	return false;
}

bool hook_file_is_ours(const char *text, size_t len)
{
	const char *start, *end;

	return find_ours(&start, &end, text, len);
}

bool hook_file_is_dispatcher(const char *text, size_t len)
{
	const char *start, *end, *p;

	if (!find_ours(&start, &end, text, len))
		return false;
	p = memmem(start, (size_t)(end - start), "\n" DISPATCH, strlen("\n" DISPATCH));
	return p != NULL;
}

bool hook_file_lines(struct strbuf *out, const char *shim, size_t len)
{
	const char *start, *end;

	if (!find_ours(&start, &end, shim, len))
		return false;
	strbuf_add(out, start, (size_t)(end - start));
	return true;
}

/* The line of `text` that starts with "# @", the name and `what`; `after` is the next line. */
static const char *find_mark(const char **after, const char *text, const char *name,
			     const char *what)
{
	size_t len = strlen(name);

	for (const char *p = text; *p;) {
		const char *eol = strchrnul(p, '\n'), *next = *eol ? eol + 1 : eol;

		if (!strncmp(p, "# @", 3) && !strncmp(p + 3, name, len) &&
		    !strncmp(p + 3 + len, what, strlen(what))) {
			*after = next;
			return p;
		}
		p = next;
	}
	return NULL;
}

bool hook_file_paste(struct strbuf *shim, const char *home, const char *name)
{
	const char *part, *end, *at, *after, *ignored;

	if (!find_mark(&part, home, name, " begins") ||
	    !(end = find_mark(&ignored, part, name, " ends")))
		return false;
	at = find_mark(&after, shim->buf, name, ":");
	if (at)
		strbuf_splice(shim, (size_t)(at - shim->buf), (size_t)(after - shim->buf), part,
			      (size_t)(end - part));
	return true;
}

/* The line "name='...'" without its end. */
static const char *find_variable(size_t *len_out, const struct strbuf *lines, const char *name)
{
	size_t size = strlen(name);

	for (const char *p = lines->buf; *p;) {
		const char *eol = strchrnul(p, '\n');

		if (!strncmp(p, name, size) && !strncmp(p + size, "='", 2) && eol[-1] == '\'') {
			*len_out = (size_t)(eol - p);
			return p;
		}
		p = *eol ? eol + 1 : eol;
	}
	return NULL;
}

bool hook_file_fill(struct strbuf *lines, const char *name, const char *value)
{
	struct strbuf filled = STRBUF_INIT, quoted = STRBUF_INIT;
	size_t len, start;
	const char *line = find_variable(&len, lines, name);

	if (!line)
		return false;
	quote_shell(&quoted, value);
	/* Always in quotes, so that it can be filled again. */
	strbuf_addf(&filled, *quoted.buf == '\'' ? "%s=%s" : "%s='%s'", name, quoted.buf);
	start = (size_t)(line - lines->buf);
	strbuf_splice(lines, start, start + len, filled.buf, filled.len);
	strbuf_release(&quoted);
	strbuf_release(&filled);
	return true;
}

bool hook_file_remove(struct strbuf *out, const char *text, size_t len)
{
	const char *start, *end;
	bool found = false;

	/* Perhaps twice in one file, if somebody merged two hooks. */
	while (find_ours(&start, &end, text, len)) {
		strbuf_add(out, text, (size_t)(start - text));
		len -= (size_t)(end - text);
		text = end;
		found = true;
	}
	strbuf_add(out, text, len);
	return found;
}

void hook_file_insert(struct strbuf *out, const char *text, size_t len, const char *lines)
{
	struct strbuf bare = STRBUF_INIT;
	const char *eol;
	size_t first;

	hook_file_remove(&bare, text, len);
	eol = memchr(bare.buf, '\n', bare.len);
	first = eol ? (size_t)(eol - bare.buf) + 1 : 0;
	strbuf_add(out, bare.buf, first);
	strbuf_addstr(out, lines);
	strbuf_add(out, bare.buf + first, bare.len - first);
	strbuf_release(&bare);
}

void hook_file_shim(struct strbuf *out, const char *lines, const char *name, bool dispatcher)
{
	size_t size = strlen(lines) - strlen(HOOK_FILE_END);

	strbuf_addstr(out, HOOK_FILE_FRAME);
	strbuf_add(out, lines, size);
	if (dispatcher)
		strbuf_addf(out,
			    "# The hook that was here before, under its own name:\n" DISPATCH
			    "${0%%/*}/" HOOK_FILE_LINKS "/%s\n"
			    "[ ! -x \"$_ckpt_hook\" ] || exec \"$_ckpt_hook\" \"$@\"\n",
			    name);
	strbuf_addstr(out, HOOK_FILE_END);
}
