/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "flow/flow.h"
#include "show/hunk_internal.h"

enum { SHOWN = 20 };

/* JSON names what is undone. */
static const char *const operations[] = {
	[EFFECT_REMOVED] = "create", [EFFECT_CHANGED] = "modify", [EFFECT_BROUGHT_BACK] = "delete"
};

/* --- the report --- */

int show_restore_status(const struct restore_result *result)
{
	if ((result->verified && !result->match) || restore_captures_failed(result) ||
	    (result->git.checked && !result->git.match))
		return EXIT_UNVERIFIED;
	if (result->own_check_status > 0)
		return EXIT_NO;
	return result->conflicts_nr || (result->incomplete && result->done) ? EXIT_INCOMPLETE
									    : EXIT_DONE;
}

static json_t *reverted_json(const struct plan *plan)
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

static json_t *conflicts_json(const struct restore_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->conflicts_nr; i++) {
		struct row row = ROW_INIT;

		row_path(&row, "file", result->conflicts[i].path);
		row_text(&row, "why", result->conflicts[i].why);
		json_array_append_new(array, row_object(&row));
	}
	return array;
}

json_t *show_restore_verification(const char *before, const char *after, const char *wanted,
				  bool match, const struct strlist *differing)
{
	struct row object = ROW_INIT;

	row_text(&object, "pre_state_hash", before);
	row_text(&object, "post_state_hash", after);
	row_text(&object, "checkpoint_hash", wanted);
	row_json(&object, "match", after ? json_boolean(match) : json_null());
	if (differing->nr)
		row_json(&object, "differing", json_paths(differing));
	return row_object(&object);
}

static void extend_texts(json_t *array, const struct strlist *texts)
{
	json_t *more = json_texts(texts);

	json_array_extend(array, more);
	json_decref(more);
}

/* The option that asks for this, with a blank after it, or "". */
static const char *git_option(const struct restore_result *result)
{
	static const char *const options[] = {
		[JOURNAL_FILES] = "", [JOURNAL_INDEX] = "--index ", [JOURNAL_GIT] = "--git "
	};

	return options[result->git.what];
}

static json_t *text_pair(const char *from, const char *to)
{
	struct row pair = ROW_INIT;

	row_text(&pair, "from", from);
	row_text(&pair, "to", to);
	return row_object(&pair);
}

static json_t *git_json(const struct restore_result *result)
{
	const struct gitback_side *from = &result->git.from, *to = &result->git.to;
	struct row git = ROW_INIT, index = ROW_INIT;

	row_json(&git, "head", text_pair(from->head, to->head));
	row_json(&git, "branch", text_pair(from->branch, to->branch));
	row_json(&index, "from", report_index(&from->index));
	row_json(&index, "to", report_index(&to->index));
	row_json(&git, "index", row_object(&index));
	row_json(&git, "operation", text_pair(from->operation, to->operation));
	row_json(&git, "changes", json_texts(&result->git.says));
	row_json(&git, "match",
		 result->git.checked ? json_boolean(result->git.match) : json_null());
	return row_object(&git);
}

/* Even with -q. */
static void say_git_mismatch(const struct restore_result *result)
{
	if (result->git.left)
		term_say(stderr, "error: the repository was left as it is\n");
	else if (result->git.checked && !result->git.match)
		term_say(stderr,
			 "error: the repository is NOT as in the checkpoint: stop and look\n");
}

static json_t *next_actions(const struct restore_result *result, const struct ckpt_record *target,
			    const char *back)
{
	json_t *array = json_array(), *commands = json_array();

	for (size_t i = 0; i < result->nested_nr; i++)
		extend_texts(commands, &result->nested[i].commands);
	extend_texts(commands, &result->head.commands);
	if (result->done) {
		if (restore_captures_failed(result))
			json_array_append_new(array,
					      json_sprintf("git checkpoint restore %s", lookup_target_name(target)));
		json_array_extend(array, commands);
		if (back)
			json_array_append_new(array, json_string(back));
		json_array_append_new(array, json_string("git checkpoint status"));
	} else if (show_restore_words()) {
		json_array_append_new(array,
				      json_sprintf("%s --yes", show_restore_words()->command));
	} else {
		json_array_append_new(array,
				      json_sprintf("git checkpoint restore %s%s %s",
						   git_option(result),
						   result->composed ? "-p" : "--yes", target->id));
		json_array_extend(array, commands);
	}
	json_decref(commands);
	return array;
}

static double confidence_of(const struct restore_result *result)
{
	if (!result->done)
		return 1.0;
	if (restore_captures_failed(result) || (result->git.checked && !result->git.match))
		return 0.0;
	if (!result->verified)
		return 0.5;
	return result->match ? 1.0 : 0.0;
}

static json_t *captures_json(const struct restore_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->captures.nr; i++) {
		const struct capture_outcome *capture = &result->captures.items[i];

		json_array_append_new(array,
				      json_pack("{s:o,s:s}", "name", json_text(capture->name), "status",
						capture_status_name(capture->status)));
	}
	return array;
}

/* As text this needs no warning: the plan shows what is removed. */
static json_t *warnings_json(const struct restore_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->plan.rows_nr; i++) {
		if (result->plan.rows[i].effect == EFFECT_REMOVED)
			json_array_append_new(array,
					      json_sprintf("Orphaned file detected: %s (removed)",
							   report_path(result->plan.rows[i].path)));
	}
	for (size_t i = 0; i < result->nested_nr; i++)
		extend_texts(array, &result->nested[i].says);
	extend_texts(array, &result->head.says);
	extend_texts(array, &result->warnings);
	return array;
}

const char *show_restore_way_back(const struct restore_result *result)
{
	return restore_has_nothing_to_do(result) ? NULL : SHOW_RESTORE_UNDO;
}

json_t *show_restore_json(const struct restore_result *result, const struct ckpt_record *target,
			  const char *back)
{
	const struct show_restore_words *words = show_restore_words();
	struct row answer = ROW_INIT, to = ROW_INIT, safety = ROW_INIT;
	char hex[OID_HEX + 1];

	row_bool(&answer, "rolled_back", result->done);
	row_text(&to, "checkpoint_id", lookup_target_name(target));
	row_text(&to, "checkpoint_type", target->type);
	row_time(&to, "timestamp", target->created_at);
	row_json(&answer, "restored_to", row_object(&to));
	row_json(&answer, "changes_reverted", reverted_json(&result->plan));
	if (result->composed)
		row_json(&answer, "conflicts", conflicts_json(result));
	if (target->captures.nr)
		row_json(&answer, "captures", captures_json(result));
	row_json(&answer, "verification",
		 show_restore_verification(result->pre_hash,
					   result->verified ? result->post_hash : NULL,
					   result->target_hash, result->match, &result->differing));
	if (result->git.what != JOURNAL_FILES)
		row_json(&answer, "git", git_json(result));
	row_text(&safety, "id", result->safety);
	row_text(&safety, "commit", oid_hex(hex, &result->safety_commit));
	row_json(&answer, "safety_checkpoint", result->done ? row_object(&safety) : json_null());
	row_release(&safety);
	row_json(&answer, "warnings", warnings_json(result));
	row_json(&answer, "next_actions", next_actions(result, target, back));
	row_json(&answer, "confidence", json_real(confidence_of(result)));
	row_json(&answer, "evidence_anchors",
		 json_pack("[s,s,s*,s*]", lookup_target_name(target), result->target_hash,
			   result->done ? result->safety : NULL, words ? words->step : NULL));
	row_json(&answer, "assumptions",
		 json_pack("[s]", "files that ignore rules leave out are as the user wants them"));
	return row_object(&answer);
}

static int print_json(const struct restore_result *result, const struct ckpt_record *target,
		      const char *back)
{
	json_t *answer = show_restore_json(result, target, back);

	if (result->own_check)
		json_object_set_new(answer, "verify_command",
				    json_pack("{s:o,s:i}", "command", json_text(result->own_check),
					      "status", result->own_check_status));
	return report_json(answer, show_restore_status(result));
}

static void print_captures(const struct restore_result *result, const struct ckpt_record *target)
{
	for (size_t i = 0; i < result->captures.nr && result->done; i++)
		report_text("Capture %s: %s\n", result->captures.items[i].name,
			    capture_status_name(result->captures.items[i].status));
	if (!restore_captures_failed(result))
		return;
	term_say(stderr, "error: %s:",
		 result->verified && !result->match
			 ? "these captures were not restored"
			 : "the files are restored, but not these captures");
	for (size_t i = 0; i < result->captures.nr; i++)
		if (result->captures.items[i].status != CAPTURE_DONE)
			term_say(stderr, " '%s'", result->captures.items[i].name);
	term_say(stderr, "\n");
	report_text("'git checkpoint restore %s' tries again\n", target->id);
}

/* What became of the repository: "Git: on 'main' at 47120d2, 4 staged back". */
static void print_git(const struct restore_result *result)
{
	const struct gitback_side *to = &result->git.to;
	struct strbuf text = STRBUF_INIT, index = STRBUF_INIT;

	gitplan_describe_index(&index, &to->index);
	if (result->git.what == JOURNAL_GIT)
		strbuf_addf(&text, "Git: %s%s%s %s%.7s, ", to->branch ? "on '" : "detached",
			    to->branch ? to->branch : "", to->branch ? "'" : "",
			    to->head ? "at " : "without a commit", to->head ? to->head : "");
	else
		strbuf_addstr(&text, "Index: ");
	strbuf_addf(&text, index.len ? "%s back" : "nothing staged", index.buf);
	if (to->operation && result->git.what == JOURNAL_GIT)
		strbuf_addf(&text, ", in the middle of a %s", to->operation);
	if (result->git.what != JOURNAL_FILES && result->git.says.nr && result->git.match)
		report_text("%s\n", text.buf);
	strbuf_release(&index);
	strbuf_release(&text);
}

/* "chk_20261117_102705_33d007 (work on main)"; what is taken back says it all. */
static char *name_restored(const struct ckpt_record *target)
{
	enum { COLUMNS_MAX = 48 };
	const struct show_restore_words *words = show_restore_words();
	struct strbuf out = STRBUF_INIT;
	char *name = words ? NULL : title_name(target);

	strbuf_addstr(&out, report_id(words ? words->what : lookup_target_name(target)));
	if (name && strcmp(name, target->id) != 0 && !*target->composed_for) {
		strbuf_addstr(&out, " (");
		term_add_cut(&out, name, COLUMNS_MAX);
		strbuf_addch(&out, ')');
	}
	free(name);
	return strbuf_detach(&out, NULL);
}

static void print_counts(const struct restore_result *result, const struct ckpt_record *target,
			 bool interrupted)
{
	const struct show_restore_words *words = show_restore_words();
	char *what = name_restored(target);
	bool nothing = restore_has_nothing_to_do(result) && !interrupted;
	bool wrong = result->verified && !result->match;
	char conflicts[64] = "";
	size_t counts[3];

	show_restore_count(counts, &result->plan);
	if (result->conflicts_nr)
		snprintf(conflicts, sizeof(conflicts), ", %zu in conflict", result->conflicts_nr);
	if (nothing && !wrong && words) {
		report_text("Nothing %sof %s to %s\n", result->conflicts_nr ? "else " : "", what,
			    words->will);
	} else if (nothing && !wrong && result->conflicts_nr) {
		report_text("Nothing was restored\n");
	} else if (nothing && !wrong) {
		report_text("The files are already as in %s; nothing to do\n", what);
		/* While a watcher runs, "@" is mostly the present state. */
		if (target->automatic)
			report_text("It was taken automatically; 'git checkpoint list' shows earlier ones\n");
	} else {
		report_text("%s%s %s: %zu brought back, %zu changed, %zu removed%s%s\n",
			    words && !result->done ? "Would " : "",
			    words	       ? result->done ? words->did : words->will
			    : result->composed && interrupted ? "Finished the merge with"
			    : result->done     ? "Restored"
					       : "Would restore",
			    what, counts[EFFECT_BROUGHT_BACK], counts[EFFECT_CHANGED],
			    counts[EFFECT_REMOVED], conflicts,
			    result->verified && result->match ? ", verified" : "");
	}
	free(what);
}

void show_restore_say_conflicts(const struct restore_result *result)
{
	for (size_t i = 0; i < result->conflicts_nr; i++)
		report_messagef("conflict", "%s (%s)", report_path(result->conflicts[i].path),
				result->conflicts[i].why);
}

void show_restore_say_differing(const struct strlist *paths)
{
	for (size_t i = 0; i < paths->nr && i < SHOWN; i++)
		report_messagef("error", "'%s' is not as in the checkpoint",
				report_path(paths->items[i]));
	if (paths->nr > SHOWN)
		report_messagef("error", "nor are %zu more", paths->nr - SHOWN);
}

void show_restore_say_mismatch(const struct restore_result *result, const char *back)
{
	if (!result->verified || result->match)
		return;
	show_restore_say_differing(&result->differing);
	report_messagef("error",
			"the restored state does NOT match the checkpoint: stop and look%s%s%s",
			back ? "; '" : "", back ? back : "", back ? "' goes back" : "");
}

static int print_text(const struct restore_result *result, const struct ckpt_record *target,
		      const struct ckpt_record *interrupted, const char *back)
{
	report_warnings(&result->warnings);
	if (!opt_common.quiet)
		show_restore_print_plan(result, target);
	print_counts(result, target, interrupted != NULL);
	if (result->done)
		print_git(result);
	print_captures(result, target);
	if (result->own_check)
		report_text("'%s' %s\n", result->own_check,
			    result->own_check_status ? "failed" : "succeeded");
	if (result->done && interrupted)
		report_text("Before this restore: %s\n", result->safety);
	if (result->done && back)
		report_text("'%s' goes back to %s\n", back,
			    interrupted ? interrupted->id : result->safety);
	show_restore_say_conflicts(result);
	show_restore_say_mismatch(result, back);
	say_git_mismatch(result);
	show_restore_say_head(result);
	return show_restore_status(result);
}

int show_restore_report(const struct restore_result *result, const struct ckpt_record *target,
			const struct ckpt_record *interrupted, const char *back)
{
	return opt_common.json ? print_json(result, target, back)
			       : print_text(result, target, interrupted, back);
}

/* --- the whole of it --- */

/* The command that leads to the state before. */
static const char *find_way_back(const struct restore_opts *opts,
				 const struct restore_result *result)
{
	if (opts->step.abort)
		return NULL;
	if (opts->step.interrupted)
		return opts->kind == JOURNAL_UNDO ? SHOW_RESTORE_REDO : SHOW_RESTORE_UNDO;
	return opts->kind == JOURNAL_UNDO && show_restore_way_back(result)
		       ? SHOW_RESTORE_REDO
		       : show_restore_way_back(result);
}

/* With the source, which must be the same; the caller frees it. */
static char *name_way_back(const struct restore_opts *opts, const struct restore_result *result)
{
	const char *way = find_way_back(opts, result), *asker = restore_source(opts);

	if (!way || !strcmp(asker, JOURNAL_SOURCE))
		return way ? xstrdup(way) : NULL;
	return xstrfmt("%s --source %s", way, report_shell(asker));
}

static int do_and_report(struct session *session, const struct restore_opts *opts,
			 const struct show_restore_how *how)
{
	const struct show_restore_words *words = show_restore_words();
	struct restore_result result;
	char *back;
	int err = restore_checkpoint(&result, session, opts);

	progress_clear();
	if (err)
		return err;
	flow_restored(session, &result);
	restore_own_check(&result, session, how->verify_command);
	/* A patch may be long. */
	if (opts->dry_run && words && !opt_common.json && !opt_common.quiet) {
		err = hunk_patch(words->patch, session, words->choices);
		if (!err)
			pager_start(session->gitconfig);
	}
	if (!err) {
		back = name_way_back(opts, &result);
		err = show_restore_report(&result, opts->target, opts->step.interrupted, back);
		free(back);
	}
	restore_result_release(&result);
	return err;
}

/* It is a restore of what was chosen then. */
static int carry_out_hunks(struct session *session, struct restore_opts *opts,
			   const struct show_restore_how *how)
{
	struct hunk_choice hunking;
	int err = hunk_choose(&hunking, session, opts, how->yes);
	struct restore_opts chosen = *opts;

	chosen.composed.make = choose_compose;
	chosen.composed.payload = &hunking.chosen;
	chosen.composed.also = &hunking.choices.also;
	chosen.no_delete = false;
	if (!err && !hunk_says_nothing(&hunking))
		err = do_and_report(session, &chosen, how);
	hunk_release(&hunking);
	return err;
}

int show_restore_carry_out(struct session *session, struct restore_opts *opts,
			   const struct show_restore_how *how)
{
	opts->progress = progress_show;
	opts->kept = agents_kept();
	if (how->by_hunks)
		return carry_out_hunks(session, opts, how);
	if (!how->yes && !opts->step.interrupted && !opts->dry_run) {
		opts->confirm = show_restore_confirm;
		opts->payload = (void *)opts->target;
	}
	return do_and_report(session, opts, how);
}

int show_restore_check_expired(const struct ckpt_record *target)
{
	return record_expired(target, clock_now())
		       ? ckpt_error_set(CKPT_EREFUSED,
					"checkpoint '%s' has expired; use --force to restore it anyway",
					target->id)
		       : 0;
}

void show_restore_print_git(FILE *out, const struct restore_result *result)
{
	for (size_t i = 0; i < result->git.says.nr; i++)
		if (restore_line_is_new(result, result->git.says.items[i]))
			term_say(out, "  %s\n", result->git.says.items[i]);
}
