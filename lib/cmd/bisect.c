/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include <signal.h>

enum { SKIP = 125 };

static const char *const verdict_names[] = { [BISECT_UNKNOWN] = "unknown",
					     [BISECT_GOOD] = "good",
					     [BISECT_BAD] = "bad",
					     [BISECT_SKIPPED] = "skipped" };

struct bisect {
	struct session *session;
	struct strlist command;
	struct ckpt_record good, bad;
	struct ckpt_records all;
	const struct ckpt_record **states; /* from good to bad, in the order of saving */
	enum bisect_verdict *verdicts;
	size_t nr;
	json_t *tested;
};

/* --- which ones --- */

static bool is_whole(const struct ckpt_record *record)
{
	return !record->scope.nr && !record->state_only;
}

static int find_end(struct ckpt_record *out, struct session *session, const char *name)
{
	int err = session_lookup(out, session->store, name);

	if (!err && !is_whole(out))
		err = ckpt_error_set(CKPT_ERROR,
				     "checkpoint '%s' is not of the whole worktree and cannot be "
				     "compared with others",
				     out->id);
	return err;
}

/* A state that a restore put aside is not between two others, unless it was named. */
static int list_states(struct bisect *bisect)
{
	bool between = false, after = false;

	bisect->states = xcalloc(bisect->all.nr + 1, sizeof(struct ckpt_record *));
	for (size_t i = 0; i < bisect->all.nr && !after; i++) {
		const struct ckpt_record *record = &bisect->all.items[i];
		bool good = !strcmp(record->id, bisect->good.id);

		after = between && !strcmp(record->id, bisect->bad.id);
		if (good || after || (between && is_whole(record) && !record->safety))
			bisect->states[bisect->nr++] = record;
		between = between || good;
	}
	bisect->verdicts = xcalloc(bisect->nr + 1, sizeof(*bisect->verdicts));
	if (!strcmp(bisect->good.id, bisect->bad.id))
		return ckpt_error_set(CKPT_ERROR, "'%s' cannot be both good and bad; name two checkpoints",
				      bisect->good.id);
	if (!after)
		return ckpt_error_set(CKPT_ERROR, "'%s' was not saved before '%s'; name the good one first",
				      bisect->good.id, bisect->bad.id);
	return 0;
}

/* --- asking --- */

static bool was_stopped(const struct run_child *child)
{
	return child->signal == SIGINT || child->signal == SIGTERM || child->signal == SIGHUP ||
	       child->signal == SIGQUIT;
}

static enum bisect_verdict judge_exit(const struct run_child *child)
{
	return !child->exit_status	    ? BISECT_GOOD
	       : child->exit_status == SKIP ? BISECT_SKIPPED
					    : BISECT_BAD;
}

static void note_verdict(struct bisect *bisect, size_t at, const struct try *try)
{
	const char *verdict = verdict_names[bisect->verdicts[at]];
	struct row row = ROW_INIT;

	row_text(&row, "id", bisect->states[at]->id);
	row_json(&row, "exit_status",
		 try ? json_integer(try->child.exit_status) : json_null());
	row_text(&row, "verdict", verdict);
	json_array_append_new(bisect->tested, row_object(&row));
	show_run_say("%s is %s\n", bisect->states[at]->id, verdict);
}

/* What is damaged, or gone by now, tells nothing; the others may. */
static bool pass_over(struct bisect *bisect, size_t at, int err)
{
	if ((err != CKPT_ENOTFOUND && err != CKPT_ECORRUPT) || !at || at + 1 == bisect->nr)
		return false;
	report_message("warning", ckpt_error_last());
	bisect->verdicts[at] = BISECT_SKIPPED;
	note_verdict(bisect, at, NULL);
	return true;
}

static int test_state(struct bisect *bisect, size_t at)
{
	struct try try;
	/* Several of them cannot read the same stdin, and stdout is for the answer. */
	int err = show_try_run(&try, bisect->session, bisect->states[at], &bisect->command,
			       RUN_ASIDE);

	if (!err && !try.copy.match) {
		try_release(&try);
		return EXIT_UNVERIFIED;
	}
	if (!err && !try.child.started)
		err = ckpt_error_set(CKPT_ERROR, "'%s' could not be run",
				     bisect->command.items[0]);
	else if (!err && was_stopped(&try.child))
		err = ckpt_error_set(CKPT_ECANCELLED, "interrupted");
	if (!err) {
		bisect->verdicts[at] = judge_exit(&try.child);
		note_verdict(bisect, at, &try);
	}
	try_release(&try);
	return err && pass_over(bisect, at, err) ? 0 : err;
}

/* The ends must be what they are said to be. */
static int test_ends(struct bisect *bisect)
{
	size_t last = bisect->nr - 1;
	struct strbuf why = STRBUF_INIT;
	int err = test_state(bisect, 0);

	if (!err && bisect->verdicts[0] != BISECT_GOOD)
		strbuf_addf(&why, "the command %s for %s, which should be good",
			    bisect->verdicts[0] == BISECT_BAD ? "fails" : "exits with 125",
			    bisect->good.id);
	if (!err && !why.len)
		err = test_state(bisect, last);
	if (!err && !why.len && bisect->verdicts[last] != BISECT_BAD)
		strbuf_addf(&why, "the command %s for %s, which should be bad",
			    bisect->verdicts[last] == BISECT_GOOD ? "succeeds" : "exits with 125",
			    bisect->bad.id);
	if (!err && why.len)
		err = report_no(why.buf);
	strbuf_release(&why);
	return err;
}

/* --- the answer --- */

static int report_result(struct bisect *bisect)
{
	size_t first, last = bisect_range(&first, bisect->verdicts, bisect->nr);
	int status = first == last ? EXIT_DONE : EXIT_INCOMPLETE;
	char *title = title_of(bisect->states[last]);
	struct row answer = ROW_INIT;
	json_t *candidates = json_array();

	for (size_t i = first; i <= last; i++)
		json_array_append_new(candidates, json_string(bisect->states[i]->id));
	if (opt_common.json) {
		row_json(&answer, "first_bad",
			 first == last ? report_checkpoint(bisect->states[last]) : json_null());
		row_json(&answer, "candidates", json_incref(candidates));
		row_text(&answer, "last_good", bisect->states[first - 1]->id);
		row_texts(&answer, "command", &bisect->command);
		row_json(&answer, "tested", json_incref(bisect->tested));
		status = report_json(row_object(&answer), status);
	} else if (first == last) {
		term_say(stdout, "%s is the first bad checkpoint: %s\n",
			 report_id(bisect->states[last]->id), title);
	} else {
		term_say(stdout,
			 "The first bad checkpoint is one of these, the others were skipped:\n");
		for (size_t i = first; i <= last; i++)
			term_say(stdout, "%s\n", bisect->states[i]->id);
	}
	json_decref(candidates);
	free(title);
	return status;
}

static int search_first_bad(struct bisect *bisect)
{
	int err = test_ends(bisect);
	size_t at;

	while (!err && (at = bisect_next(bisect->verdicts, bisect->nr)) < bisect->nr) {
		unsigned steps = bisect_steps(bisect->verdicts, bisect->nr);

		show_run_say("about %u more %s to run\n", steps, steps == 1 ? "time" : "times");
		err = test_state(bisect, at);
	}
	return err ? err : report_result(bisect);
}

static int bisect(struct session *session, const struct strlist *args)
{
	struct bisect bisect = { .session = session,
				 .good = CKPT_RECORD_INIT,
				 .bad = CKPT_RECORD_INIT,
				 .tested = json_array() };
	int err;

	run_unheard();
	for (size_t i = 2; i < args->nr; i++)
		strlist_add(&bisect.command, args->items[i]);
	err = find_end(&bisect.good, session, args->items[0]);
	if (!err)
		err = find_end(&bisect.bad, session, args->items[1]);
	if (!err)
		err = lookup_records(&bisect.all, session->store);
	if (!err) {
		report_warnings(&bisect.all.damaged);
		err = list_states(&bisect);
	}
	if (!err)
		err = search_first_bad(&bisect);
	free(bisect.states);
	free(bisect.verdicts);
	json_decref(bisect.tested);
	lookup_records_release(&bisect.all);
	record_release(&bisect.good);
	record_release(&bisect.bad);
	strlist_release(&bisect.command);
	return err;
}

static int check(const struct strlist *args UNUSED)
{
	return show_try_check(&cmd_bisect_spec, 2);
}

const struct opt_spec cmd_bisect_spec = {
	.command = "bisect",
	.summary = "find the first checkpoint for which a command fails",
	.args = OPT_ARGS({ { "<good>" }, 1, 1, .such_as = "@~9", .noun = "checkpoint" },
			 { { "<bad>" }, 1, 1, .such_as = "@ for the newest", .noun = "checkpoint" },
			 { { "<command>" }, 1, OPT_MANY, .dashes = true, .dashed = true }),
	.check = check,
	.session = SESSION_STORE,
	.run = bisect,
};
