/* SPDX-License-Identifier: MIT */
#include "settings/ini_internal.h"

#include "base/base.h"

struct reader {
	const char *path;
	unsigned line;	       /* number of the current line */
	struct strbuf section; /* that it is in */
	struct strbuf text;    /* of it, without comment, and without white space around it */
	inifile_fn fn;
	void *payload;
};

static int set_malformed(const struct reader *reader, const char *what)
{
	return ckpt_error_set(CKPT_ERROR, "%s:%u: %s", reader->path, reader->line, what);
}

/* Where the comment of a line starts, or its end. */
static size_t find_comment(const char *text)
{
	size_t i;

	/* A name in brackets may contain anything; what follows them does not count. */
	if (*text == '[')
		return strlen(text);
	for (i = 0; text[i]; i++)
		if ((text[i] == '#' || text[i] == ';') &&
		    (!i || isspace((unsigned char)text[i - 1])))
			break;
	return i;
}

static int read_section(struct reader *reader)
{
	const char *name = reader->text.buf + 1, *end = strchr(name, ']');

	if (!end)
		return set_malformed(reader, "neither 'key = value' nor '[section]'");
	strbuf_reset(&reader->section);
	strbuf_add(&reader->section, name, (size_t)(end - name));
	return 0;
}

static int read_pair(struct reader *reader)
{
	char *key = reader->text.buf, *end = strpbrk(key, "=:"), *value;

	if (!end)
		return set_malformed(reader, "neither 'key = value' nor '[section]'");
	for (value = end + 1; isspace((unsigned char)*value);)
		value++;
	while (end > key && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return *key ? reader->fn(reader->section.buf, key, value, reader->line, reader->payload) :
		      set_malformed(reader, "no key before the '='");
}

static int read_line(struct reader *reader, const char *line, size_t len)
{
	struct strbuf *text = &reader->text;

	reader->line++;
	if (memchr(line, '\0', len))
		return set_malformed(reader, "a NUL byte, so this is not a text file");
	strbuf_reset(text);
	strbuf_add(text, line, len);
	strbuf_trim(text);
	strbuf_setlen(text, find_comment(text->buf));
	strbuf_trim(text);
	if (!text->len)
		return 0;
	return *text->buf == '[' ? read_section(reader) : read_pair(reader);
}

int ini_parse_text(const char *text, size_t len, const char *path, inifile_fn fn, void *payload)
{
	struct reader reader = { .section = STRBUF_INIT, .text = STRBUF_INIT, .fn = fn,
				 .payload = payload, .path = path };
	const char *end = text + len, *newline;
	int err = 0;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	for (; text < end && !err; text = newline < end ? newline + 1 : end) {
		newline = memchr(text, '\n', (size_t)(end - text));
		newline = newline ? newline : end;
		err = read_line(&reader, text, (size_t)(newline - text));
	}
	strbuf_release(&reader.section);
	strbuf_release(&reader.text);
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
	char *real;
	bool within;

	if (stat(path, &st) || (st.st_uid != geteuid() && st.st_uid != 0))
		return "the file belongs to another user";
	if (!worktree)
		return NULL;
	real = path_resolve(path);
	within = path_below(real, worktree) != NULL;
	free(real);
	return within ? "the file is in the worktree" : NULL;
}
