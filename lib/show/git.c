/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "look/look.h"
#include "record/record.h"
#include "session/session.h"
#include "show/diff.h"
#include "show/report.h"
#include "store/store.h"
#include "ui/ui.h"

static void add_count(struct strbuf *out, size_t nr, const char *what)
{
	if (nr)
		strbuf_addf(out, "%s%zu %s", out->len ? ", " : "", nr, what);
}

void show_git_row(struct row *row, const struct ckpt_record *record)
{
	struct strbuf index = STRBUF_INIT;

	if (record->head || record->branch)
		row_show(row, "project", "%s%s at %.12s", record->branch ? "on " : "detached",
			 record->branch ? record->branch : "",
			 record->head ? record->head : "no commit");
	add_count(&index, record->index.staged, "staged");
	add_count(&index, record->index.unmerged, "unmerged");
	add_count(&index, record->index.intent_to_add, "to be added");
	if (index.len)
		row_show(row, "index", "%s", index.buf);
	if (record->progress_total)
		row_show(row, "operation", "%s %u/%u", record->operation, record->progress,
			 record->progress_total);
	else if (record->operation)
		row_show(row, "operation", "%s", record->operation);
	strbuf_release(&index);
}

static json_t *refs_json(const struct gitstate *state)
{
	json_t *branches = json_array(), *stashes = json_array();

	for (size_t i = 0; i < state->branches_nr; i++)
		json_array_append_new(branches, json_pack("{s:o,s:s}", "name",
							  json_text(repo_short_branch(
								  state->branches[i].name)),
							  "commit", state->branches[i].oid));
	for (size_t i = 0; i < state->stashes_nr; i++)
		json_array_append_new(stashes,
				      json_pack("{s:s,s:s,s:o}", "name", state->stashes[i].name,
						"commit", state->stashes[i].oid, "message",
						json_text(state->stashes[i].note)));
	return json_pack("{s:o,s:o}", "branches", branches, "stashes", stashes);
}

/* null: it is not known, or damaged. */
static json_t *load_refs(struct session *session, const struct ckpt_record *record)
{
	struct gitrecord git;
	json_t *refs;

	if (!*record->git_hash || gitrecord_load(&git, session->store, record))
		return json_null();
	refs = refs_json(&git.state);
	gitrecord_release(&git);
	return refs;
}

json_t *show_git_json(struct session *session, const struct ckpt_record *record)
{
	const bool known = *record->git_hash;
	json_t *index = json_null(), *progress = json_null();

	if (known)
		index = json_pack("{s:I,s:I,s:I}", "staged", (json_int_t)record->index.staged,
				  "unmerged", (json_int_t)record->index.unmerged, "intent_to_add",
				  (json_int_t)record->index.intent_to_add);
	if (record->progress_total)
		progress = json_sprintf("%u/%u", record->progress, record->progress_total);
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "head", json_text(record->head), "branch",
			 json_text(record->branch), "operation", json_text(record->operation),
			 "progress", progress, "index", index, "refs", load_refs(session, record),
			 "hash", json_text(known ? record->git_hash : NULL));
}

/* --- what was staged --- */

void show_git_unmerged(const struct diff *diff)
{
	const struct show_diff_opts *opts = &show_diff_opts;
	const struct strlist *paths = staged_unmerged(diff);
	struct strbuf name = STRBUF_INIT;

	if (opts->stat || opts->numstat || opts->shortstat)
		return;
	for (size_t i = 0; i < paths->nr; i++) {
		strbuf_reset(&name);
		if (opts->nul)
			strbuf_addstr(&name, paths->items[i]);
		else
			quote_path(&name, paths->items[i]);
		if (opts->name_status)
			printf("U%c", opts->nul ? '\0' : '\t');
		else if (!opts->name_only)
			fputs("* Unmerged path ", stdout);
		fputs(name.buf, stdout);
		putchar(opts->nul ? '\0' : '\n');
	}
	strbuf_release(&name);
}

json_t *show_git_unmerged_json(const struct diff *diff)
{
	const struct strlist *paths = staged_unmerged(diff);
	json_t *array = json_array();

	for (size_t i = 0; i < paths->nr; i++)
		json_array_append_new(array, json_path(paths->items[i]));
	return array;
}

static int print_staged(struct diff *diff, const struct ckpt_record *record)
{
	int err = show_diff_prepare(diff);

	if (!err && opt_common.json) {
		struct row answer = ROW_INIT;

		row_text(&answer, "id", record->id);
		row_json(&answer, "staged", show_diff_json(diff));
		row_json(&answer, "unmerged", show_git_unmerged_json(diff));
		return report_json(row_object(&answer), EXIT_DONE);
	}
	if (err || opt_common.quiet)
		return err;
	if (!show_diff_opts.nul)
		pager_start(diff->session->gitconfig);
	show_git_unmerged(diff);
	return show_diff_print(diff);
}

int show_git_staged(struct session *session, const struct ckpt_record *record,
		    const struct pathspec *only)
{
	struct diff diff;
	int err = staged_of(&diff, session, record, only);

	if (err)
		return err;
	err = print_staged(&diff, record);
	diff_release(&diff);
	return err;
}
