/* SPDX-License-Identifier: MIT */
#include "record/manifest.h"

#include "base/clock.h"
#include "base/fsio.h"
#include "base/quote.h"
#include "base/units.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#define MANIFEST "checkpoint-manifest.md"

enum { HASH_DIGITS = 8, COLUMN_ID = 5 };

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

/* Text in a cell: what would end the cell or the line is made harmless. */
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

/* The id in a row of the table, NULL if the line is none. The line is cut up. */
static const char *row_id(char *line)
{
	char *p = line;

	if (line[0] != '|' || line[1] != ' ')
		return NULL;
	for (int column = 1; column < COLUMN_ID; column++) {
		do {
			p = strchr(p + 1, '|');
		} while (p && p[-1] == '\\');
		if (!p)
			return NULL;
	}
	p += strspn(p, "| ");
	p[strcspn(p, " |")] = '\0';
	return refs_valid_id(p) ? p : NULL;
}

bool ckpt_manifest_agrees(struct store *store, const struct ref_list *refs)
{
	struct strbuf text = STRBUF_INIT;
	size_t found = 0;
	bool agrees = !fs_read_file(&text, store->dirfd, MANIFEST);
	/* Behind the title, which names a worktree that may be called anything. */
	const char *blank = strstr(text.buf, "\n\n");
	size_t head = blank ? (size_t)(blank + 2 - text.buf) : 0;
	char *line, *rest = NULL;

	/* A file of NULs, a torn last line, or a head of another version: make it anew. */
	agrees = agrees && strlen(text.buf) == text.len && text.len &&
		 text.buf[text.len - 1] == '\n' &&
		 !strncmp(text.buf + head, table_head, strlen(table_head));
	if (agrees) {
		line = strtok_r(text.buf + head + strlen(table_head), "\n", &rest);
		for (; line && agrees; line = strtok_r(NULL, "\n", &rest)) {
			const char *id = row_id(line);
			char hash[OID_HEX + 1];

			agrees = id && found < refs->nr && !strcmp(id, refs->items[found].id) &&
				 !strncmp(line + strlen("| "),
					  oid_hex(hash, &refs->items[found].commit), HASH_DIGITS);
			found++;
		}
		agrees = agrees && found == refs->nr;
	}
	strbuf_release(&text);
	return agrees;
}

bool ckpt_manifest_each(struct store *store,
			void (*fn)(const char *id, const char *digits, void *payload),
			void *payload)
{
	struct strbuf text = STRBUF_INIT;
	size_t at = 0;
	bool whole = !fs_read_file(&text, store->dirfd, MANIFEST) && text.len &&
		     strlen(text.buf) == text.len && text.buf[text.len - 1] == '\n';

	/* By lines of the file, not by C strings: behind NULs there may be more of them. */
	while (at < text.len) {
		char *line = text.buf + at, *end = memchr(line, '\n', text.len - at);
		char digits[HASH_DIGITS + 1] = "";
		const char *id;

		if (!end)
			break; /* torn */
		*end = '\0';
		at = (size_t)(end + 1 - text.buf);
		if (!strncmp(line, "| ", 2) &&
		    strspn(line + 2, "0123456789abcdef") == HASH_DIGITS)
			memcpy(digits, line + 2, HASH_DIGITS);
		id = row_id(line);
		if (id)
			fn(id, digits, payload);
	}
	strbuf_release(&text);
	return whole;
}

int ckpt_manifest_append(struct store *store, const struct ckpt_record *record)
{
	struct strbuf row = STRBUF_INIT;
	int err;

	add_row(&row, record);
	err = fs_append_line(store->dirfd, MANIFEST, row.buf, row.len, 0600);
	strbuf_release(&row);
	return err;
}

int ckpt_manifest_rebuild(struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	struct ckpt_records records;
	int err = ckpt_records_read(&records, store);

	if (err)
		return err;
	add_title(&text, store);
	for (size_t i = 0; i < records.nr; i++)
		add_row(&text, &records.items[i]);
	err = fs_write_file(store->dirfd, MANIFEST, text.buf, text.len, 0600, FS_FAST);
	ckpt_records_release(&records);
	strbuf_release(&text);
	return err;
}
