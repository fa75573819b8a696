/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include <signal.h>

void show_run_say(const char *fmt, ...)
{
	va_list ap;

	if (opt_common.quiet || !report_speaks())
		return;
	va_start(ap, fmt);
	term_vsay(stderr, fmt, ap);
	va_end(ap);
}

static char *signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);

	return name ? xstrfmt("SIG%s", name) : xstrfmt("signal %d", sig);
}

void show_run_say_failed(const char *what, const char *name, const struct run_child *child)
{
	char *sig = child->signal ? signal_name(child->signal) : NULL;

	if (!child->started)
		report_messagef("error", "unable to run '%s': %s", name, strerror(child->error));
	else if (sig)
		report_messagef("error", "%s'%s' was killed by %s", what, name, sig);
	else
		report_messagef("error", "%s'%s' failed with status %d", what, name,
				child->exit_status);
	free(sig);
}

bool show_run_is_back(const struct show_run *ran)
{
	return ran->result.match && !restore_captures_failed(&ran->result);
}

void show_run_say_restored(const struct show_run *ran)
{
	const struct restore_result *result = &ran->result;
	size_t counts[3];

	report_warnings(&result->warnings);
	show_restore_count(counts, &result->plan);
	show_run_say("Rolled back to %s: %zu brought back, %zu changed, %zu removed%s\n",
		     ran->saved.record.id, counts[EFFECT_BROUGHT_BACK], counts[EFFECT_CHANGED],
		     counts[EFFECT_REMOVED], result->match ? ", verified" : "");
	if (!plan_is_empty(&result->plan))
		show_run_say("The state after the command is %s; 'git checkpoint undo' goes back "
			     "to it\n",
			     result->safety);
	for (size_t i = 0; i < result->captures.nr; i++)
		if (result->captures.items[i].status != CAPTURE_DONE)
			report_messagef("error", "capture '%s': %s", result->captures.items[i].name,
					capture_status_name(result->captures.items[i].status));
	show_restore_say_mismatch(result, NULL);
	show_restore_say_head(result);
}

void show_run_row(struct row *row, const struct strlist *command, const struct run_child *child)
{
	char *sig = child->signal ? signal_name(child->signal) : NULL;

	row_bool(row, "ran", child->started);
	row_texts(row, "command", command);
	row_json(row, "exit_status", json_integer(child->exit_status));
	row_text(row, "signal", sig);
	free(sig);
}

json_t *show_run_json(const struct show_run *ran)
{
	struct row object = ROW_INIT, check = ROW_INIT;

	row_text(&check, "command", ran->verify);
	row_json(&check, "exit_status", json_integer(ran->check.exit_status));
	show_run_row(&object, ran->command, &ran->child);
	row_json(&object, "checkpoint", report_checkpoint(&ran->saved.record));
	row_json(&object, "verify", ran->checked ? row_object(&check) : json_null());
	row_bool(&object, "rolled_back", ran->restored);
	row_json(&object, "restore",
		 ran->restored ? show_restore_json(&ran->result, &ran->saved.record,
						   show_restore_way_back(&ran->result))
			       : json_null());
	row_seconds(&object, "seconds", ran->child.seconds);
	row_texts(&object, "warnings", &ran->warnings);
	if (ran->error)
		row_json(&object, "error", report_error_object(ran->error, ran->message));
	row_release(&check);
	return row_object(&object);
}

/* --- a copy --- */

static bool is_wrong(const struct into_result *result)
{
	return result->verified && !result->match;
}

static int copy_status(const struct into_result *result)
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

static json_t *worktree_json(const struct into_result *result, const struct into_opts *opts)
{
	struct row object = ROW_INIT;

	if (!result->head)
		return json_null();
	row_text(&object, "head", result->head);
	row_text(&object, "branch", opts->branch);
	row_bool(&object, "match", result->git_match);
	return row_object(&object);
}

static double confidence_of(const struct into_result *result)
{
	if (copy_status(result) != EXIT_DONE)
		return 0.0;
	return result->verified ? 1.0 : 0.5;
}

/* The keys of a restore's answer, and what there is to say about a copy. */
static json_t *answer_of(const struct into_result *result, const struct into_opts *opts)
{
	const struct ckpt_record *target = opts->target;
	struct row answer = ROW_INIT, to = ROW_INIT;

	row_bool(&answer, "copied", !is_wrong(result));
	row_path(&answer, "into", result->path);
	row_bool(&answer, "continued", result->continued);
	row_number(&answer, "files", result->files);
	row_number(&answer, "bytes", result->bytes);
	row_number(&answer, "cloned", result->cloned);
	row_json(&answer, "worktree", worktree_json(result, opts));
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
	row_json(&answer, "confidence", json_real(confidence_of(result)));
	row_json(&answer, "evidence_anchors", json_pack("[s,s]", target->id, result->target_hash));
	row_json(&answer, "assumptions", json_array());
	return row_object(&answer);
}

/* --- text --- */

/* If the copy is not as in the checkpoint, say so on stderr, even with -q, and name the paths. */
static void say_mismatch(const struct into_result *result)
{
	if (!is_wrong(result))
		return;
	show_restore_say_differing(&result->differing);
	report_message("error", "the copy does NOT match the checkpoint: do not use it");
}

static void print_copy(const struct into_result *result, const struct into_opts *opts)
{
	char files[UNITS_SIZE], size[UNITS_SIZE];

	report_warnings(&result->warnings);
	if (!is_wrong(result))
		report_text("Copied %s into %s: %s %s, %s%s\n", report_id(opts->target->id),
			    report_path(result->path), units_format_count(files, result->files),
			    result->files == 1 ? "file" : "files",
			    units_format_size(size, result->bytes),
			    result->verified ? ", verified" : "");
	if (result->head && opts->branch)
		report_text("It is a worktree of the repository on the new branch '%s'\n",
			    opts->branch);
	else if (result->head)
		report_text("It is a worktree of the repository with HEAD at %.10s\n", result->head);
	say_mismatch(result);
	if (result->head && !is_wrong(result) && !result->git_match)
		term_say(stderr,
			 "error: its HEAD and index are NOT as in the checkpoint: do not use it\n");
}

int show_copy_make(struct session *session, const struct into_opts *opts)
{
	struct into_result result;
	int err = into_run(&result, session, opts), status;

	progress_clear();
	if (err)
		return err;
	add_warnings(&result, opts->target);
	status = copy_status(&result);
	if (opt_common.json)
		status = report_json(answer_of(&result, opts), status);
	else
		print_copy(&result, opts);
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
		say_mismatch(&out->copy);
	if (!err && out->copy.match && !out->child.started)
		show_run_say_failed("", command->items[0], &out->child);
	if (out->left)
		report_messagef("warning", "the copy '%s' could not be removed: %s", out->left,
				out->why);
	return err;
}
