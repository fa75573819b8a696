/* SPDX-License-Identifier: MIT */
#include "cmd/listed_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "record/record.h"
#include "ui/ui.h"

enum {
	SHORT_COMMIT = 7,
	WIDE = 120, /* columns, from which on there is room for more than what is needed */
};

/* --- on a terminal --- */

/* "+12", and "+12k" where all digits would take room from the title. */
static void show_lines(struct row *row, const char *key, char sign, int64_t lines)
{
	enum { SHOWN_IN_FULL = 10000 };

	if (lines < 0)
		return; /* not known */
	if (lines < SHOWN_IN_FULL)
		row_show(row, key, "%c%" PRId64, sign, lines);
	else
		row_show(row, key, "%c%" PRId64 "k", sign, lines / 1000);
}

static void add_for_people(struct table *table, const struct listed *listed, int64_t now)
{
	const struct ckpt_record *record = listed->record;
	char minute[CLOCK_ISO_SIZE], *title = report_marked_title(record, now);
	struct row row = ROW_INIT;

	row_show(&row, "id", "%s", report_short_id(record));
	row_show(&row, "position", "%s", listed->position);
	row_show(&row, "created_at", "%s", clock_format_minute(minute, record->created_at));
	row_show(&row, "branch", "%s",
		 record->branch ? record->branch
		 : record->head ? "detached"
				: "");
	row_show(&row, "head", "%.*s", SHORT_COMMIT, record->head ? record->head : "");
	row_show(&row, "change", "%s", listed->change ? listed->change : "");
	show_lines(&row, "added", '+', listed->change ? listed->added : record->added);
	show_lines(&row, "deleted", '-', listed->change ? listed->deleted : record->deleted);
	if (term_width() >= WIDE)
		row_show(&row, "source", "%s", record->source);
	row_show(&row, "title", "%s", title);
	table_add_row(table, &row);
	if (record->safety)
		table_dim_row(table);
	row_release(&row);
	free(title);
}

static struct table *table_for_people(const struct listed *rows, size_t nr, int64_t now)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP, "id" },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP, "position" },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP, "created_at" },
		{ NULL, TABLE_LEFT, 12, TERM_CYAN, TABLE_SPARE, "branch" },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE, "head" },
		{ NULL, TABLE_LEFT, 30, TERM_RESET, TABLE_KEEP, "change" },
		{ NULL, TABLE_RIGHT, 0, TERM_GREEN, TABLE_LAST, "added" },
		{ NULL, TABLE_RIGHT, 0, TERM_RED, TABLE_LAST, "deleted" },
		{ NULL, TABLE_LEFT, 8, TERM_RESET, TABLE_SPARE, "source" },
		{ NULL, TABLE_LEFT, 25, TERM_RESET, TABLE_KEEP, "title" },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	char day[CLOCK_ISO_SIZE], before[CLOCK_ISO_SIZE] = "";

	for (size_t i = 0; i < nr; i++) {
		clock_format_day(day, rows[i].record->created_at, now);
		if (strcmp(day, before) != 0)
			table_add_heading(table, day);
		memcpy(before, day, sizeof(before));
		add_for_people(table, &rows[i], now);
	}
	return table;
}

/* --- elsewhere --- */

/* "main 47120d2" */
static void show_place(struct row *row, const struct ckpt_record *record)
{
	row_show(row, "branch", "%s%s%.*s",
		 record->branch ? record->branch
		 : record->head ? "detached"
				: "",
		 record->head ? " " : "", SHORT_COMMIT, record->head ? record->head : "");
}

static void add_for_scripts(struct table *table, const struct listed *listed, bool places,
			    int64_t now)
{
	const struct ckpt_record *record = listed->record;
	char age[CLOCK_ISO_SIZE], size[UNITS_SIZE], *title = report_marked_title(record, now);
	int64_t added = listed->change ? listed->added : record->added;
	int64_t deleted = listed->change ? listed->deleted : record->deleted;
	struct row row = ROW_INIT;

	report_row(&row, record);
	row_show(&row, "position", "%s", *listed->position ? listed->position : "-");
	row_show(&row, "created_at", "%s", clock_format_age_short(age, record->created_at, now));
	row_show(&row, "files_changed", "%" PRIu64 " changed", record->changed);
	if (listed->change)
		row_show(&row, "files_changed", "%s", listed->change);
	if (added < 0)
		row_show(&row, "added", "-");
	else
		row_show(&row, "added", "+%" PRId64 " -%" PRId64, added, deleted);
	row_show(&row, "files", "%" PRIu64 " %s, %s", record->files,
		 record->files == 1 ? "file" : "files", units_format_size(size, record->bytes));
	show_place(&row, record);
	if (places && !*row_shown(&row, "branch"))
		row_show(&row, "branch", "-");
	row_show(&row, "title", "%s", title);
	table_add_row(table, &row);
	row_release(&row);
	free(title);
}

static struct table *table_for_scripts(const struct listed *rows, size_t nr, int64_t now)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP, "id" },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP, "position" },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP, "created_at" },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP, "files_changed" },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP, "added" },
		{ NULL, TABLE_RIGHT, 0, TERM_DIM, TABLE_KEEP, "files" },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP, "branch" },
		{ NULL, TABLE_LEFT, 0, TERM_CYAN, TABLE_KEEP, "source" },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP, "title" },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	bool places = false;

	/* Outside git there are none. */
	for (size_t i = 0; i < nr; i++)
		places = places || rows[i].record->branch || rows[i].record->head;
	for (size_t i = 0; i < nr; i++)
		add_for_scripts(table, &rows[i], places, now);
	return table;
}

struct table *listed_table(const struct listed *rows, size_t nr, int64_t now)
{
	return term_is_terminal() ? table_for_people(rows, nr, now)
				  : table_for_scripts(rows, nr, now);
}
