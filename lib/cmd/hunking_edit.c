/* SPDX-License-Identifier: MIT */
#include "cmd/hunking_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "ui/ui.h"

/* As git has it, word by word: people know it. */
static const char before[] = "# Manual hunk edit mode -- see bottom for a quick guide.\n";
static const char after[] =
	"# ---\n"
	"# To remove '-' lines, make them ' ' lines (context).\n"
	"# To remove '+' lines, delete them.\n"
	"# Lines starting with # will be removed.\n"
	"# If the patch applies cleanly, the edited hunk will immediately be marked for applying.\n"
	"# If it does not apply cleanly, you will be given an opportunity to\n"
	"# edit again.  If all lines of the hunk are removed, then the edit is\n"
	"# aborted and the hunk is left unchanged.\n";

/* The repository's configuration names programs, too; those are not run. */
static const char *editor(void)
{
	const char *const given[] = { getenv("VISUAL"), getenv("EDITOR"), "vi" };
	size_t i = 0;

	while (!given[i] || !*given[i])
		i++;
	return given[i];
}

static int run_editor(struct strbuf *text, const char *path)
{
	int err = fs_write_file(AT_FDCWD, path, text->buf, text->len, 0600, FS_FAST);
	int status;

	if (err)
		return err;
	fflush(stderr);
	status = spawn_editor(editor(), path);
	if (!cancel_signal() && status)
		return ckpt_error_set(CKPT_ERROR, "there was a problem with the editor '%s'", editor());
	strbuf_reset(text);
	return fs_read_text(text, AT_FDCWD, path);
}

/* In a directory of our own: its name does not matter to the user, the file's does to the editor. */
static int edit_text(struct strbuf *text)
{
	const char *tmp = getenv("TMPDIR");
	struct strbuf path = STRBUF_INIT;
	char *dir = xstrfmt("%s/git-checkpoint.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	int err = 0;

	if (!mkdtemp(dir)) {
		err = ckpt_error_errno("unable to create a directory in '%s'", tmp ? tmp : "/tmp");
	} else {
		strbuf_addf(&path, "%s/hunk-edit.diff", dir);
		err = run_editor(text, path.buf);
		if (fs_remove_tree(AT_FDCWD, dir) && !err)
			report_message("warning", ckpt_error_last());
	}
	strbuf_release(&path);
	free(dir);
	return err;
}

/* Part of the conversation, which goes to stderr even if the answer is JSON. */
static void say_why(void)
{
	struct strbuf clean = STRBUF_INIT;

	report_clean(&clean, ckpt_error_last());
	fprintf(stderr, "error: %s\n", clean.buf);
	strbuf_release(&clean);
}

static bool ask_again(void)
{
	struct strbuf answer = STRBUF_INIT;
	bool again = false, known = false;

	while (!known && !cancel_signal()) {
		fprintf(stderr,
			"%sYour edited hunk does not apply. Edit again (saying \"no\" discards!) "
			"[y/n]? %s",
			term_color(TERM_BLUE), term_color(TERM_RESET));
		known = !answer_read(&answer) || tolower((unsigned char)answer.buf[0]) == 'n';
		again = !known && tolower((unsigned char)answer.buf[0]) == 'y';
		known = known || again;
	}
	strbuf_release(&answer);
	return again;
}

int hunking_edit(bool *done_out, struct hunks *hunks, size_t at)
{
	struct strbuf text = STRBUF_INIT;
	bool empty = false, again = true;
	int err = 0;

	while (again && !err) {
		strbuf_reset(&text);
		strbuf_addstr(&text, before);
		hunks_show(&text, &hunks->items[at]);
		strbuf_addstr(&text, after);
		err = edit_text(&text);
		if (!err && !cancel_signal())
			err = hunks_edit(hunks, at, text.buf, text.len, &empty);
		*done_out = !err && !empty;
		again = false;
		if (err && !cancel_signal()) {
			say_why();
			again = ask_again();
			err = 0;
		}
		if (cancel_signal())
			err = cancel_check();
	}
	strbuf_release(&text);
	return err;
}
