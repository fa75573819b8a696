/* SPDX-License-Identifier: MIT */
#include "hooks/config_edit_internal.h"

#include "base/base.h"
#include "git/git.h"

/* The end of the line that `pos` is in, before its "\n" or "\r\n". */
static size_t line_end(const struct strbuf *text, size_t pos)
{
	const char *eol = memchr(text->buf + pos, '\n', text->len - pos);
	size_t end = eol ? (size_t)(eol - text->buf) : text->len;

	return eol && end > pos && text->buf[end - 1] == '\r' ? end - 1 : end;
}

/* Where a section and a key of it are. */
struct found {
	const struct strbuf *text;
	const char *section, *key;
	bool has_key; /* the last place where it is set: */
	size_t start, end;
	struct strbuf value;
	bool has_section; /* its last item, the header at least: */
	bool bare;	  /* a header with nothing after it on its line */
	size_t section_start, section_end;
};

static int look_at(const struct configtext_item *item, void *payload)
{
	struct found *found = payload;
	size_t len = strlen(found->section), plain = strcspn(found->section, ".");

	if (strncasecmp(item->key, found->section, plain) ||
	    strncmp(item->key + plain, found->section + plain, len - plain) ||
	    item->key + len != strrchr(item->key, '.'))
		return 0;
	found->has_section = true;
	found->section_start = item->start;
	found->section_end = item->header ? line_end(found->text, item->name_end) : item->end;
	found->bare = item->header && found->section_end == item->name_end;
	if (item->header || strcasecmp(item->key + len + 1, found->key))
		return 0;
	found->has_key = true;
	found->start = item->start;
	found->end = item->end;
	strbuf_reset(&found->value);
	strbuf_addstr(&found->value, item->value ? item->value : "true");
	return 0;
}

/* In a file that git cannot read: what is before the malformed line. */
static void find(struct found *out, const struct strbuf *text, const char *section, const char *key)
{
	*out = (struct found){ .text = text, .section = section, .key = key, .value = STRBUF_INIT };
	(void)configtext_each(text->buf, text->len, look_at, out);
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
	struct found found;

	memset(edit, 0, sizeof(*edit));
	edit->section = xstrdup(section);
	edit->key = xstrdup(key);
	edit->value = xstrdup(value);
	format_key(&line, key, value);
	find(&found, text, section, key);
	if (found.has_key) {
		edit->old = xmemdupz(text->buf + found.start, found.end - found.start);
		strbuf_splice(text, found.start, found.end, line.buf, line.len);
	} else if (found.has_section) {
		size_t end = found.section_end;
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
	strbuf_release(&found.value);
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
	struct found found;

	find(&found, text, section, "");
	if (found.bare) {
		size_t next = found.section_end + strspn(text->buf + found.section_end, "\r\n");

		if (next == text->len || text->buf[next] == '[')
			remove_line(text, found.section_start, found.section_end);
	}
	strbuf_release(&found.value);
}

bool config_edit_undo(struct strbuf *text, const struct config_edit *edit)
{
	struct found found;
	bool ours;

	find(&found, text, edit->section, edit->key);
	ours = found.has_key && !strcmp(found.value.buf, edit->value);
	if (ours && edit->old)
		strbuf_splice(text, found.start, found.end, edit->old, strlen(edit->old));
	else if (ours)
		remove_line(text, found.start, found.end);
	if (edit->header)
		remove_empty_section(text, edit->section);
	strbuf_release(&found.value);
	return ours;
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
	struct found found;

	find(&found, text, section, key);
	strbuf_add(out, found.value.buf, found.value.len);
	strbuf_release(&found.value);
	return found.has_key;
}

struct counting {
	const char *key, *value; /* with its section */
	size_t count;
};

static int count_value(const char *key, const char *value, void *payload)
{
	struct counting *counting = payload;

	counting->count +=
		!strcmp(key, counting->key) && !strcmp(value ? value : "true", counting->value);
	return 0;
}

size_t config_edit_count(const struct strbuf *text, const char *key, const char *value)
{
	struct counting counting = { key, value, 0 };

	(void)configtext_parse(text->buf, text->len, count_value, &counting);
	return counting.count;
}

void config_edit_release(struct config_edit *edit)
{
	free(edit->section);
	free(edit->key);
	free(edit->value);
	free(edit->old);
	memset(edit, 0, sizeof(*edit));
}
