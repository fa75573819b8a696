/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "show/hunk_internal.h"

/*
 * A list of more paths is folded; without --dry-run only so many lines are shown.
 */
enum { SHOWN = 20, NESTED_SHOWN = 5 };

/* The plan was shown with the question: not a second time. */
static bool plan_shown;

static bool all_wanted;

void show_restore_show_all(void)
{
	all_wanted = true;
}

static const struct show_restore_words *said;

void show_restore_set_words(const struct show_restore_words *words)
{
	said = words;
}

const struct show_restore_words *show_restore_words(void)
{
	return said;
}

void show_restore_count(size_t counts[3], const struct plan *plan)
{
	memset(counts, 0, 3 * sizeof(*counts));
	for (size_t i = 0; i < plan->rows_nr; i++)
		counts[plan->rows[i].effect]++;
}

/* --- the lines --- */

static void print_line(FILE *out, const struct plan_line *line)
{
	static const struct {
		char letter;
		enum term_color color;
	} looks[] = { [EFFECT_REMOVED] = { '-', TERM_RED },
		      [EFFECT_CHANGED] = { '~', TERM_YELLOW },
		      [EFFECT_BROUGHT_BACK] = { '+', TERM_GREEN } };
	char *path = line->dir_len ? xmemdupz(line->path, line->dir_len + 1) : xstrdup(line->path);
	char count[UNITS_SIZE];

	term_say(out, "  %s%c %s%s", term_color(looks[line->effect].color),
		 looks[line->effect].letter, report_path(path), term_color(TERM_RESET));
	if (line->dir_len)
		term_say(out, " (%s files)", units_format_count(count, line->rows));
	term_say(out, "\n");
	free(path);
}

/* At most `max` of them, removed paths first; returns how many rows are not shown. */
static size_t print_lines(FILE *out, const struct plan_lines *lines, size_t max)
{
	bool *shown = xcalloc(lines->nr + 1, sizeof(*shown));
	size_t left = max, hidden = 0;

	for (size_t i = 0; i < lines->nr && left; i++) {
		shown[i] = lines->items[i].effect == EFFECT_REMOVED;
		left -= shown[i];
	}
	for (size_t i = 0; i < lines->nr; i++) {
		if (!shown[i] && left) {
			shown[i] = true;
			left--;
		}
		if (shown[i])
			print_line(out, &lines->items[i]);
		else
			hidden += lines->items[i].rows;
	}
	free(shown);
	return hidden;
}

static bool is_new(const struct plan_row *row, const void *payload)
{
	return restore_row_is_new(payload, row);
}

/* `short_one`: so that it fits a screen. */
static void print_rows(FILE *out, const struct restore_result *result, const char *id,
		       bool short_one)
{
	struct plan_lines lines;
	size_t hidden, rows = 0;
	char count[UNITS_SIZE];

	plan_fold(&lines, &result->plan, all_wanted ? SIZE_MAX : SHOWN,
		  result->agreed ? is_new : NULL, result);
	hidden = print_lines(out, &lines, short_one && !all_wanted ? SHOWN : lines.nr);
	for (size_t i = 0; i < lines.nr; i++)
		rows += lines.items[i].rows;
	units_format_count(count, hidden);
	if (hidden && said)
		term_say(out, "  and %s more; see '%s -n -v'\n", count, said->command);
	else if (hidden)
		term_say(out, "  and %s more; see 'git checkpoint restore -n -v %s'\n", count, id);
	else if (!short_one && lines.nr < rows)
		term_say(out, "  -v shows every path\n");
	plan_lines_release(&lines);
}

static void print_replays(FILE *out, const struct restore_result *result)
{
	const struct capture_outcomes *captures = &result->captures;

	for (size_t i = 0; i < captures->nr; i++)
		if (captures->items[i].status != CAPTURE_UNCONFIGURED)
			term_say(out, "  %s> capture %s, %s%s\n", term_color(TERM_YELLOW),
				 captures->items[i].name,
				 captures->items[i].status == CAPTURE_FOREIGN
					 ? "from elsewhere: not restored without --captures"
					 : "restored after the files",
				 term_color(TERM_RESET));
}

void show_restore_print_plan(const struct restore_result *result, const struct ckpt_record *target)
{
	if (!plan_shown)
		print_rows(stdout, result, target->id, result->done);
	if (!plan_shown)
		show_restore_print_git(stdout, result);
	if (!result->done && said)
		fwrite(said->patch->buf, 1, said->patch->len, stdout);
	if (!result->done)
		print_replays(stdout, result);
}

/* --- the question --- */

static void say_head(const struct gitleft *head)
{
	for (size_t i = 0; i < head->tells.nr; i++)
		term_say(stderr, "warning: %s%s\n", head->tells.items[i],
			 head->commands.nr && i + 1 == head->tells.nr ? ":" : "");
	for (size_t i = 0; i < head->commands.nr; i++)
		term_say(stderr, "    %s\n", head->commands.items[i]);
}

void show_restore_say_head(const struct restore_result *result)
{
	/* Who was asked has read it. */
	if (opt_common.quiet || !report_speaks() || plan_shown)
		return;
	fflush(stdout);
	for (size_t i = 0; i < result->nested_nr && i < NESTED_SHOWN; i++)
		say_head(&result->nested[i]);
	if (result->nested_nr > NESTED_SHOWN)
		term_say(
			stderr,
			"warning: %zu more repositories have another HEAD now; --json names them\n",
			result->nested_nr - NESTED_SHOWN);
	/* The one that matters most is the last that is read. */
	say_head(&result->head);
}

static char *question_of(const struct restore_result *preview)
{
	const struct plan *plan = &preview->plan;
	struct strbuf text = STRBUF_INIT;
	size_t counts[3];

	show_restore_count(counts, plan);
	strbuf_addf(&text, "%s: %zu to bring back, %zu to change, %zu to remove",
		    said ? "Take it back" : "Restore it", counts[EFFECT_BROUGHT_BACK], counts[EFFECT_CHANGED], counts[EFFECT_REMOVED]);
	if (plan->captures.nr)
		strbuf_addf(&text, ", %zu %s to restore", plan->captures.nr,
			    plan->captures.nr == 1 ? "capture" : "captures");
	if (preview->git.says.nr)
		strbuf_addf(&text, ", and %s",
			    preview->git.what == JOURNAL_GIT ? "the state of git" : "the index");
	if (preview->conflicts_nr)
		strbuf_addf(&text, ", %zu in conflict", preview->conflicts_nr);
	strbuf_addch(&text, '?');
	return strbuf_detach(&text, NULL);
}

/* The first question shows all of the plan, the following ones what is new in it. */
static void show_preview(const struct restore_result *preview, const struct ckpt_record *target)
{
	char *reason = title_of(target), age[CLOCK_ISO_SIZE];

	progress_clear();
	if (said)
		term_say(stderr, "Taking back %s\n", report_id(said->what));
	else
		term_say(stderr, "%s, %s: %s\n", report_id(target->id),
			 clock_format_age(age, target->created_at, clock_now()), reason);
	if (preview->agreed)
		term_say(stderr, "Files changed while you were asked. New in the plan:\n");
	print_rows(stderr, preview, target->id, true);
	show_restore_print_git(stderr, preview);
	print_replays(stderr, preview);
	show_restore_say_conflicts(preview);
	show_restore_say_head(preview);
	plan_shown = true;
	free(reason);
}

/* A row stands for everything below it, too, where a directory replaced a file or was replaced. */
static void limit_to_plan(struct compare_list *changes, const struct plan *plan)
{
	struct strlist paths = STRLIST_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < plan->rows_nr; i++)
		strlist_add(&paths, plan->rows[i].path);
	strlist_sort_unique(&paths);
	for (size_t i = 0; i < changes->nr; i++) {
		if (pathset_covers(&paths, changes->items[i].path))
			changes->items[kept++] = changes->items[i];
		else
			free(changes->items[i].path);
	}
	changes->nr = kept;
	strlist_release(&paths);
}

static int print_diff(void *payload)
{
	int err;

	/* As the plan has it, and revert: what will change. */
	diff_turn(payload);
	err = show_diff_prepare(payload);

	return err ? err : show_diff_print(payload);
}

static int print_text(void *payload)
{
	const struct strbuf *text = payload;

	fwrite(text->buf, 1, text->len, stdout);
	return 0;
}

/* What is about to be restored, and where. */
struct view {
	struct session *session;
	const struct ckpt_record *target;
	const struct plan *plan;
};

/* The patch of what a plan changes, as "git checkpoint diff -R"; a failure is reported only. */
static void show_view(void *payload)
{
	const struct view *view = payload;
	struct diff diff;
	int err;

	if (said) {
		strbuf_reset(said->patch);
		err = hunk_patch(said->patch, view->session, said->choices);
		if (!err)
			err = pager_show(view->session->gitconfig, print_text, said->patch);
	} else {
		err = diff_worktree(&diff, view->session, view->target, NULL, progress_show);
		progress_clear();
	}
	if (!err && !said) {
		limit_to_plan(&diff.changes, view->plan);
		if (diff.changes.nr)
			err = pager_show(view->session->gitconfig, print_diff, &diff);
		else
			term_say(stderr, "Nothing differs any more.\n");
		diff_release(&diff);
	}
	if (err && !cancel_signal())
		report_message("error", ckpt_error_last());
}

int show_restore_confirm(const struct restore_result *preview, struct session *session,
			 void *payload)
{
	const struct ckpt_record *target = payload;
	struct view view = { session, target, &preview->plan };
	const struct prompt_look diff = { .letter = 'd',
					  .help = "show what will change, as a patch",
					  .show = show_view,
					  .payload = &view };
	struct prompt prompt = { .yes = said ? "take it back" : "restore it",
				 .no = "leave everything as it is" };
	char *question;
	bool agreed;

	if (restore_has_nothing_to_do(preview))
		return 0; /* nothing to agree to */
	if (!prompt_possible())
		return ckpt_error_set(CKPT_EREFUSED, "not a terminal; use --yes to confirm");
	if (opt_common.json)
		return ckpt_error_set(CKPT_EREFUSED, "--json does not ask; use --yes to confirm");
	show_preview(preview, target);
	question = question_of(preview);
	prompt.question = question;
	/* Captures have none. */
	if (preview->plan.rows_nr)
		prompt.look = &diff;
	agreed = prompt_ask(&prompt);
	free(question);
	if (cancel_signal())
		return ckpt_error_set(CKPT_ECANCELLED, "interrupted, nothing was touched");
	if (agreed)
		return 0;
	term_say(stderr, "%s.\n", said ? said->declined : "Not restored");
	return ckpt_error_set(CKPT_EDECLINED, "the plan was declined");
}
