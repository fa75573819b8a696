/* SPDX-License-Identifier: MIT */
#include "cmd/past_internal.h"

#include "base/base.h"
#include "cmd/changes_internal.h"
#include "cmd/report.h"
#include "look/look.h"
#include "record/record.h"
#include "session/session.h"
#include "ui/ui.h"

static void row_forget(struct past_row *row)
{
	record_release(&row->record);
	free(row->position);
	diff_release(&row->diff);
	free(row->counts);
	free(row->unknown);
	free(row->change);
}

void past_release(struct past *past)
{
	for (size_t i = 0; i < past->nr; i++)
		row_forget(&past->items[i]);
	free(past->items);
	strlist_release(&past->damaged);
	memset(past, 0, sizeof(*past));
}

/* --- in words --- */

/* A single change. */
static char *describe_one(const struct change *change)
{
	struct strbuf from = STRBUF_INIT;
	char *out;

	switch (change->kind) {
	case CHANGE_ADDED:
		return xstrdup("created");
	case CHANGE_DELETED:
		return xstrdup("deleted");
	case CHANGE_TYPE:
		return xstrdup(S_ISLNK(change->new_mode) ? "became a link" : "became a file");
	case CHANGE_RENAMED:
		quote_path(&from, change->from);
		out = xstrfmt("renamed from %s", from.buf);
		strbuf_release(&from);
		return out;
	case CHANGE_MODIFIED:
		break;
	}
	if (change->old_mode != change->new_mode && oid_equal(&change->old_oid, &change->new_oid))
		return xstrfmt("mode %o to %o", change->old_mode & 07777, change->new_mode & 07777);
	return xstrdup("changed");
}

/* "3 changed, 1 deleted" */
static char *describe(const struct compare_list *changes)
{
	static const struct {
		enum change_kind kind;
		const char *word;
	} words[] = {
		{ CHANGE_MODIFIED, "changed" }, { CHANGE_TYPE, "of another kind" },
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
static int count(struct past_row *row, struct strlist *damaged)
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
			err = changes_count(file, &row->diff, &row->diff.changes.items[i]);
		row->unknown[i] = err || file->binary;
		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND) {
			err = record_damaged(err, row->diff.session->store, row->record.id);
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
static int add(struct past *past, struct history_step *step, char *position)
{
	struct past_row *row;
	int err;

	ALLOC_GROW(past->items, past->nr + 1, past->alloc);
	row = &past->items[past->nr];
	*row = (struct past_row){ .diff = step->diff, .position = position };
	/* Again, with marks. */
	err = record_read(&row->record, step->diff.session->store, step->ref);
	if (!err)
		err = count(row, &past->damaged);
	row->change = describe(&row->diff.changes);
	if (err)
		row_forget(row);
	else
		past->nr++;
	return err;
}

int past_read(struct past *out, struct session *session, const struct pathspec *only,
	      const struct ckpt_enough *enough, bool follow)
{
	size_t left = enough ? enough->max : SIZE_MAX, back = 0;
	struct history *history = NULL;
	struct history_step step;
	int err = history_open(&history, session, only, follow), more = 1;

	memset(out, 0, sizeof(*out));
	while (!err && left && (more = history_next(&step, history)) > 0) {
		char *position = report_position(&back, step.record);
		bool wanted = step.diff.changes.nr &&
			      (!enough || enough->counts(step.record, enough->payload));

		if (wanted) {
			err = add(out, &step, position);
			left--;
		} else {
			free(position);
			diff_release(&step.diff);
		}
	}
	if (!err && more < 0)
		err = more;
	if (history)
		strlist_extend(&out->damaged, history_damaged(history));
	history_close(history);
	if (err)
		past_release(out);
	return err;
}

/* --- showing --- */

struct listed past_listed(const struct past *past, size_t at)
{
	const struct past_row *row = &past->items[at];

	return (struct listed){ &row->record, row->position, row->change, row->added,
				row->deleted };
}

static json_t *mode_json(unsigned mode)
{
	return mode ? json_sprintf("%06o", mode) : json_null();
}

json_t *past_json(const struct past_row *row)
{
	json_t *array = changes_json(&row->diff);

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
