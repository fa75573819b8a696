/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "base/base.h"
#include "record/record.h"
#include "restore/restore.h"
#include "session/session.h"
#include "show/report.h"
#include "show/restore.h"
#include "show/run.h"
#include "ui/ui.h"

static bool is_wrong(const struct into_result *result)
{
	return result->verified && !result->match;
}

static int status_of(const struct into_result *result)
{
	return is_wrong(result) || (result->head && !result->git_match) ? EXIT_UNVERIFIED :
									  EXIT_DONE;
}

static void add_warnings(struct into_result *result, const struct ckpt_record *target)
{
	if (target->missing)
		strlist_addf(&result->warnings,
			     "the checkpoint is incomplete: %llu %s not in it, and not in the copy",
			     (unsigned long long)target->missing,
			     target->missing == 1 ? "path is" : "paths are");
	for (size_t i = 0; i < target->captures.nr; i++)
		strlist_addf(&result->warnings, "capture '%s' is not part of the copy",
			     target->captures.items[i].name);
}

/* --- JSON --- */

json_t *show_copy_verification(const struct into_result *result)
{
	return show_restore_verification(NULL, result->verified ? result->post_hash : NULL,
					 result->target_hash, result->match, &result->differing);
}

static json_t *worktree(const struct into_result *result, const struct into_opts *opts)
{
	struct row object = ROW_INIT;

	if (!result->head)
		return json_null();
	row_text(&object, "head", result->head);
	row_text(&object, "branch", opts->branch);
	row_bool(&object, "match", result->git_match);
	return row_object(&object);
}

static double confidence(const struct into_result *result)
{
	if (status_of(result) != EXIT_DONE)
		return 0.0;
	return result->verified ? 1.0 : 0.5;
}

/* The keys of a restore's answer, and what there is to say about a copy. */
static json_t *answer_of(const struct into_result *result, const struct into_opts *opts)
{
	const struct ckpt_record *target = opts->target;
	struct row answer = ROW_INIT, to = ROW_INIT;
	json_t *anchors = json_array();

	row_bool(&answer, "copied", !is_wrong(result));
	row_path(&answer, "into", result->path);
	row_bool(&answer, "continued", result->continued);
	row_number(&answer, "files", result->files);
	row_number(&answer, "bytes", result->bytes);
	row_number(&answer, "cloned", result->cloned);
	row_json(&answer, "worktree", worktree(result, opts));
	row_bool(&answer, "rolled_back", false);
	row_text(&to, "checkpoint_id", target->id);
	row_text(&to, "checkpoint_type", target->type);
	row_time(&to, "timestamp", target->created_at);
	row_json(&answer, "restored_to", row_object(&to));
	row_json(&answer, "changes_reverted", json_array());
	row_json(&answer, "verification", show_copy_verification(result));
	row_json(&answer, "safety_checkpoint", json_null());
	row_texts(&answer, "warnings", &result->warnings);
	row_json(&answer, "next_actions", json_array());
	row_json(&answer, "confidence", json_real(confidence(result)));
	json_array_append_new(anchors, json_string(target->id));
	json_array_append_new(anchors, json_string(result->target_hash));
	row_json(&answer, "evidence_anchors", anchors);
	row_json(&answer, "assumptions", json_array());
	return row_object(&answer);
}

/* --- text --- */

void show_copy_say_mismatch(const struct into_result *result)
{
	if (!is_wrong(result))
		return;
	show_restore_say_differing(&result->differing);
	report_message("error", "the copy does NOT match the checkpoint: do not use it");
}

static void print_text(const struct into_result *result, const struct into_opts *opts)
{
	const char *yellow = term_color(TERM_YELLOW), *reset = term_color(TERM_RESET);
	char files[UNITS_SIZE], size[UNITS_SIZE];
	struct strbuf path = STRBUF_INIT;

	report_warnings(&result->warnings);
	quote_path(&path, result->path);
	if (!is_wrong(result))
		report_text("Copied %s%s%s into %s: %s %s, %s%s\n", yellow, opts->target->id, reset,
			    path.buf, units_format_count(files, result->files),
			    result->files == 1 ? "file" : "files",
			    units_format_size(size, result->bytes),
			    result->verified ? ", verified" : "");
	if (result->head && opts->branch)
		report_text("It is a worktree of the repository on the new branch '%s'\n",
			    opts->branch);
	else if (result->head)
		report_text("It is a worktree of the repository with HEAD at %.10s\n", result->head);
	show_copy_say_mismatch(result);
	if (result->head && !is_wrong(result) && !result->git_match)
		fputs("error: its HEAD and index are NOT as in the checkpoint: do not use it\n",
		      stderr);
	strbuf_release(&path);
}

int show_copy_make(struct session *session, const struct into_opts *opts)
{
	struct into_result result;
	int err = into_run(&result, session, opts), status;

	progress_clear();
	if (err)
		return err;
	add_warnings(&result, opts->target);
	status = status_of(&result);
	if (opt_common.json)
		status = report_json(answer_of(&result, opts), status);
	else
		print_text(&result, opts);
	into_result_release(&result);
	return status;
}

int show_try_check(const struct opt_spec *spec, int checkpoints)
{
	if (opt_common.dashdash == checkpoints)
		return 0;
	return ckpt_error_set(CKPT_EUSAGE,
			      "'%s' needs '--' before the command; see 'git checkpoint %s -h'",
			      spec->command, spec->command);
}

int show_try_run(struct try *out, struct session *session, const struct ckpt_record *target,
		 const struct strlist *command, unsigned flags)
{
	char **argv = xcalloc(command->nr + 1, sizeof(*argv));
	int err;

	memcpy(argv, command->items, command->nr * sizeof(*argv));
	fflush(stdout);
	err = try_run(out, session, target, argv, flags, progress_show);
	progress_clear();
	free(argv);
	if (!err)
		show_copy_say_mismatch(&out->copy);
	if (!err && out->copy.match && !out->child.started)
		show_run_say_failed("", command->items[0], &out->child);
	if (out->left)
		report_messagef("warning", "the copy '%s' could not be removed: %s", out->left,
				out->why);
	return err;
}
