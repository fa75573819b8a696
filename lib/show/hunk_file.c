/* SPDX-License-Identifier: MIT */
#include "show/hunk_internal.h"

#include "show/report.h"

/* --- the parts of a patch --- */

/* Where the first line that begins like this is, or the end. */
static size_t find_line(const struct strbuf *text, const char *prefix)
{
	size_t at = 0;

	while (at < text->len && strncmp(text->buf + at, prefix, strlen(prefix)) != 0)
		at += hunks_line_len(text->buf + at, text->len - at);
	return at;
}

/* Move the two lines about modes from the header into a question of their own. */
static void take_mode(struct hunk_file *file)
{
	size_t start = find_line(&file->header, "old mode "), end = start;

	for (int i = 0; i < 2 && end < file->header.len; i++)
		end += hunks_line_len(file->header.buf + end, file->header.len - end);
	if (start == end)
		return;
	hunks_add(&file->hunks, HUNK_MODE, file->header.buf + start, end - start);
	strbuf_splice(&file->header, start, end, "", 0);
}

/* All of it after `at` is one question. */
static void take_whole(struct hunk_file *file, size_t at)
{
	hunks_add(&file->hunks, HUNK_WHOLE, file->header.buf + at, file->header.len - at);
	strbuf_setlen(&file->header, at);
}

/* A patch does not tell of directories that come or go. */
static void describe_directory(struct hunk_file *file)
{
	bool added = !file->old_mode;

	strbuf_addf(&file->header, "%s directory mode %06o\n%s/\n", added ? "new" : "deleted",
		    added ? file->new_mode : file->old_mode, report_path(file->path));
}

static int take_lines(struct hunk_file *file, size_t at)
{
	int err = hunks_cut(&file->hunks, file->old.buf, file->old.len, file->header.buf + at,
			    file->header.len - at);

	strbuf_setlen(&file->header, at);
	return err;
}

/* The questions, of which the header so far is the whole patch. */
static int divide_patch(struct hunk_file *file)
{
	size_t lines, binary;
	bool is_binary;

	switch (file->change) {
	case HUNK_KIND:
		take_whole(file, 0);
		return 0;
	case HUNK_DELETED:
		take_whole(file, find_line(&file->header, "deleted "));
		return 0;
	default:
		break;
	}
	take_mode(file);
	lines = find_line(&file->header, "@@ ");
	binary = find_line(&file->header, "Binary files ");
	is_binary = binary < file->header.len;
	if (is_binary && file->change == HUNK_MODIFIED)
		file->change = HUNK_BINARY;
	if (lines < file->header.len && !S_ISREG(file->new_mode))
		take_whole(file, lines);
	else if (lines < file->header.len)
		return take_lines(file, lines);
	else if (is_binary || file->change == HUNK_ADDED)
		take_whole(file, binary);
	return 0;
}

static enum hunk_change change_of(const struct hunk_file *file)
{
	if (file->choice->parts.nr > 1)
		return HUNK_KIND;
	if (!file->old_mode)
		return HUNK_ADDED;
	if (!file->new_mode)
		return HUNK_DELETED;
	return (file->old_mode & S_IFMT) != (file->new_mode & S_IFMT) ? HUNK_KIND : HUNK_MODIFIED;
}

/* Both contents are left in `old` and `new`. */
static int add_patch(struct strbuf *out, struct strbuf *old, struct strbuf *new,
		     struct session *session, const struct choice_part *part,
		     const struct patch_opts *opts)
{
	struct patch_input in = {
		.old_path = part->old.mode ? part->path : NULL,
		.new_path = part->new.mode ? part->path : NULL,
		.old_mode = part->old.mode,
		.new_mode = part->new.mode,
		.old_oid = part->old.entry.oid,
		.new_oid = part->new.entry.oid,
	};
	bool large;
	int err;

	strbuf_reset(old);
	strbuf_reset(new);
	err = choose_read(old, new, &large, session, part);
	in.old_data = large ? NULL : old->buf;
	in.new_data = large ? NULL : new->buf;
	in.old_len = large ? 1 : old->len;
	in.new_len = large ? 1 : new->len;
	return err ? err : patch_print(out, &in, opts);
}

int hunk_file_init(struct hunk_file *out, struct session *session, const struct choice *choice)
{
	const struct patch_opts opts = { .context = 3, .reverse = true };
	const struct choice_part *parts = choice->parts.items;
	int err = 0;

	*out = (struct hunk_file){
		.choice = choice,
		.path = parts->path,
		.old_mode = parts->old.mode,
		.new_mode = parts->new.mode,
		.old = STRBUF_INIT,
		.new = STRBUF_INIT,
		.header = STRBUF_INIT,
	};
	out->change = change_of(out);
	for (size_t i = 0; i < choice->parts.nr && !err; i++)
		err = add_patch(&out->header, &out->old, &out->new, session, &parts[i], &opts);
	if (!err && !out->header.len)
		describe_directory(out);
	return err ? err : divide_patch(out);
}

void hunk_file_release(struct hunk_file *file)
{
	strbuf_release(&file->old);
	strbuf_release(&file->new);
	strbuf_release(&file->header);
	hunks_release(&file->hunks);
}

static int add_patches(struct strbuf *out, struct session *session,
		       const struct choice_parts *parts)
{
	const struct patch_opts opts = { .context = 3, .color = *term_color(TERM_RED) != '\0' };
	struct strbuf old = STRBUF_INIT, new = STRBUF_INIT;
	int err = cancel_check();

	for (size_t i = 0; i < parts->nr && !err; i++)
		err = add_patch(out, &old, &new, session, &parts->items[i], &opts);
	/* The next restore will see what it is now. */
	if (err == CKPT_EREFUSED) {
		report_message("warning", ckpt_error_last());
		err = 0;
	}
	strbuf_release(&old);
	strbuf_release(&new);
	return err;
}

int hunk_patch(struct strbuf *out, struct session *session, const struct choices *choices)
{
	int err = 0;

	for (size_t i = 0; i < choices->nr && !err; i++)
		err = add_patches(out, session, &choices->items[i].parts);
	return err;
}

/* --- what was chosen --- */

static bool uses_kind(const struct hunk_file *file, enum hunk_kind kind)
{
	for (size_t i = 0; i < file->hunks.nr; i++)
		if (file->hunks.items[i].kind == kind && file->hunks.items[i].use == HUNK_USE)
			return true;
	return false;
}

static bool is_new(const struct hunk_file *file, const struct strbuf *content)
{
	return content->len == file->new.len &&
	       !memcmp(content->buf, file->new.buf, content->len);
}

bool hunk_take(struct chosen *out, const struct hunk_file *file)
{
	bool mode = uses_kind(file, HUNK_MODE);

	strbuf_init(&out->content);
	out->mode = mode || !file->old_mode || file->change == HUNK_KIND ? file->new_mode
									 : file->old_mode;
	if (uses_kind(file, HUNK_WHOLE)) {
		out->how = CHOSEN_NEW;
		return true;
	}
	if (!uses_kind(file, HUNK_LINES) || hunks_apply(&out->content, &file->hunks)) {
		out->how = CHOSEN_OLD;
		return mode;
	}
	out->how = is_new(file, &out->content) ? CHOSEN_NEW : CHOSEN_MADE;
	return true;
}

/* --- printing --- */

void hunk_print(const char *text, size_t len)
{
	struct strbuf out = STRBUF_INIT;

	if (*term_color(TERM_RED))
		patch_color(&out, text, len);
	else
		strbuf_add(&out, text, len);
	fwrite(out.buf, 1, out.len, stderr);
	strbuf_release(&out);
}

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
static const char *find_editor(void)
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
	status = spawn_editor(find_editor(), path);
	if (!cancel_signal() && status)
		return ckpt_error_set(CKPT_ERROR, "there was a problem with the editor '%s'",
				      find_editor());
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
	term_say(stderr, "error: %s\n", ckpt_error_last());
}

static bool ask_again(void)
{
	struct strbuf answer = STRBUF_INIT;
	bool again = false, known = false;

	while (!known && !cancel_signal()) {
		term_say(stderr,
			 "%sYour edited hunk does not apply. Edit again (saying \"no\" discards!) "
			 "[y/n]? %s",
			 term_color(TERM_BLUE), term_color(TERM_RESET));
		known = !prompt_read_line(&answer) || tolower((unsigned char)answer.buf[0]) == 'n';
		again = !known && tolower((unsigned char)answer.buf[0]) == 'y';
		known = known || again;
	}
	strbuf_release(&answer);
	return again;
}

int hunk_edit(bool *done_out, struct hunks *hunks, size_t at)
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
