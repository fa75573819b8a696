/* SPDX-License-Identifier: MIT */
#include "cmd/paths_internal.h"
#include "cmd/pick_internal.h"

#include "base/base.h"
#include "cmd/listed_internal.h"
#include "cmd/report.h"
#include "record/record.h"
#include "session/session.h"
#include "ui/ui.h"

#include <signal.h>

/* How fzf ends. */
enum { FZF_CHOSEN = 0, FZF_NO_MATCH = 1, FZF_LEFT = 130 };

static int nothing_chosen(void)
{
	return ckpt_error_set(CKPT_EREFUSED, "no checkpoint chosen, nothing was touched");
}

bool pick_possible(void)
{
	const char *term = getenv("TERM");

	return prompt_possible() && term && *term && strcmp(term, "dumb") != 0;
}

/*
 * Newest first, except that "@" is at the top, before what restores saved for their own safety
 * since. The caller frees them.
 */
static struct listed *arrange(const struct ckpt_records *records)
{
	struct listed *rows = xcalloc(records->nr + 1, sizeof(*rows));
	size_t nr = 0, back = 0;

	for (size_t i = records->nr; i--;) {
		const struct ckpt_record *record = &records->items[i];
		struct listed row = { record, report_position(&back, record) };
		bool top = back == 1 && record_is_meant(record);

		if (top)
			memmove(rows + 1, rows, nr * sizeof(*rows));
		rows[top ? 0 : nr] = row;
		nr++;
	}
	return rows;
}

static void rows_free(struct listed *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(rows[i].position);
	free(rows);
}

/* One line per checkpoint; the id is the first word of each. */
static void compose(struct strbuf *out, const struct listed *rows, size_t nr)
{
	int64_t now = clock_now();

	for (size_t i = 0; i < nr; i++) {
		const struct ckpt_record *record = rows[i].record;
		char age[CLOCK_ISO_SIZE], *title = report_marked_title(record, now);
		const char *dim = record->safety ? term_color(TERM_DIM) : "";

		strbuf_addf(out, "%s%s  %-4s  %8s  %s%s\n", dim, record->id, rows[i].position,
			    clock_format_age_short(age, record->created_at, now), title,
			    *dim ? term_color(TERM_RESET) : "");
		free(title);
	}
}

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
		strbuf_addf(&command, " 2>/dev/null | head -n %d", PICK_PATCH_LINES);
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
static int pick_in_fzf(const struct ckpt_record **out, const struct listed *rows, size_t nr,
		       const struct strlist *typed)
{
	struct strbuf lines = STRBUF_INIT, answer = STRBUF_INIT;
	int err = CKPT_ENOTFOUND, status;

	if (!spawn_available("fzf"))
		return ckpt_error_set(CKPT_ENOTFOUND, "fzf is not installed");
	compose(&lines, rows, nr);
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

int pick_checkpoint(const struct ckpt_record **out, struct session *session,
		    const struct ckpt_records *records, const struct strlist *typed)
{
	const struct paths_where nowhere = { 0 };
	struct pathspec only = PATHSPEC_INIT;
	struct listed *rows = arrange(records);
	size_t at = 0;
	int err = paths_parse(&only, session, typed, 0, &nowhere);

	if (!err)
		err = pick_in_fzf(out, rows, records->nr, typed);
	if (err == CKPT_ENOTFOUND) {
		err = pick_on_screen(&at, session, rows, records->nr, &only);
		if (!err)
			*out = rows[at].record;
		else if (err == CKPT_EREFUSED)
			err = nothing_chosen();
	}
	rows_free(rows, records->nr);
	pathspec_release(&only);
	return err;
}
