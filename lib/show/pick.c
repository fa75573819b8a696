/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "base/base.h"
#include "look/look.h"
#include "record/record.h"
#include "session/session.h"
#include "show/path.h"
#include "show/report.h"
#include "ui/ui.h"

#include <signal.h>

/* How fzf ends. */
enum { FZF_CHOSEN = 0, FZF_NO_MATCH = 1, FZF_LEFT = 130 };

enum {
	PATCH_LINES = 500, /* of a preview */
	NUMBERED = 20,	   /* checkpoints in a list without fzf */
};

static int nothing_chosen(void)
{
	return ckpt_error_set(CKPT_EREFUSED, "no checkpoint chosen, nothing was touched");
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

/* Shows what a restore would do, and the patch that it takes back. NULL if that is not possible. */
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
		add_call(&command, self, "diff", typed);
		strbuf_addf(&command, " 2>/dev/null | head -n %d", PATCH_LINES);
	}
	free(self);
	if (possible)
		return strbuf_detach(&command, NULL);
	strbuf_release(&command);
	return NULL;
}

static void exec_fzf(int in, int out, const struct strlist *typed)
{
	char *preview = preview_command(typed);
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

	if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
		_exit(2);
	/* The preview is a call of this program, which must find the same store. */
	environ = env_given();
	env_limit_path();
	env_restore_umask();
	execvp(argv[0], (char *const *)argv);
	_exit(2);
}

/* Run it; its exit status, -1 if it could not be run. */
static int run_fzf(struct strbuf *answer, const struct strbuf *lines, const struct strlist *typed)
{
	int in[2], out[2], status = -1;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	char byte[256];
	ssize_t n;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	pid = fork();
	if (!pid)
		exec_fzf(in[0], out[1], typed);
	close(in[0]);
	close(out[1]);
	if (pid > 0) {
		/* If the user chooses early, fzf does not read the rest. */
		sigaction(SIGPIPE, &ignore, &old);
		(void)fs_write_all(in[1], lines->buf, lines->len);
		sigaction(SIGPIPE, &old, NULL);
	}
	close(in[1]);
	while (pid > 0 && (n = fs_read_full(out[0], byte, sizeof(byte))) > 0)
		strbuf_add(answer, byte, (size_t)n);
	close(out[0]);
	if (pid > 0)
		status = spawn_wait(pid);
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
		fprintf(stderr, "%s\n", fitting.buf);
		strbuf_release(&fitting);
		strbuf_release(&line);
	}
	if (nr > NUMBERED)
		fprintf(stderr, "and %zu more; 'git checkpoint list' shows all\n", nr - NUMBERED);
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
