/* SPDX-License-Identifier: MIT */
#include "cmd/pick_internal.h"

#include "base/base.h"
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

/* One line per checkpoint, newest first; the id is the first word of each. */
static void compose(struct strbuf *out, const struct ckpt_records *records)
{
	int64_t now = clock_now();

	for (size_t i = records->nr; i--;) {
		const struct ckpt_record *record = &records->items[i];
		char age[CLOCK_ISO_SIZE], *line = report_marked_reason(record, now);

		strbuf_addf(out, "%s  %8s  %s\n", record->id,
			    clock_format_age_short(age, record->created_at, now), line);
		free(line);
	}
}

/*
 * The command that shows what a restore would do; fzf inserts the id. NULL if that is not possible.
 */
static char *preview_command(const struct strlist *typed)
{
	char *self = path_real("/proc/self/exe");
	struct strbuf command = STRBUF_INIT;
	/* fzf would replace braces. */
	bool possible = self && !strchr(self, '{');

	strbuf_addstr(&command, "env GIT_CHECKPOINT_COLOR=always ");
	if (self)
		quote_shell(&command, self);
	strbuf_addstr(&command, " restore --dry-run {1} --");
	for (size_t i = 0; i < typed->nr; i++) {
		possible = possible && !strchr(typed->items[i], '{');
		strbuf_addch(&command, ' ');
		quote_shell(&command, typed->items[i]);
	}
	strbuf_addstr(&command, " 2>&1");
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
		"fzf", "--no-sort", "--no-multi", "--layout=reverse",
		"--header=Which checkpoint to restore? Enter chooses, Escape quits",
		"--preview-window=down:60%", preview ? "--preview" : NULL, preview, NULL
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
static int pick_in_fzf(const struct ckpt_record **out, const struct ckpt_records *records,
		       const struct strlist *typed)
{
	struct strbuf lines = STRBUF_INIT, answer = STRBUF_INIT;
	int err = CKPT_ENOTFOUND, status;

	if (!spawn_available("fzf"))
		return ckpt_error_set(CKPT_ENOTFOUND, "fzf is not installed");
	compose(&lines, records);
	status = run_fzf(&answer, &lines, typed);
	if (status == FZF_NO_MATCH || status == FZF_LEFT)
		err = nothing_chosen();
	strbuf_setlen(&answer, strcspn(answer.buf, " \n"));
	for (size_t i = 0; status == FZF_CHOSEN && i < records->nr && err; i++) {
		if (strcmp(records->items[i].id, answer.buf))
			continue;
		*out = &records->items[i];
		err = 0;
	}
	strbuf_release(&answer);
	strbuf_release(&lines);
	return err;
}

/* As the rest of the program has them. */
static int resolve(struct strlist *out, const struct session *session, const struct strlist *typed)
{
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < typed->nr && !err; i++) {
		err = session_path(&path, session, typed->items[i]);
		if (!err)
			strlist_add(out, path.buf);
	}
	strlist_sort_unique(out);
	strbuf_release(&path);
	return err;
}

int pick_checkpoint(const struct ckpt_record **out, struct session *session,
		    const struct ckpt_records *records, const struct strlist *typed)
{
	const struct ckpt_record **newest_first;
	struct strlist paths = STRLIST_INIT;
	size_t at = 0;
	int err = resolve(&paths, session, typed);

	if (!err)
		err = pick_in_fzf(out, records, typed);
	if (err != CKPT_ENOTFOUND) {
		strlist_release(&paths);
		return err;
	}
	newest_first = xcalloc(records->nr, sizeof(const struct ckpt_record *));
	for (size_t i = 0; i < records->nr; i++)
		newest_first[i] = &records->items[records->nr - 1 - i];
	err = pick_on_screen(&at, session, newest_first, records->nr, &paths);
	if (!err)
		*out = newest_first[at];
	else if (err == CKPT_EREFUSED)
		err = nothing_chosen();
	free(newest_first);
	strlist_release(&paths);
	return err;
}
