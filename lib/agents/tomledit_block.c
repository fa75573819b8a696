/* SPDX-License-Identifier: MIT */
#include "agents/tomledit_internal.h"

#include <string.h>

/* Lines of ours in somebody else's file. Nothing here needs to know that it is TOML. */

/* From its first to its last line, without the end of that. */
static void format_block(struct strbuf *out, const char *name, const char *body, const char *eol)
{
	strbuf_addf(out, "# >>> %s >>>%s", name, eol);
	for (; *body; body++) {
		if (*body == '\n')
			strbuf_addstr(out, eol);
		else
			strbuf_addch(out, *body);
	}
	strbuf_addf(out, "# <<< %s <<<", name);
}

static void append_block(struct strbuf *text, const char *name, const char *body)
{
	const char *newline = memchr(text->buf, '\n', text->len);
	const char *eol = newline && newline > text->buf && newline[-1] == '\r' ? "\r\n" : "\n";
	bool whole = !text->len || text->buf[text->len - 1] == '\n';

	/* An empty line before it, unless it is the first; the last line ends as the last did. */
	if (!whole)
		strbuf_addstr(text, eol);
	if (text->len)
		strbuf_addstr(text, eol);
	format_block(text, name, body, eol);
	if (whole)
		strbuf_addstr(text, eol);
}

static bool ends_line(const struct strbuf *text, size_t pos)
{
	return pos == text->len || text->buf[pos] == '\n' ||
	       (text->buf[pos] == '\r' && text->buf[pos + 1] == '\n');
}

/* The last place of a block, which begins and ends with a line. */
static bool find_exact(size_t *begin, const struct strbuf *text, const struct strbuf *block)
{
	const char *at = text->buf, *end = text->buf + text->len;
	bool found = false;

	while ((at = memmem(at, (size_t)(end - at), block->buf, block->len))) {
		size_t pos = (size_t)(at - text->buf);

		if ((!pos || text->buf[pos - 1] == '\n') && ends_line(text, pos + block->len)) {
			*begin = pos;
			found = true;
		}
		at++;
	}
	return found;
}

/* Before the line end that ends at `pos`, if it is `eol`. */
static size_t before_eol(const struct strbuf *text, size_t pos, const char *eol)
{
	size_t len = strlen(eol);

	return pos >= len && !memcmp(text->buf + pos - len, eol, len) ? pos - len : pos;
}

static bool find_block(size_t *begin, size_t *end, const struct strbuf *text, const char *name,
		       const char *body, const char *eol)
{
	struct strbuf block = STRBUF_INIT;
	bool found;

	format_block(&block, name, body, eol);
	found = find_exact(begin, text, &block);
	*end = found ? *begin + block.len : 0;
	strbuf_release(&block);
	return found;
}

bool tomledit_has_block(const struct strbuf *text, const char *name, const char *body)
{
	size_t begin, end;

	return find_block(&begin, &end, text, name, body, "\n") ||
	       find_block(&begin, &end, text, name, body, "\r\n");
}

static bool remove_with(struct strbuf *text, const char *name, const char *body, const char *eol)
{
	struct strbuf out = STRBUF_INIT;
	size_t begin, end, blank;

	if (!find_block(&begin, &end, text, name, body, eol))
		return false;
	if (end < text->len)
		end += text->buf[end] == '\r' ? 2 : 1;
	else
		begin = before_eol(text, begin, eol); /* the file did not end in a newline */
	blank = before_eol(text, begin, eol);
	/* An empty line, not the end of one with text. */
	if (blank < begin && (end == text->len || (blank && text->buf[blank - 1] == '\n')))
		begin = blank;
	strbuf_add(&out, text->buf, begin);
	strbuf_add(&out, text->buf + end, text->len - end);
	strbuf_release(text);
	*text = out;
	return true;
}

bool tomledit_add_block(struct strbuf *text, const char *name, const char *body)
{
	struct strbuf copy = STRBUF_INIT;
	size_t len = text->len;
	bool same;

	append_block(text, name, body);
	strbuf_add(&copy, text->buf, text->len);
	same = tomledit_remove_block(&copy, name, body) && copy.len == len &&
	       !memcmp(copy.buf, text->buf, len);
	if (!same)
		strbuf_setlen(text, len);
	strbuf_release(&copy);
	return same;
}

bool tomledit_remove_block(struct strbuf *text, const char *name, const char *body)
{
	return remove_with(text, name, body, "\n") || remove_with(text, name, body, "\r\n");
}
