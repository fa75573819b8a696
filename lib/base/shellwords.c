/* SPDX-License-Identifier: MIT */
#include "base/shellwords.h"

#include "base/alloc.h"
#include "base/std.h"
#include "base/strbuf.h"

/* The word being read. */
struct word {
	struct strbuf text;
	size_t start;
	bool begun;
	bool target; /* of a redirection */
	size_t fixed;
};

static void begin(struct word *word, size_t at)
{
	if (!word->begun)
		word->start = at;
	word->begun = true;
}

static void add(struct shellwords *out, const struct word *word)
{
	ALLOC_GROW(out->starts, out->words.nr + 1, out->alloc);
	out->starts[out->words.nr] = word->start;
	strlist_add(&out->words, word->text.buf);
}

static void end(struct shellwords *out, struct word *word)
{
	if (!word->begun)
		return;
	if (!word->target)
		add(out, word);
	strbuf_reset(&word->text);
	word->begun = word->target = false;
	word->fixed = 0;
}

/* From after the opening quote to after the closing one, or to the end of the line. */
static size_t quoted(struct word *word, const char *line, size_t at, char quote, char *open)
{
	for (; line[at] && line[at] != quote; at++) {
		if (quote == '"' && line[at] == '\\' && line[at + 1] &&
		    strchr("$`\"\\", line[at + 1]))
			at++;
		strbuf_addch(&word->text, line[at]);
	}
	*open = line[at] ? '\0' : quote;
	return *open ? at : at + 1;
}

static size_t redirection(struct shellwords *out, struct word *word, const char *line, size_t at)
{
	/* "2>file": the descriptor belongs to it. */
	if (word->begun && !word->text.buf[strspn(word->text.buf, "0123456789")])
		word->target = true;
	end(out, word);
	word->target = true;
	return at + strspn(line + at, "<>&|");
}

void shellwords_split(struct shellwords *out, const char *line, const char *breaks)
{
	struct word word = { .text = STRBUF_INIT };
	size_t at = 0;

	memset(out, 0, sizeof(*out));
	while (line[at]) {
		char c = line[at];

		if (c == ' ' || c == '\t' || c == '\n') {
			end(out, &word);
			at++;
			continue;
		}
		if (c == '<' || c == '>') {
			at = redirection(out, &word, line, at);
			continue;
		}
		begin(&word, at);
		if (c == '\'' || c == '"') {
			size_t before = word.text.len;

			at = quoted(&word, line, at + 1, c, &out->open);
			if (out->open)
				word.fixed = before;
			continue;
		}
		if (c == '\\' && line[at + 1])
			at++;
		strbuf_addch(&word.text, line[at]);
		/* To readline "@" begins what follows; after the others something new begins. */
		if (c != '\\' && strchr(breaks, c))
			word.fixed = word.text.len - (c == '@');
		at++;
	}
	begin(&word, at);
	out->fixed = word.fixed;
	out->redirected = word.target;
	add(out, &word);
	strbuf_release(&word.text);
}

void shellwords_quote(struct strbuf *out, const char *word, char open)
{
	for (const char *p = word; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (open == '\'' && c == '\'') {
			strbuf_addstr(out, "'\\''");
			continue;
		}
		if (open ? open == '"' && strchr("$`\"\\", c) :
			   c < 0x80 && !isalnum(c) && !strchr("_@%+=:,./-", c))
			strbuf_addch(out, '\\');
		strbuf_addch(out, c);
	}
}

void shellwords_release(struct shellwords *split)
{
	strlist_release(&split->words);
	free(split->starts);
	memset(split, 0, sizeof(*split));
}
