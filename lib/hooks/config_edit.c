/* SPDX-License-Identifier: MIT */
#include "hooks/config_edit_internal.h"

#include "base/base.h"
#include "git/git.h"

/* A header or a key of the file, in the order of the text. */
struct item {
	bool header;
	size_t start;	       /* its first byte, indentation excluded */
	size_t end;	       /* after it and what follows on its line, without the line's end */
	size_t name_end;       /* of a key */
	struct strbuf section; /* that it starts or belongs to */
	struct strbuf value;   /* of a key */
};

#define ITEM_INIT { false, 0, 0, 0, STRBUF_INIT, STRBUF_INIT }

static void item_release(struct item *item)
{
	strbuf_release(&item->section);
	strbuf_release(&item->value);
}

static void item_copy(struct item *out, const struct item *from)
{
	item_release(out);
	*out = *from;
	strbuf_init(&out->section);
	strbuf_init(&out->value);
	strbuf_add(&out->section, from->section.buf, from->section.len);
	strbuf_add(&out->value, from->value.buf, from->value.len);
}

/* The end of the line that `pos` is in, before its "\n" or "\r\n". */
static size_t line_end(const struct strbuf *text, size_t pos)
{
	const char *eol = memchr(text->buf + pos, '\n', text->len - pos);
	size_t end = eol ? (size_t)(eol - text->buf) : text->len;

	return eol && end > pos && text->buf[end - 1] == '\r' ? end - 1 : end;
}

/* At "[": "core", or "hook.Sub" for a section with a subsection. Returns the position after "]". */
static size_t parse_header(struct item *item, const struct strbuf *text, size_t pos)
{
	bool quoted = false;

	strbuf_reset(&item->section);
	for (pos++; pos < text->len && text->buf[pos] != '\n'; pos++) {
		char c = text->buf[pos];

		if (c == ']' && !quoted)
			return pos + 1;
		if (c == '"') {
			if (!quoted)
				strbuf_addch(&item->section, '.');
			quoted = !quoted;
		} else if (quoted && c == '\\' && pos + 1 < text->len) {
			strbuf_addch(&item->section, text->buf[++pos]);
		} else if (quoted || !isspace((unsigned char)c)) {
			strbuf_addch(&item->section, quoted ? c : tolower((unsigned char)c));
		}
	}
	return pos;
}

static int unescape(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
}

/* After "=": the value, which may continue on further lines. Returns the end of the last one. */
static size_t parse_value(struct item *item, const struct strbuf *text, size_t pos)
{
	bool quoted = false;
	size_t keep = 0; /* white space at the end counts only within quotes */

	for (; pos < text->len; pos++) {
		char c = text->buf[pos];

		if (c == '\n' || (c == '\r' && text->buf[pos + 1] == '\n'))
			break;
		if (c == '\\' && pos + 1 < text->len) {
			pos += text->buf[pos + 1] == '\r' && text->buf[pos + 2] == '\n' ? 2 : 1;
			if (text->buf[pos] != '\n')
				strbuf_addch(&item->value, unescape(text->buf[pos]));
			keep = item->value.len;
		} else if (c == '"') {
			quoted = !quoted;
			keep = item->value.len;
		} else if (!quoted && (c == '#' || c == ';')) {
			pos = line_end(text, pos);
			break;
		} else if (quoted || !isspace((unsigned char)c)) {
			strbuf_addch(&item->value, c);
			keep = item->value.len;
		} else if (item->value.len) {
			strbuf_addch(&item->value, c);
		}
	}
	strbuf_setlen(&item->value, keep);
	return pos;
}

static void parse_key(struct item *item, const struct strbuf *text, size_t pos)
{
	while (pos < text->len && (isalnum((unsigned char)text->buf[pos]) || text->buf[pos] == '-'))
		pos++;
	item->name_end = pos;
	while (pos < text->len && (text->buf[pos] == ' ' || text->buf[pos] == '\t'))
		pos++;
	if (pos < text->len && text->buf[pos] == '=') {
		item->end = parse_value(item, text, pos + 1);
		return;
	}
	strbuf_addstr(&item->value, "true");
	item->end = line_end(text, pos);
}

/* The next item at or after `*pos`; false at the end. */
static bool next_item(struct item *item, const struct strbuf *text, size_t *pos)
{
	/* Some editors start a file with this; git skips it, too. */
	size_t p = !*pos && !strncmp(text->buf, "\xef\xbb\xbf", 3) ? 3 : *pos;

	while (p < text->len) {
		char c = text->buf[p];

		if (isspace((unsigned char)c)) {
			p++;
			continue;
		}
		if (c == '#' || c == ';') {
			p = line_end(text, p);
			continue;
		}
		item->start = p;
		item->header = c == '[';
		strbuf_reset(&item->value);
		if (item->header) {
			*pos = parse_header(item, text, p);
			item->end = line_end(text, *pos);
		} else {
			parse_key(item, text, p);
			*pos = item->end > p ? item->end : p + 1;
		}
		return true;
	}
	return false;
}

static bool same_section(const struct item *item, const char *section)
{
	size_t plain = strcspn(section, ".");

	return item->section.len == strlen(section) &&
	       !strncasecmp(item->section.buf, section, plain) &&
	       !strcmp(item->section.buf + plain, section + plain);
}

static bool is_key(const struct item *item, const struct strbuf *text, const char *section,
		   const char *key)
{
	return !item->header && same_section(item, section) &&
	       item->name_end - item->start == strlen(key) &&
	       !strncasecmp(text->buf + item->start, key, strlen(key));
}

/* The last place where the key is set. */
static bool find_key(struct item *out, const struct strbuf *text, const char *section,
		     const char *key)
{
	struct item item = ITEM_INIT;
	bool found = false;
	size_t pos = 0;

	while (next_item(&item, text, &pos)) {
		if (!is_key(&item, text, section, key))
			continue;
		item_copy(out, &item);
		found = true;
	}
	item_release(&item);
	return found;
}

/* The last item of the section, its header at least. */
static bool find_section_end(size_t *end_out, const struct strbuf *text, const char *section)
{
	struct item item = ITEM_INIT;
	bool found = false;
	size_t pos = 0;

	while (next_item(&item, text, &pos)) {
		if (!same_section(&item, section))
			continue;
		*end_out = item.end;
		found = true;
	}
	item_release(&item);
	return found;
}

static void format_key(struct strbuf *out, const char *key, const char *value)
{
	strbuf_addf(out, "%s = ", key);
	if (!*value || value[strcspn(value, " \t\n#;\"\\'")])
		quote_config(out, value);
	else
		strbuf_addstr(out, value);
}

static void format_header(struct strbuf *out, const char *section)
{
	const char *dot = strchr(section, '.');

	if (dot)
		strbuf_addf(out, "[%.*s \"%s\"]", (int)(dot - section), section, dot + 1);
	else
		strbuf_addf(out, "[%s]", section);
}

/* How lines end in this file. */
static const char *eol_of(const struct strbuf *text)
{
	const char *eol = memchr(text->buf, '\n', text->len);

	return eol && eol > text->buf && eol[-1] == '\r' ? "\r\n" : "\n";
}

/* The file keeps its last line end, or the lack of it, so that the change can be reverted exactly. */
static void append_section(struct strbuf *text, const char *section, const char *key_line)
{
	const char *eol = eol_of(text);
	bool ended = !text->len || text->buf[text->len - 1] == '\n';

	if (!ended)
		strbuf_addstr(text, eol);
	format_header(text, section);
	strbuf_addf(text, "%s\t%s%s", eol, key_line, ended ? eol : "");
}

void config_edit_set(struct strbuf *text, struct config_edit *edit, const char *section,
		     const char *key, const char *value)
{
	struct strbuf line = STRBUF_INIT;
	struct item item = ITEM_INIT;
	size_t end;

	memset(edit, 0, sizeof(*edit));
	edit->section = xstrdup(section);
	edit->key = xstrdup(key);
	edit->value = xstrdup(value);
	format_key(&line, key, value);
	if (find_key(&item, text, section, key)) {
		edit->old = xmemdupz(text->buf + item.start, item.end - item.start);
		strbuf_splice(text, item.start, item.end, line.buf, line.len);
	} else if (find_section_end(&end, text, section)) {
		struct strbuf insert = STRBUF_INIT;

		/* The new line gets the line end of the one before it, whatever the others have. */
		strbuf_addf(&insert, "%s\t%s",
			    text->buf[end] == '\r' ? "\r\n" :
			    text->buf[end] ? "\n" : eol_of(text), line.buf);
		strbuf_splice(text, end, end, insert.buf, insert.len);
		strbuf_release(&insert);
	} else {
		edit->header = true;
		append_section(text, section, line.buf);
	}
	item_release(&item);
	strbuf_release(&line);
}

/* Remove the whole line with its end; for a last line without one, the end before it. */
static void remove_line(struct strbuf *text, size_t start, size_t end)
{
	while (start && (text->buf[start - 1] == ' ' || text->buf[start - 1] == '\t'))
		start--;
	if (start && text->buf[start - 1] != '\n') {
		/* after a header on the same line, where only somebody else can have put it */
	} else if (end < text->len) {
		end += text->buf[end] == '\r' ? 2 : 1;
	} else if (start) {
		start--;
		if (start && text->buf[start - 1] == '\r')
			start--;
	}
	strbuf_splice(text, start, end, NULL, 0);
}

/* Only if nothing is left in it: no key, no comment. */
static void remove_empty_section(struct strbuf *text, const char *section)
{
	struct item item = ITEM_INIT, last = ITEM_INIT;
	bool found = false;
	size_t pos = 0;

	while (next_item(&item, text, &pos)) {
		if (same_section(&item, section)) {
			found = item.header && item.end == pos;
			item_copy(&last, &item);
		}
	}
	if (found) {
		size_t next = last.end + strspn(text->buf + last.end, "\r\n");

		if (next == text->len || text->buf[next] == '[')
			remove_line(text, last.start, last.end);
	}
	item_release(&item);
	item_release(&last);
}

bool config_edit_undo(struct strbuf *text, const struct config_edit *edit)
{
	struct item item = ITEM_INIT;
	bool found = find_key(&item, text, edit->section, edit->key) &&
		     !strcmp(item.value.buf, edit->value);

	if (found && edit->old)
		strbuf_splice(text, item.start, item.end, edit->old, strlen(edit->old));
	else if (found)
		remove_line(text, item.start, item.end);
	if (edit->header)
		remove_empty_section(text, edit->section);
	item_release(&item);
	return found;
}

/* --- whether the result is right --- */

struct reading {
	const struct config_edit *edits;
	size_t nr;
	size_t ours; /* values set by the edits */
	struct strbuf others; /* everything that the edits do not concern */
};

static int note_value(const char *key, const char *value, void *payload)
{
	struct reading *reading = payload;
	const char *last = strrchr(key, '.');

	for (size_t i = 0; last && i < reading->nr; i++) {
		const struct config_edit *edit = &reading->edits[i];
		size_t len = strlen(edit->section);

		if ((size_t)(last - key) == len && !strncasecmp(key, edit->section, len) &&
		    !strcasecmp(last + 1, edit->key)) {
			reading->ours += value && !strcmp(value, edit->value);
			/* An earlier value of the replaced key is not ours. */
			return 0;
		}
	}
	strbuf_addf(&reading->others, "%s=%s%c", key, value ? value : "", value ? '\1' : '\2');
	return 0;
}

static bool read_all(struct reading *out, const struct strbuf *text,
		     const struct config_edit *edits, size_t nr)
{
	*out = (struct reading){ edits, nr, 0, STRBUF_INIT };
	return !configtext_parse(text->buf, text->len, note_value, out);
}

bool config_edit_check(const struct strbuf *before, const struct strbuf *after,
		       const struct config_edit *edits, size_t nr)
{
	struct reading was, is;
	struct strbuf undone = STRBUF_INIT;
	bool good = read_all(&was, before, edits, nr);

	good = read_all(&is, after, edits, nr) && good && is.ours >= nr &&
	       strbuf_equal(&was.others, &is.others);
	strbuf_add(&undone, after->buf, after->len);
	for (size_t i = nr; i-- && good;)
		good = config_edit_undo(&undone, &edits[i]);
	good = good && strbuf_equal(&undone, before);
	strbuf_release(&undone);
	strbuf_release(&was.others);
	strbuf_release(&is.others);
	return good;
}

bool config_edit_get(struct strbuf *out, const struct strbuf *text, const char *section,
		     const char *key)
{
	struct item item = ITEM_INIT;
	bool found = find_key(&item, text, section, key);

	if (found)
		strbuf_add(out, item.value.buf, item.value.len);
	item_release(&item);
	return found;
}

size_t config_edit_count(const struct strbuf *text, const char *section, const char *key,
			 const char *value)
{
	struct item item = ITEM_INIT;
	size_t pos = 0, count = 0;

	while (next_item(&item, text, &pos))
		count += is_key(&item, text, section, key) && !strcmp(item.value.buf, value);
	item_release(&item);
	return count;
}

void config_edit_release(struct config_edit *edit)
{
	free(edit->section);
	free(edit->key);
	free(edit->value);
	free(edit->old);
	memset(edit, 0, sizeof(*edit));
}
