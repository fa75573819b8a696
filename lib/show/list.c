/* SPDX-License-Identifier: MIT */
#include "show/show.h"

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

static void add_for_people(struct table *table, const struct list_row *listed, int64_t now)
{
	const struct ckpt_record *record = listed->record;
	char minute[CLOCK_ISO_SIZE], *title = report_marked_title(record, now);
	struct row row = ROW_INIT;

	row_show(&row, "id", "%s", report_short_id(record->id));
	row_show(&row, "position", "%s", listed->position);
	row_show(&row, "created_at", "%s", clock_format_minute(minute, record->created_at));
	row_show(&row, "branch", "%s",
		 record->branch ? record->branch
		 : record->head ? "detached"
				: "");
	row_show(&row, "head", "%.*s", SHORT_COMMIT, record->head ? record->head : "");
	row_show(&row, "change", "%s", listed->change ? listed->change : "");
	show_lines(&row, "added", '+', listed->added);
	show_lines(&row, "deleted", '-', listed->deleted);
	if (term_width() >= WIDE)
		row_show(&row, "source", "%s", record->source);
	row_show(&row, "title", "%s", title);
	table_add_row(table, &row);
	if (record->safety)
		table_dim_row(table);
	row_release(&row);
	free(title);
}

static struct table *table_for_people(const struct list_row *rows, size_t nr, int64_t now)
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
static void show_head(struct row *row, const struct ckpt_record *record)
{
	row_show(row, "branch", "%s%s%.*s",
		 record->branch ? record->branch
		 : record->head ? "detached"
				: "",
		 record->head ? " " : "", SHORT_COMMIT, record->head ? record->head : "");
}

static void add_for_scripts(struct table *table, const struct list_row *listed, bool heads,
			    int64_t now)
{
	const struct ckpt_record *record = listed->record;
	char age[CLOCK_ISO_SIZE], size[UNITS_SIZE], *title = report_marked_title(record, now);
	struct row row = ROW_INIT;

	report_row(&row, record);
	row_show(&row, "position", "%s", *listed->position ? listed->position : "-");
	row_show(&row, "created_at", "%s", clock_format_age_short(age, record->created_at, now));
	row_show(&row, "files_changed", "%" PRIu64 " changed", record->changed);
	if (listed->change)
		row_show(&row, "files_changed", "%s", listed->change);
	if (listed->added < 0)
		row_show(&row, "added", "-");
	else
		row_show(&row, "added", "+%" PRId64 " -%" PRId64, listed->added, listed->deleted);
	row_show(&row, "files", "%" PRIu64 " %s, %s", record->files,
		 record->files == 1 ? "file" : "files", units_format_size(size, record->bytes));
	show_head(&row, record);
	if (heads && !*row_shown(&row, "branch"))
		row_show(&row, "branch", "-");
	row_show(&row, "title", "%s", title);
	table_add_row(table, &row);
	row_release(&row);
	free(title);
}

static struct table *table_for_scripts(const struct list_row *rows, size_t nr, int64_t now)
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
	bool heads = false;

	/* Outside git there are none. */
	for (size_t i = 0; i < nr; i++)
		heads = heads || rows[i].record->branch || rows[i].record->head;
	for (size_t i = 0; i < nr; i++)
		add_for_scripts(table, &rows[i], heads, now);
	return table;
}

struct table *list_table(const struct list_row *rows, size_t nr, int64_t now)
{
	return term_is_terminal() ? table_for_people(rows, nr, now)
				  : table_for_scripts(rows, nr, now);
}

/* --- in words --- */

/* A single change. */
static char *describe_one(const struct change *change)
{
	switch (change->kind) {
	case CHANGE_ADDED:
		return xstrdup("created");
	case CHANGE_DELETED:
		return xstrdup("deleted");
	case CHANGE_TYPE:
		return xstrdup(S_ISLNK(change->new_mode) ? "became a link" : "became a file");
	case CHANGE_RENAMED:
		return xstrfmt("renamed from %s", report_path(change->from));
	case CHANGE_MODIFIED:
		break;
	}
	if (change->old_mode != change->new_mode && oid_equal(&change->old_oid, &change->new_oid))
		return xstrfmt("mode %o to %o", change->old_mode & 07777, change->new_mode & 07777);
	return xstrdup("changed");
}

/* "3 changed, 1 deleted" */
static char *describe_changes(const struct compare_list *changes)
{
	static const struct {
		enum change_kind kind;
		const char *word;
	} words[] = {
		{ CHANGE_MODIFIED, "changed" }, { CHANGE_TYPE, "changed type" },
		{ CHANGE_ADDED, "created" },	{ CHANGE_RENAMED, "renamed" },
		{ CHANGE_DELETED, "deleted" },
	};
	struct strbuf out = STRBUF_INIT;

	if (changes->nr == 1)
		return describe_one(&changes->items[0]);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t nr = 0;

		for (size_t j = 0; j < changes->nr; j++)
			nr += changes->items[j].kind == words[i].kind;
		if (nr)
			strbuf_addf(&out, "%s%zu %s", out.len ? ", " : "", nr, words[i].word);
	}
	return strbuf_detach(&out, NULL);
}

/* --- collecting --- */

/* Lines that are not known, in a file that is not text, do not count. */
static int count_lines(struct list_row *row, struct strlist *damaged)
{
	size_t nr = row->diff.changes.nr, texts = 0;
	int err = 0;

	row->counts = xcalloc(nr, sizeof(*row->counts));
	row->unknown = xcalloc(nr, sizeof(*row->unknown));
	row->added = row->deleted = 0;
	for (size_t i = 0; i < nr && !err; i++) {
		struct diffstat_file *file = &row->counts[i];

		err = cancel_check();
		if (!err)
			err = show_diff_count(file, &row->diff, &row->diff.changes.items[i]);
		row->unknown[i] = err || file->binary;
		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND) {
			err = record_damaged(err, row->diff.session->store, row->record->id);
			strlist_add(damaged, ckpt_error_last());
			err = 0;
		}
		if (row->unknown[i])
			continue;
		texts++;
		row->added += (int64_t)file->added;
		row->deleted += (int64_t)file->removed;
	}
	if (!texts)
		row->added = row->deleted = -1;
	return err;
}

/* Take the step over. */
static int add_step(struct list *list, const struct history_step *step, char *position)
{
	struct ckpt_record *record = xmalloc(sizeof(*record));
	struct list_row *row;

	*record = step->record;
	row = ALLOC_NEXT(list->rows, list->nr, list->alloc);
	*row = (struct list_row){ .record = record, .diff = step->diff, .position = position };
	row->change = describe_changes(&row->diff.changes);
	return count_lines(row, &list->records.damaged);
}

int list_choose_past(struct list *list, struct session *session, const struct pathspec *only,
		     const struct ckpt_enough *enough, bool follow)
{
	size_t left = enough ? enough->max : SIZE_MAX, back = 0;
	struct history *history = NULL;
	struct history_step step;
	int err = history_open(&history, session, only, follow), more = 1;

	list->past_only = true;
	while (!err && left && (more = history_next(&step, history)) > 0) {
		char *position = report_position(&back, &step.record);

		if (step.diff.changes.nr &&
		    (!enough || enough->counts(&step.record, enough->payload))) {
			err = add_step(list, &step, position);
			left--;
		} else {
			free(position);
			history_step_release(&step);
		}
	}
	if (history)
		strlist_extend(&list->records.damaged, history_damaged(history));
	history_close(history);
	return err ? err : more < 0 ? more : 0;
}

/* --- showing --- */

static json_t *mode_json(unsigned mode)
{
	return mode ? json_sprintf("%06o", mode) : json_null();
}

json_t *list_changes_json(const struct list_row *row)
{
	json_t *array = show_diff_json(&row->diff);

	for (size_t i = 0; i < row->diff.changes.nr; i++) {
		const struct change *change = &row->diff.changes.items[i];
		const struct diffstat_file *file = &row->counts[i];
		json_t *object = json_array_get(array, i);

		json_object_set_new(object, "added",
				    row->unknown[i] ? json_null()
						    : json_integer((json_int_t)file->added));
		json_object_set_new(object, "removed",
				    row->unknown[i] ? json_null()
						    : json_integer((json_int_t)file->removed));
		json_object_set_new(object, "old_mode", mode_json(change->old_mode));
		json_object_set_new(object, "new_mode", mode_json(change->new_mode));
	}
	return array;
}

/* --- what is listed --- */

/* Of another machine: by what it can be named. */
static char *remote_position(const struct ckpt_records *records, size_t i)
{
	const char *machine = records->items[i].machine;
	bool newest = i + 1 == records->nr || strcmp(machine, records->items[i + 1].machine) != 0;

	return xstrfmt("%s%s", machine, newest ? "/@" : "");
}

void list_choose(struct list *list, const struct ckpt_enough *enough, bool remote)
{
	size_t back = 0, max = enough ? enough->max : SIZE_MAX;

	list->rows = xcalloc(list->records.nr + 1, sizeof(*list->rows));
	for (size_t i = list->records.nr; i-- && list->nr < max;) {
		const struct ckpt_record *record = &list->records.items[i];
		char *position = remote ? remote_position(&list->records, i)
					: report_position(&back, record);

		if (!enough || enough->counts(record, enough->payload))
			list->rows[list->nr++] =
				(struct list_row){ record, position, record->added, record->deleted };
		else
			free(position);
	}
}

void list_release(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct list_row *row = &list->rows[i];

		if (list->past_only) {
			record_release((struct ckpt_record *)row->record);
			free((struct ckpt_record *)row->record);
			diff_release(&row->diff);
		}
		free(row->position);
		free(row->change);
		free(row->counts);
		free(row->unknown);
	}
	free(list->rows);
	lookup_records_release(&list->records);
}
