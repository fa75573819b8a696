/* SPDX-License-Identifier: MIT */
#include "show/show.h"

/* How fzf ends. */
enum { FZF_CHOSEN = 0, FZF_NO_MATCH = 1, FZF_LEFT = 130 };

enum {
	PATCH_LINES = 500, /* of a preview */
	NUMBERED = 20,	   /* checkpoints in a list without fzf */
};

static int nothing_chosen(void)
{
	term_say(stderr, "No checkpoint chosen, nothing was touched.\n");
	return ckpt_error_set(CKPT_EDECLINED, "no checkpoint chosen, nothing was touched");
}

/* "@" at the top, before what restores saved for their safety since. */
static void put_meant_first(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct list_row row = list->rows[i];

		if (strcmp(row.position, "@") != 0)
			continue;
		memmove(list->rows + 1, list->rows, i * sizeof(row));
		list->rows[0] = row;
	}
}

/* All, or with paths those in which one of them became something else. */
static int find_choice(struct list *list, struct session *session, const struct strlist *typed,
		       const struct pathspec *only)
{
	/* What it was called before is not what was asked for. */
	int err = typed->nr ? list_choose_past(list, session, only, NULL, false)
			    : look_list(&list->records, session, NULL);

	if (err)
		return err;
	if (!typed->nr)
		list_choose(list, NULL, false);
	put_meant_first(list);
	if (!list->nr && typed->nr)
		return ckpt_error_set(CKPT_ENOTFOUND, "no checkpoint in which '%s' changed",
				      typed->items[0]);
	if (!list->nr)
		return ckpt_error_set(CKPT_ENOTFOUND, "no checkpoint of '%s' yet",
				      session->worktree);
	return 0;
}

/* "changed +3 -1", or "" */
static char *change_text(const struct list_row *row)
{
	if (!row->change)
		return xstrdup("");
	if (row->added < 0)
		return xstrdup(row->change);
	return xstrfmt("%s +%" PRId64 " -%" PRId64, row->change, row->added, row->deleted);
}

/* One checkpoint in a line that begins with its id. */
static void compose_line(struct strbuf *out, const struct list_row *row, int64_t now)
{
	char age[CLOCK_ISO_SIZE], *title = report_marked_title(row->record, now);
	char *change = change_text(row);

	strbuf_addf(out, "%s  %-4s  %8s  %s%s%s", row->record->id, row->position,
		    clock_format_age_short(age, row->record->created_at, now), change,
		    *change ? "  " : "", title);
	free(change);
	free(title);
}

static void compose_lines(struct strbuf *out, const struct list_row *rows, size_t nr)
{
	int64_t now = clock_now();

	for (size_t i = 0; i < nr; i++) {
		const char *dim = rows[i].record->safety ? term_color(TERM_DIM) : "";

		strbuf_addstr(out, dim);
		compose_line(out, &rows[i], now);
		strbuf_addf(out, "%s\n", *dim ? term_color(TERM_RESET) : "");
	}
}

/* --- in fzf --- */

/* A call of this program about the id that fzf inserts, and the paths. */
static void add_call(struct strbuf *out, const char *self, const char *command,
		     const struct strlist *typed)
{
	strbuf_addstr(out, "env GIT_CHECKPOINT_COLOR=always ");
	quote_shell(out, self);
	strbuf_addf(out, " %s {1} --", command);
	for (size_t i = 0; i < typed->nr; i++) {
		strbuf_addch(out, ' ');
		quote_shell(out, typed->items[i]);
	}
}

/* Shows what a restore would do, also as a patch. NULL if that is not possible. */
static char *preview_command(const struct strlist *typed)
{
	char *self = path_real("/proc/self/exe");
	struct strbuf command = STRBUF_INIT;
	/* fzf would replace braces. */
	bool possible = self && !strchr(self, '{');

	for (size_t i = 0; i < typed->nr; i++)
		possible = possible && !strchr(typed->items[i], '{');
	if (possible) {
		add_call(&command, self, "restore --dry-run", typed);
		strbuf_addstr(&command, " 2>&1; echo; ");
		add_call(&command, self, "diff -R", typed);
		strbuf_addf(&command, " 2>/dev/null | head -n %d", PATCH_LINES);
	}
	free(self);
	if (possible)
		return strbuf_detach(&command, NULL);
	strbuf_release(&command);
	return NULL;
}

/* What directs git: the preview is a call of this program, which must find the same store. */
static const char **list_git_env(void)
{
	char **given = env_given();
	const char **out;
	size_t nr = 0;

	while (given[nr])
		nr++;
	out = xcalloc(nr + 1, sizeof(*out));
	nr = 0;
	for (; *given; given++)
		if (!strncmp(*given, "GIT_", 4))
			out[nr++] = *given;
	return out;
}

/* Its exit status; -1 if it could not be run. */
static int run_fzf(struct strbuf *answer, const struct strbuf *lines, const struct strlist *typed)
{
	char *preview = preview_command(typed);
	const char **env = list_git_env();
	int status = -1;
	const char *const argv[] = {
		"fzf",
		"--ansi",
		"--no-sort",
		"--no-multi",
		"--layout=reverse",
		"--header=Which checkpoint to restore? Enter chooses, Escape quits",
		"--preview-window=down:60%",
		preview ? "--preview" : NULL,
		preview,
		NULL
	};
	const struct spawn_opts opts = { .env = env,
					 .input = lines->buf,
					 .input_len = lines->len,
					 .shown = true,
					 .tidies = true,
					 .status_out = &status };

	(void)spawn_run(answer, &opts, argv);
	free(env);
	free(preview);
	return status;
}

/* CKPT_ENOTFOUND: ask in another way. */
static int pick_in_fzf(const struct ckpt_record **out, const struct list_row *rows, size_t nr,
		       const struct strlist *typed)
{
	struct strbuf lines = STRBUF_INIT, answer = STRBUF_INIT;
	int err = CKPT_ENOTFOUND, status;

	if (!spawn_available("fzf"))
		return ckpt_error_set(CKPT_ENOTFOUND, "fzf is not installed");
	compose_lines(&lines, rows, nr);
	status = run_fzf(&answer, &lines, typed);
	if (status == FZF_NO_MATCH || status == FZF_LEFT)
		err = nothing_chosen();
	strbuf_setlen(&answer, strcspn(answer.buf, " \n"));
	for (size_t i = 0; status == FZF_CHOSEN && i < nr && err; i++) {
		if (strcmp(rows[i].record->id, answer.buf))
			continue;
		*out = rows[i].record;
		err = 0;
	}
	strbuf_release(&answer);
	strbuf_release(&lines);
	return err;
}

/* --- without it --- */

static void print_numbered(const struct list_row *rows, size_t nr)
{
	int64_t now = clock_now();

	for (size_t i = 0; i < nr && i < NUMBERED; i++) {
		struct strbuf line = STRBUF_INIT, fitting = STRBUF_INIT;

		strbuf_addf(&line, "%3zu  ", i + 1);
		compose_line(&line, &rows[i], now);
		term_add_cut(&fitting, line.buf, term_width());
		term_say(stderr, "%s\n", fitting.buf);
		strbuf_release(&fitting);
		strbuf_release(&line);
	}
	if (nr > NUMBERED)
		term_say(stderr, "and %zu more; 'git checkpoint list' shows all\n", nr - NUMBERED);
}

/* The answer is a number of the list, or whatever else a checkpoint can be called by. */
static int pick_by_number(struct ckpt_record *out, const struct session *session,
			  const struct list_row *rows, size_t nr)
{
	char answer[PROMPT_ANSWER_SIZE];
	uint64_t number;

	print_numbered(rows, nr);
	if (!prompt_text(answer, "Which checkpoint to restore? (a number or a name, Enter leaves)"))
		return cancel_signal() ? cancel_check() : nothing_chosen();
	if (!units_parse_number(&number, answer))
		return session_lookup(out, session->store, answer);
	if (!number || number > nr)
		return ckpt_error_set(CKPT_ENOTFOUND, "no checkpoint has the number %s", answer);
	return session_lookup(out, session->store, rows[number - 1].record->id);
}

int pick_checkpoint(struct ckpt_record *out, struct session *session, const struct strlist *typed)
{
	const struct ckpt_record *chosen = NULL;
	struct pathspec only = PATHSPEC_INIT;
	struct list list = { 0 };
	int err = show_paths_parse_ever(&only, session, typed, 0);

	if (!err)
		err = find_choice(&list, session, typed, &only);
	if (err)
		goto out;
	err = pick_in_fzf(&chosen, list.rows, list.nr, typed);
	if (!err)
		err = session_lookup(out, session->store, chosen->id);
	else if (err == CKPT_ENOTFOUND)
		err = pick_by_number(out, session, list.rows, list.nr);
out:
	list_release(&list);
	pathspec_release(&only);
	return err;
}
