/* SPDX-License-Identifier: MIT */
#include "record/manifest.h"

#include "record/checkpoint.h"

#define MANIFEST "checkpoint-manifest.md"

enum {
	HASH_DIGITS = 8,
	COLUMN_ID = 5,
};

static const char table_head[] =
	"| Hash | Timestamp | Reason | Source | Id | Step | Changed | Files | Size |\n"
	"|------|-----------|--------|--------|----|------|---------|-------|------|\n";

static void add_title(struct strbuf *out, struct store *store)
{
	struct strbuf path = STRBUF_INIT;

	quote_path(&path, store->worktree);
	strbuf_addf(out, "# Checkpoints of %s\n\n", path.buf);
	strbuf_addstr(out, table_head);
	strbuf_release(&path);
}

/* Text in a cell: what would end the cell or the line is escaped. */
static void add_cell(struct strbuf *out, const char *text)
{
	struct strbuf clean = STRBUF_INIT;

	utf8_sanitize(&clean, text, strlen(text));
	strbuf_addch(out, ' ');
	for (const char *p = clean.buf; *p; p++) {
		if (*p == '|')
			strbuf_addstr(out, "\\|");
		else
			strbuf_addch(out, (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p);
	}
	strbuf_addstr(out, " |");
	strbuf_release(&clean);
}

static void add_row(struct strbuf *out, const struct ckpt_record *record)
{
	char hash[OID_HEX + 1], iso[CLOCK_ISO_SIZE], size[UNITS_SIZE], number[UNITS_SIZE] = "";

	oid_hex(hash, &record->commit)[HASH_DIGITS] = '\0';
	strbuf_addch(out, '|');
	add_cell(out, hash);
	add_cell(out, clock_format_iso(iso, record->created_at));
	add_cell(out, record->reason);
	add_cell(out, record->source);
	add_cell(out, record->id);
	if (record->step >= 0)
		snprintf(number, sizeof(number), "%lld", (long long)record->step);
	add_cell(out, number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)record->changed);
	add_cell(out, number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)record->files);
	add_cell(out, number);
	add_cell(out, units_format_size(size, record->bytes));
	strbuf_addch(out, '\n');
}

/* An unreadable one: what its ref tells. */
static void add_damaged(struct strbuf *out, const struct ref_item *ref)
{
	char hash[OID_HEX + 1];

	oid_hex(hash, &ref->commit)[HASH_DIGITS] = '\0';
	strbuf_addf(out, "| %s |  | (damaged) |  | %s |  |  |  |  |\n", hash, ref->id);
}

/* A line of the text and its end, after the newline; NULL if there is none, or it is torn. */
static const char *next_line(const char **end_out, const struct strbuf *text, size_t at)
{
	const char *line = text->buf + at, *end = memchr(line, '\n', text->len - at);

	if (end)
		*end_out = end + 1;
	return end ? line : NULL;
}

/* Where the id of a row is, up to the end of the line; NULL if the line is not a row. */
static const char *find_id(const char *line, const char *end)
{
	const char *p = line;

	if (end - line < 2 || line[0] != '|' || line[1] != ' ')
		return NULL;
	for (int column = 1; column < COLUMN_ID; column++) {
		do {
			p = memchr(p + 1, '|', (size_t)(end - p - 1));
		} while (p && p[-1] == '\\');
		if (!p)
			return NULL;
	}
	while (p < end && (*p == '|' || *p == ' '))
		p++;
	return p;
}

/* The id in a row of the table; false if the line is not a row. */
static bool row_id(char out[CKPT_ID_SIZE], const char *line, const char *end)
{
	const char *id = find_id(line, end);
	size_t len = 0;

	while (id && id + len < end && id[len] != ' ' && id[len] != '|')
		len++;
	if (!id || len >= CKPT_ID_SIZE)
		return false;
	memcpy(out, id, len);
	out[len] = '\0';
	return refs_valid_id(out);
}

static bool row_fits(const char *line, const char *end, const struct ref_item *ref)
{
	const char *id = find_id(line, end);
	size_t len = strlen(ref->id);
	char hash[HASH_DIGITS + 1];

	if (!id || (size_t)(end - id) <= len || memcmp(id, ref->id, len) != 0 ||
	    (id[len] != ' ' && id[len] != '|'))
		return false;
	/* The commit of an unreadable ref is unknown; the row may still have it. */
	return oid_is_zero(&ref->commit) ||
	       !strncmp(line + strlen("| "),
			oid_hex_encode(hash, ref->commit.id, HASH_DIGITS / 2), HASH_DIGITS);
}

/* Up to the first row; false if it is missing or of another version. */
static bool skip_head(struct line_file *lines)
{
	const char *head = table_head;
	char *line;
	size_t len = 1;

	/* After the title, which names a worktree that may have any name. */
	while (len)
		if (!lines_next(lines, &line, &len))
			return false;
	for (; *head; head += len + 1)
		if (!lines_next(lines, &line, &len) || lines->torn || strcspn(head, "\n") != len ||
		    memcmp(line, head, len) != 0)
			return false;
	return true;
}

bool manifest_agrees(struct store *store, const struct ref_list *refs)
{
	struct line_file lines;
	size_t len, found = 0;
	char *line;
	bool agrees = !lines_open(&lines, store->dirfd, MANIFEST) && skip_head(&lines);

	while (agrees && lines_next(&lines, &line, &len)) {
		agrees = found < refs->nr && !lines.torn && !memchr(line, '\0', len) &&
			 row_fits(line, line + len, &refs->items[found]);
		found++;
	}
	agrees = agrees && !lines.error;
	lines_close(&lines);
	return agrees && found == refs->nr;
}

bool manifest_each(struct store *store,
		   void (*fn)(const char *id, const char *digits, void *payload), void *payload)
{
	struct strbuf text = STRBUF_INIT;
	bool whole = !fs_read_file(&text, store->dirfd, MANIFEST) && text.len &&
		     strlen(text.buf) == text.len && text.buf[text.len - 1] == '\n';
	const char *line, *end;

	/* By lines of the file, not by C strings: there may be more lines after NULs. */
	for (size_t at = 0; (line = next_line(&end, &text, at)); at = (size_t)(end - text.buf)) {
		char id[CKPT_ID_SIZE], digits[HASH_DIGITS + 1] = "";

		if (!row_id(id, line, end))
			continue;
		if (strspn(line + 2, "0123456789abcdef") == HASH_DIGITS)
			memcpy(digits, line + 2, HASH_DIGITS);
		fn(id, digits, payload);
	}
	strbuf_release(&text);
	return whole;
}

int manifest_append(struct store *store, const struct ckpt_record *record)
{
	struct strbuf row = STRBUF_INIT;
	int err;

	add_row(&row, record);
	err = fs_append_line(store->dirfd, MANIFEST, row.buf, row.len, 0600);
	strbuf_release(&row);
	return err;
}

int manifest_remove(struct store *store, const struct strlist *ids)
{
	struct strbuf left = STRBUF_INIT;
	struct line_file lines;
	char *line, id[CKPT_ID_SIZE];
	size_t len;
	bool whole;
	int err;

	add_title(&left, store);
	whole = !lines_open(&lines, store->dirfd, MANIFEST) && skip_head(&lines);
	while (whole && lines_next(&lines, &line, &len)) {
		whole = !lines.torn && !memchr(line, '\0', len);
		if (!row_id(id, line, line + len) || !pathset_has(ids, id)) {
			strbuf_add(&left, line, len);
			strbuf_addch(&left, '\n');
		}
	}
	whole = whole && !lines.error;
	lines_close(&lines);
	err = whole ? fs_write_file(store->dirfd, MANIFEST, left.buf, left.len, 0600, FS_FAST) :
		      manifest_rebuild(store);
	strbuf_release(&left);
	return err;
}

int manifest_rebuild(struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	struct ref_list refs;
	int err = refs_list(&refs, store);

	if (err)
		return err;
	add_title(&text, store);
	for (size_t i = 0; i < refs.nr && !err; i++) {
		struct ckpt_record record;

		err = record_read_saved(&record, store, &refs.items[i]);
		if (err == CKPT_ECORRUPT) {
			add_damaged(&text, &refs.items[i]);
			err = 0;
		} else if (!err) {
			add_row(&text, &record);
			record_release(&record);
		}
	}
	if (!err)
		err = fs_write_file(store->dirfd, MANIFEST, text.buf, text.len, 0600, FS_FAST);
	refs_release(&refs);
	strbuf_release(&text);
	return err;
}
