/* SPDX-License-Identifier: MIT */
#include "cmd/restored_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "restore/restore.h"
#include "session/session.h"
#include "ui/ui.h"

enum { SHOWN = 20 };

/* The plan was shown with the question: not a second time. */
static bool plan_shown;

/* JSON names what is undone. */
static const char *const operations[] = {
	[EFFECT_REMOVED] = "create", [EFFECT_CHANGED] = "modify", [EFFECT_BROUGHT_BACK] = "delete"
};

/* --- the plan --- */

void restored_count(size_t counts[3], const struct plan *plan)
{
	memset(counts, 0, 3 * sizeof(*counts));
	for (size_t i = 0; i < plan->rows_nr; i++)
		counts[plan->rows[i].effect]++;
}

static void print_row(FILE *out, const struct plan_row *row)
{
	static const struct {
		char letter;
		enum term_color color;
	} looks[] = { [EFFECT_REMOVED] = { '-', TERM_RED },
		      [EFFECT_CHANGED] = { '~', TERM_YELLOW },
		      [EFFECT_BROUGHT_BACK] = { '+', TERM_GREEN } };
	struct strbuf path = STRBUF_INIT;

	quote_path(&path, row->path);
	fprintf(out, "  %s%c %s%s\n", term_color(looks[row->effect].color),
		looks[row->effect].letter, path.buf, term_color(TERM_RESET));
	strbuf_release(&path);
}

/* All of them or, if there are too many, SHOWN: removed paths first. */
static void print_rows(FILE *out, const struct plan *plan, const char *id, bool all)
{
	size_t removed = 0, left = SHOWN;
	bool *shown;

	if (all || plan->rows_nr <= SHOWN) {
		for (size_t i = 0; i < plan->rows_nr; i++)
			print_row(out, &plan->rows[i]);
		return;
	}
	shown = xcalloc(plan->rows_nr, sizeof(*shown));
	for (size_t i = 0; i < plan->rows_nr && removed < SHOWN; i++)
		removed += shown[i] = plan->rows[i].effect == EFFECT_REMOVED;
	left -= removed;
	for (size_t i = 0; i < plan->rows_nr; i++) {
		if (!shown[i] && left) {
			shown[i] = true;
			left--;
		}
		if (shown[i])
			print_row(out, &plan->rows[i]);
	}
	fprintf(out, "  and %zu more; 'git checkpoint restore -n %s' shows all\n", plan->rows_nr - SHOWN, id);
	free(shown);
}

static void print_replays(FILE *out, const struct plan *plan)
{
	for (size_t i = 0; i < plan->captures.nr; i++)
		fprintf(out, "  %s> capture %s, restored after the files%s\n",
			term_color(TERM_YELLOW), plan->captures.items[i], term_color(TERM_RESET));
}

/* The rest was shown with the question before. */
static void print_new_rows(const struct restore_result *preview)
{
	const struct plan *plan = &preview->plan;
	size_t nr = 0;

	fputs("Files changed while you were asked. New in the plan:\n", stderr);
	for (size_t i = 0; i < plan->rows_nr; i++)
		if (restore_row_is_new(preview, &plan->rows[i]) && nr++ < SHOWN)
			print_row(stderr, &plan->rows[i]);
	if (nr > SHOWN)
		fprintf(stderr, "  and %zu more\n", nr - SHOWN);
}

void restored_say_head(const struct restore_head *head)
{
	if (opt_common.quiet || opt_common.json || !head->says.nr)
		return;
	fflush(stdout);
	for (size_t i = 0; i + 1 < head->says.nr; i++)
		report_message("warning", head->says.items[i]);
	report_plain(stderr, "warning: %s%s\n", head->says.items[head->says.nr - 1],
		     head->commands.nr ? ":" : "");
	for (size_t i = 0; i < head->commands.nr; i++)
		report_plain(stderr, "    %s\n", head->commands.items[i]);
}

int restored_confirm(const struct restore_result *preview, void *payload)
{
	const struct plan *plan = &preview->plan;
	const struct ckpt_record *target = payload;
	char *question, *reason, age[CLOCK_ISO_SIZE];
	size_t counts[3];
	bool agreed;

	if (plan_is_empty(plan))
		return 0; /* nothing to agree to */
	if (!prompt_possible())
		return ckpt_error_set(CKPT_EREFUSED, "not a terminal; use --yes to confirm");
	if (opt_common.json)
		return ckpt_error_set(CKPT_EREFUSED, "--json does not ask; use --yes to confirm");
	progress_clear();
	reason = report_reason_line(target);
	fprintf(stderr, "%s%s%s, %s: %s\n", term_color(TERM_YELLOW), target->id, term_color(TERM_RESET),
		clock_format_age(age, target->created_at, clock_now()), reason);
	if (preview->agreed)
		print_new_rows(preview);
	else
		print_rows(stderr, plan, target->id, false);
	print_replays(stderr, plan);
	restored_say_head(&preview->head);
	plan_shown = true;
	restored_count(counts, plan);
	question = xstrfmt("Restore it: %zu to bring back, %zu to change, %zu to remove?",
			   counts[EFFECT_BROUGHT_BACK], counts[EFFECT_CHANGED],
			   counts[EFFECT_REMOVED]);
	if (plan->captures.nr) {
		char *files = question;

		/* The question mark goes to the end. */
		files[strlen(files) - 1] = '\0';
		question = xstrfmt("%s, %zu %s to restore?", files, plan->captures.nr,
				   plan->captures.nr == 1 ? "capture" : "captures");
		free(files);
	}
	agreed = prompt_yes(question);
	free(question);
	free(reason);
	if (cancel_signal())
		return ckpt_error_set(CKPT_ECANCELLED, "interrupted, nothing was touched");
	if (agreed)
		return 0;
	fputs("Not restored.\n", stderr);
	return ckpt_error_set(CKPT_EDECLINED, "not restored");
}

/* --- the report --- */

int restored_status(const struct restore_result *result)
{
	if ((result->verified && !result->match) || restore_captures_failed(result))
		return EXIT_UNVERIFIED;
	if (result->own_check_status > 0)
		return EXIT_NO;
	return result->incomplete && result->done ? EXIT_INCOMPLETE : EXIT_DONE;
}

static json_t *reverted(const struct plan *plan)
{
	json_t *array = json_array();

	for (size_t i = 0; i < plan->rows_nr; i++) {
		struct row row = ROW_INIT;

		row_path(&row, "file", plan->rows[i].path);
		row_text(&row, "operation", operations[plan->rows[i].effect]);
		row_text(&row, "summary", plan->rows[i].summary);
		json_array_append_new(array, row_object(&row));
	}
	return array;
}

static json_t *verification(const struct restore_result *result)
{
	struct row object = ROW_INIT;

	row_text(&object, "pre_state_hash", result->pre_hash);
	row_text(&object, "post_state_hash", result->verified ? result->post_hash : NULL);
	row_text(&object, "checkpoint_hash", result->target_hash);
	row_json(&object, "match", result->verified ? json_boolean(result->match) : json_null());
	if (result->differing.nr)
		row_json(&object, "differing", json_paths(&result->differing));
	return row_object(&object);
}

static json_t *next_actions(const struct restore_result *result, const struct ckpt_record *target,
			    const char *back)
{
	json_t *array = json_array(), *commands = json_texts(&result->head.commands);

	if (result->done) {
		if (restore_captures_failed(result))
			json_array_append_new(array,
					      json_sprintf("git checkpoint restore %s", target->id));
		json_array_extend(array, commands);
		if (back)
			json_array_append_new(array, json_string(back));
		json_array_append_new(array, json_string("git checkpoint status"));
	} else {
		json_array_append_new(array, json_sprintf("git checkpoint restore --yes %s", target->id));
		json_array_extend(array, commands);
	}
	json_decref(commands);
	return array;
}

static double confidence(const struct restore_result *result)
{
	if (!result->done)
		return 1.0;
	if (restore_captures_failed(result))
		return 0.0;
	if (!result->verified)
		return 0.5;
	return result->match ? 1.0 : 0.0;
}

static json_t *captures(const struct restore_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->captures_nr; i++) {
		const struct restore_capture *capture = &result->captures[i];

		json_array_append_new(array,
				      json_pack("{s:o,s:s}", "name", json_text(capture->name), "status",
						restore_capture_status_name(capture->status)));
	}
	return array;
}

/* As text this needs no warning: the plan shows what is removed. */
static json_t *warnings_json(const struct restore_result *result)
{
	json_t *array = json_array(), *others = json_texts(&result->warnings);
	json_t *head = json_texts(&result->head.says);

	for (size_t i = 0; i < result->plan.rows_nr; i++) {
		struct strbuf text = STRBUF_INIT;

		if (result->plan.rows[i].effect != EFFECT_REMOVED)
			continue;
		strbuf_addstr(&text, "Orphaned file detected: ");
		quote_path(&text, result->plan.rows[i].path);
		strbuf_addstr(&text, " (removed)");
		json_array_append_new(array, json_text(text.buf));
		strbuf_release(&text);
	}
	json_array_extend(array, head);
	json_array_extend(array, others);
	json_decref(head);
	json_decref(others);
	return array;
}

json_t *restored_json(const struct restore_result *result, const struct ckpt_record *target,
		      const char *back)
{
	struct row answer = ROW_INIT, to = ROW_INIT, safety = ROW_INIT;
	json_t *anchors = json_array(), *assumptions = json_array();
	char hex[OID_HEX + 1];

	row_bool(&answer, "rolled_back", result->done);
	row_text(&to, "checkpoint_id", target->id);
	row_text(&to, "checkpoint_type", target->type);
	row_time(&to, "timestamp", target->created_at);
	row_json(&answer, "restored_to", row_object(&to));
	row_json(&answer, "changes_reverted", reverted(&result->plan));
	if (target->captures.nr)
		row_json(&answer, "captures", captures(result));
	row_json(&answer, "verification", verification(result));
	row_text(&safety, "id", result->safety);
	row_text(&safety, "commit", oid_hex(hex, &result->safety_commit));
	row_json(&answer, "safety_checkpoint", result->done ? row_object(&safety) : json_null());
	row_release(&safety);
	row_json(&answer, "warnings", warnings_json(result));
	row_json(&answer, "next_actions", next_actions(result, target, back));
	row_json(&answer, "confidence", json_real(confidence(result)));
	json_array_append_new(anchors, json_string(target->id));
	json_array_append_new(anchors, json_string(result->target_hash));
	if (result->done)
		json_array_append_new(anchors, json_string(result->safety));
	row_json(&answer, "evidence_anchors", anchors);
	json_array_append_new(assumptions,
			      json_string("files that ignore rules leave out are as the user wants them"));
	row_json(&answer, "assumptions", assumptions);
	return row_object(&answer);
}

static int print_json(const struct restore_result *result, const struct ckpt_record *target,
		      const char *back)
{
	json_t *answer = restored_json(result, target, back);

	if (result->own_check)
		json_object_set_new(answer, "verify_command",
				    json_pack("{s:o,s:i}", "command", json_text(result->own_check),
					      "status", result->own_check_status));
	return report_json(answer, restored_status(result));
}

static void print_captures(const struct restore_result *result, const struct ckpt_record *target)
{
	for (size_t i = 0; i < result->captures_nr && result->done; i++)
		report_text("Capture %s: %s\n", result->captures[i].name,
			    restore_capture_status_name(result->captures[i].status));
	if (!restore_captures_failed(result))
		return;
	fprintf(stderr, "error: %s:", result->verified && !result->match ?
					     "these captures were not restored" :
					     "the files are restored, but not these captures");
	for (size_t i = 0; i < result->captures_nr; i++)
		if (result->captures[i].status != RESTORE_CAPTURE_DONE)
			fprintf(stderr, " '%s'", result->captures[i].name);
	fprintf(stderr, "\n");
	report_text("'git checkpoint restore %s' tries again\n", target->id);
}

static void print_counts(const struct restore_result *result, const struct ckpt_record *target,
			 bool interrupted)
{
	const char *yellow = term_color(TERM_YELLOW), *reset = term_color(TERM_RESET);
	bool wrong = result->verified && !result->match;
	size_t counts[3];

	if (plan_is_empty(&result->plan) && !interrupted && !wrong) {
		report_text("Already as in %s%s%s; nothing to do\n", yellow, target->id, reset);
		return;
	}
	restored_count(counts, &result->plan);
	report_text("%s %s%s%s: %zu brought back, %zu changed, %zu removed%s\n",
		    result->done ? "Restored" : "Would restore", yellow, target->id, reset,
		    counts[EFFECT_BROUGHT_BACK], counts[EFFECT_CHANGED], counts[EFFECT_REMOVED],
		    result->verified && result->match ? ", verified" : "");
}

void restored_say_mismatch(const struct restore_result *result, const char *back)
{
	const struct strlist *paths = &result->differing;
	struct strbuf quoted = STRBUF_INIT;

	if (!result->verified || result->match)
		return;
	for (size_t i = 0; i < paths->nr && i < SHOWN; i++) {
		strbuf_reset(&quoted);
		quote_path(&quoted, paths->items[i]);
		fprintf(stderr, "error: '%s' is not as in the checkpoint\n", quoted.buf);
	}
	if (paths->nr > SHOWN)
		fprintf(stderr, "error: neither are %zu more\n", paths->nr - SHOWN);
	fprintf(stderr,
		"error: the restored state does NOT match the checkpoint: stop and look%s%s%s\n",
		back ? "; '" : "", back ? back : "", back ? "' goes back" : "");
	strbuf_release(&quoted);
}

static int print_text(const struct restore_result *result, const struct ckpt_record *target,
		      const struct ckpt_record *interrupted, const char *back)
{
	report_warnings(&result->warnings);
	if (!opt_common.quiet && !plan_shown)
		print_rows(stdout, &result->plan, target->id, !result->done);
	if (!opt_common.quiet && !result->done)
		print_replays(stdout, &result->plan);
	print_counts(result, target, interrupted != NULL);
	print_captures(result, target);
	if (result->own_check)
		report_text("'%s' %s\n", result->own_check,
			    result->own_check_status ? "failed" : "succeeded");
	if (result->done && interrupted)
		report_text("The state in which this began is in %s\n", result->safety);
	if (result->done && back)
		report_text("'%s' goes back to %s\n", back,
			    interrupted ? interrupted->id : result->safety);
	restored_say_mismatch(result, back);
	restored_say_head(&result->head);
	return report_done(restored_status(result));
}

int restored_report(const struct restore_result *result, const struct ckpt_record *target,
		    const struct ckpt_record *interrupted, const char *back)
{
	return opt_common.json ? print_json(result, target, back)
			       : print_text(result, target, interrupted, back);
}
