/* SPDX-License-Identifier: MIT */
#include "settings/ini.h"

#include <ini.h>

/*
 * inih is made for short lines that start at the left: it cuts what is longer
 * than its buffer (200 bytes, sections at 50), takes an indented key for a
 * continuation of the previous value, and does not tell its handler the line.
 * All that depends on how it was compiled, so none of it is relied upon: the
 * reader below gives it exactly one trimmed line per call, and can so count
 * them; of a line that does not fit it passes the key and a placeholder for
 * the value, and the handler replaces that with the value, which the reader
 * has kept.
 */

enum {
	KEY_ROOM = 100,    /* as much of a key as certainly fits into inih's line */
	SECTION_ROOM = 48, /* what inih keeps of a section's name, at the least */
};

struct reader {
	const char *next, *end; /* the rest of the file */
	unsigned line;          /* number of the current line */
	struct strbuf section;  /* its full name */
	struct strbuf value;    /* the line's value, if `kept` */
	bool kept;              /* inih has only a placeholder for the value */
	inifile_fn fn;
	void *payload;
	const char *path;
	int err;
};

static int set_malformed(struct reader *reader, const char *what)
{
	reader->err = ckpt_error_set(CKPT_ERROR, "%s:%u: %s", reader->path, reader->line, what);
	return 0;
}

/* Where the comment of a line starts, or its end. */
static size_t comment_start(const char *text)
{
	size_t i;

	/* A name in brackets may contain anything; inih skips what follows them. */
	if (*text == '[')
		return strlen(text);
	for (i = 0; text[i]; i++)
		if ((text[i] == '#' || text[i] == ';') &&
		    (!i || isspace((unsigned char)text[i - 1])))
			break;
	return i;
}

/* The next line into `out`, without white space around it and without comment. */
static bool take_line(struct reader *reader, struct strbuf *out)
{
	const char *newline;
	size_t len;

	if (reader->next >= reader->end)
		return false;
	newline = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
	len = (size_t)((newline ? newline : reader->end) - reader->next);
	reader->line++;
	if (memchr(reader->next, '\0', len)) {
		set_malformed(reader, "a NUL byte, so this is not a text file");
		return false;
	}
	strbuf_add(out, reader->next, len);
	reader->next += len + (newline ? 1 : 0);
	strbuf_trim(out);
	strbuf_setlen(out, comment_start(out->buf));
	strbuf_trim(out);
	return true;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void shorten_section(struct reader *reader, struct strbuf *line, size_t room)
{
	size_t len = strcspn(line->buf + 1, "]");
	bool closed = line->buf[1 + len] == ']';

	strbuf_reset(&reader->section);
	strbuf_add(&reader->section, line->buf + 1, len);
	if (line->len < room)
		return;
	strbuf_setlen(line, 1 + min_size(len, SECTION_ROOM));
	if (closed)
		strbuf_addch(line, ']');
}

/* Keep what inih would cut, and make the line fit. */
static void shorten_line(struct reader *reader, struct strbuf *line, size_t room)
{
	size_t key = strcspn(line->buf, "=:");
	bool has_value = key < line->len;

	reader->kept = false;
	if (*line->buf == '[') {
		shorten_section(reader, line, room);
		return;
	}
	if (line->len < room)
		return;
	if (has_value) {
		reader->kept = true;
		strbuf_reset(&reader->value);
		strbuf_addstr(&reader->value, line->buf + key + 1);
		strbuf_trim(&reader->value);
	}
	strbuf_setlen(line, min_size(key, KEY_ROOM));
	if (has_value)
		strbuf_addstr(line, "=kept");
}

/* Replaces fgets(). */
static char *read_line(char *str, int num, void *stream)
{
	struct reader *reader = stream;
	struct strbuf line = STRBUF_INIT;
	char *result = NULL;

	if (!reader->err && take_line(reader, &line)) {
		/* Room for the newline and the NUL, and so that inih never thinks it cut. */
		shorten_line(reader, &line, (size_t)num - 3);
		memcpy(str, line.buf, line.len);
		memcpy(str + line.len, "\n", 2);
		result = str;
	}
	strbuf_release(&line);
	return result;
}

static int handle_item(void *user, const char *section, const char *key, const char *value)
{
	struct reader *reader = user;

	if (reader->kept)
		value = reader->value.buf;
	if (*section)
		section = reader->section.buf;
	if (!*key)
		return set_malformed(reader, "no key before the '='");
	reader->err = reader->fn(section, key, value, reader->line, reader->payload);
	return !reader->err;
}

static int parse_stream(struct reader *reader)
{
	int rc = ini_parse_stream(read_line, reader, handle_item, reader);

	/* inih continues after a line that it does not understand. */
	if (rc > 0 && (!reader->err || (unsigned)rc < reader->line)) {
		reader->line = (unsigned)rc;
		set_malformed(reader, "neither 'key = value' nor '[section]'");
	} else if (!reader->err && rc < 0) {
		set_malformed(reader, "unable to parse");
	}
	return reader->err;
}

int ini_parse_text(const char *text, size_t len, const char *path, inifile_fn fn, void *payload)
{
	struct reader reader = { .section = STRBUF_INIT, .value = STRBUF_INIT, .fn = fn,
				 .payload = payload, .path = path };
	int err;

	reader.next = text;
	reader.end = text + len;
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		reader.next += 3;
	err = parse_stream(&reader);
	strbuf_release(&reader.section);
	strbuf_release(&reader.value);
	return err;
}

int ini_read(const char *path, inifile_fn fn, void *payload)
{
	struct strbuf text = STRBUF_INIT;
	char *real = path_real(path);
	int err;

	if (!real && errno == ENOTDIR)
		return ckpt_error_set(CKPT_ENOTFOUND, "unable to open '%s': no such file", path);
	if (!real)
		return ckpt_error_errno("unable to open '%s'", path);
	err = fs_read_text(&text, AT_FDCWD, real);
	if (!err)
		err = ini_parse_text(text.buf, text.len, path, fn, payload);
	strbuf_release(&text);
	free(real);
	return err;
}

const char *ini_distrust(const char *path, const char *worktree)
{
	struct stat st;

	if (stat(path, &st) || (st.st_uid != geteuid() && st.st_uid != 0))
		return "the file belongs to another user";
	return worktree && path_visits(path, worktree) ? "the file is in the worktree" : NULL;
}
