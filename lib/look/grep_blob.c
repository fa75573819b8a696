/* SPDX-License-Identifier: MIT */
#include "look/grep_internal.h"

#include "base/base.h"
#include "store/store.h"

enum {
	BINARY_LOOK = 8000,   /* bytes at the start: a NUL among them means binary, as in git */
	WHOLE_MAX = 16 << 20, /* larger ones are not held in memory */
	CUT_OVERLAP = 4096,   /* what matches across a cut is found if it is no longer */
};

struct reader {
	struct grep_blob *out;
	struct patterns *patterns;
	bool files_only;
	bool begun;
	bool enough; /* the rest is only read to check its name */
	size_t lines;	     /* that were searched */
	struct strbuf rest; /* of large ones: an unfinished line */
};

static size_t count_lines(const char *text, size_t len)
{
	const char *end = text + len, *p = text;
	size_t nr = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		nr++;
		p++;
	}
	return nr;
}

static void add_line(struct grep_blob *out, size_t number, const char *text, size_t len)
{
	if (!out->nr)
		strbuf_init(&out->held);
	ALLOC_GROW(out->lines, out->nr + 1, out->alloc);
	out->lines[out->nr++] = (struct grep_blob_line){ number, out->held.len, len, 0 };
	strbuf_add(&out->held, text, len);
}

/* Whole lines; the last one may lack its newline. */
static int search(struct reader *reader, const char *text, size_t len)
{
	size_t at = 0, end = 0, counted = 0;
	int found;

	if (reader->enough)
		return 0;
	while ((found = patterns_next_line(&at, &end, reader->patterns, text, len)) > 0) {
		reader->out->matches = true;
		reader->enough = reader->files_only || reader->out->binary;
		if (reader->enough)
			return 0;
		reader->lines += count_lines(text + counted, at - counted);
		counted = at;
		add_line(reader->out, reader->lines + 1, text + at, end - at);
		at = end + 1;
	}
	reader->lines += count_lines(text + counted, len - counted);
	return found;
}

static void begin(struct reader *reader, const char *text, size_t len)
{
	reader->begun = true;
	reader->out->binary = memchr(text, '\0', len < BINARY_LOOK ? len : BINARY_LOOK);
}

/*
 * How much of what is held can be searched; what came before `from` has no newline. A binary file
 * may be one line of any length, a disk image of zeros for example, so there it is cut somewhere.
 */
static size_t find_end(const struct reader *reader, size_t from)
{
	const struct strbuf *rest = &reader->rest;
	const char *newline = memrchr(rest->buf + from, '\n', rest->len - from);

	if (newline)
		return (size_t)(newline + 1 - rest->buf);
	return reader->out->binary && rest->len > WHOLE_MAX ? rest->len : 0;
}

/* A piece of a large one. */
static int take(const void *data, size_t len, void *payload)
{
	struct reader *reader = payload;
	struct strbuf *rest = &reader->rest;
	size_t from = reader->begun ? rest->len : 0, whole;
	int err;

	if (reader->enough)
		return 0;
	strbuf_add(rest, data, len);
	if (!reader->begun && rest->len < BINARY_LOOK)
		return 0;
	if (!reader->begun)
		begin(reader, rest->buf, rest->len);
	whole = find_end(reader, from);
	if (!whole)
		return 0;
	err = search(reader, rest->buf, whole);
	if (rest->buf[whole - 1] != '\n')
		whole -= CUT_OVERLAP;
	strbuf_splice(rest, 0, whole, "", 0);
	return err;
}

static int search_large(struct reader *reader, struct store *store, const struct oid *oid)
{
	int err;

	strbuf_init(&reader->rest);
	err = objects_stream(store, oid, take, reader);
	if (!err && !reader->begun)
		begin(reader, reader->rest.buf, reader->rest.len);
	if (!err)
		err = search(reader, reader->rest.buf, reader->rest.len);
	strbuf_release(&reader->rest);
	return err;
}

int grep_blob(struct grep_blob *out, struct store *store, const struct oid *oid,
	      struct patterns *patterns, bool files_only)
{
	struct reader reader = { .out = out, .patterns = patterns, .files_only = files_only };
	struct strbuf whole = STRBUF_INIT;
	uint64_t size;
	int err = objects_size(&size, store, oid);

	if (!err && size > WHOLE_MAX)
		err = search_large(&reader, store, oid);
	else if (!err)
		err = objects_read(&whole, store, oid, OBJECT_BLOB);
	if (!err && size <= WHOLE_MAX) {
		begin(&reader, whole.buf, whole.len);
		err = search(&reader, whole.buf, whole.len);
	}
	strbuf_release(&whole);
	if (err)
		grep_blob_release(out);
	return err;
}

void grep_blob_release(struct grep_blob *blob)
{
	free(blob->lines);
	if (blob->nr && blob->held.buf)
		strbuf_release(&blob->held);
	memset(blob, 0, sizeof(*blob));
}
