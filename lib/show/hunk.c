/* SPDX-License-Identifier: MIT */
#include "show/hunk_internal.h"

#include "base/base.h"
#include "session/session.h"
#include "show/report.h"
#include "ui/ui.h"

#include <regex.h>

enum { LISTED = 20 }; /* hunks of a list, as git has it */

/* Where we are in a file. */
struct asking {
	struct hunk_file *file;
	struct hunks *hunks;
	size_t at;
	size_t before, after; /* the nearest undecided hunks, or `none` */
	char keys[32];	      /* those that are not always offered, as in ",j,J" */
	bool quit;
};

static const size_t none = SIZE_MAX;

/* --- what is asked --- */

static const char *subject_of(const struct hunk_file *file, const struct hunk *hunk)
{
	if (hunk->kind == HUNK_MODE)
		return "mode change";
	switch (file->change) {
	case HUNK_ADDED:
		return "addition";
	case HUNK_DELETED:
		return "deletion";
	case HUNK_BINARY:
		return "binary change";
	case HUNK_KIND:
		return "change of kind";
	case HUNK_MODIFIED:
		break;
	}
	return "this hunk";
}

static void look_around(struct asking *asking)
{
	const struct hunks *hunks = asking->hunks;

	asking->before = asking->after = none;
	for (size_t i = 0; i < asking->at; i++)
		if (hunks->items[i].use == HUNK_UNDECIDED)
			asking->before = i;
	for (size_t i = hunks->nr; i > asking->at + 1; i--)
		if (hunks->items[i - 1].use == HUNK_UNDECIDED)
			asking->after = i - 1;
}

static bool offers(const struct asking *asking, char key)
{
	return strchr(asking->keys, key) != NULL;
}

static void find_keys(struct asking *asking)
{
	const struct hunks *hunks = asking->hunks;
	const struct hunk *hunk = &hunks->items[asking->at];

	snprintf(asking->keys, sizeof(asking->keys), "%s%s%s%s%s%s%s",
		 asking->before != none ? ",k" : "", asking->at ? ",K" : "",
		 asking->after != none ? ",j" : "", asking->at + 1 < hunks->nr ? ",J" : "",
		 hunks->nr > 1 ? ",g,/" : "", hunks_pieces(hunk) > 1 ? ",s" : "",
		 hunk->kind == HUNK_LINES ? ",e" : "");
}

static void show_question(const struct asking *asking)
{
	const struct hunk *hunk = &asking->hunks->items[asking->at];
	struct strbuf text = STRBUF_INIT;

	hunks_show(&text, hunk);
	hunk_print(text.buf, text.len);
	strbuf_release(&text);
	fprintf(stderr, "%s(%zu/%zu) Apply %s to worktree [y,n,q,a,d%s,?]? %s", term_color(TERM_BLUE),
		asking->at + 1, asking->hunks->nr, subject_of(asking->file, hunk), asking->keys,
		term_color(TERM_RESET));
}

/* Only of the keys that make sense here. */
static void show_help(const struct asking *asking)
{
	static const char always[] =
		"y - apply this hunk to worktree\n"
		"n - do not apply this hunk to worktree\n"
		"q - quit; do not apply this hunk or any of the remaining ones\n"
		"a - apply this hunk and all later hunks in the file\n"
		"d - do not apply this hunk or any of the later hunks in the file\n";
	static const char *const sometimes[] = {
		"j - leave this hunk undecided, see next undecided hunk",
		"J - leave this hunk undecided, see next hunk",
		"k - leave this hunk undecided, see previous undecided hunk",
		"K - leave this hunk undecided, see previous hunk",
		"g - select a hunk to go to",
		"/ - search for a hunk matching the given regex",
		"s - split the current hunk into smaller hunks",
		"e - manually edit the current hunk",
	};

	fprintf(stderr, "%s%s", term_color(TERM_RED), always);
	for (size_t i = 0; i < ARRAY_SIZE(sometimes); i++)
		if (offers(asking, sometimes[i][0]))
			fprintf(stderr, "%s\n", sometimes[i]);
	fprintf(stderr, "? - print help\n%s", term_color(TERM_RESET));
}

static void complain(const char *text)
{
	fprintf(stderr, "%s%s%s\n", term_color(TERM_RED), text, term_color(TERM_RESET));
}

/* --- answers --- */

/* Those of the later hunks that are undecided, too. */
static void decide_rest(struct asking *asking, enum hunk_use use)
{
	for (; asking->at < asking->hunks->nr; asking->at++)
		if (asking->hunks->items[asking->at].use == HUNK_UNDECIDED)
			asking->hunks->items[asking->at].use = use;
}

static void decide(struct asking *asking, enum hunk_use use)
{
	asking->hunks->items[asking->at].use = use;
	asking->at = asking->after != none ? asking->after : asking->hunks->nr;
}

static void move(struct asking *asking, char key)
{
	bool back = key == 'k' || key == 'K';

	if (!offers(asking, key))
		complain(back ? "No previous hunk" : "No next hunk");
	else if (key == 'K')
		asking->at--;
	else if (key == 'J')
		asking->at++;
	else
		asking->at = back ? asking->before : asking->after;
}

static void list_hunks(const struct hunks *hunks, size_t *from)
{
	for (size_t end = *from + LISTED; *from < end && *from < hunks->nr; ++*from) {
		const struct hunk *hunk = &hunks->items[*from];
		struct strbuf line = STRBUF_INIT;

		hunks_summarize(&line, hunk);
		fprintf(stderr, "%c%2zu: ",
			hunk->use == HUNK_USE	 ? '+'
			: hunk->use == HUNK_SKIP ? '-'
						 : ' ',
			*from + 1);
		fwrite(line.buf, 1, line.len, stderr);
		strbuf_release(&line);
	}
}

static void go_to(struct asking *asking, struct strbuf *answer)
{
	const struct hunks *hunks = asking->hunks;
	size_t first = hunks->items[0].kind == HUNK_MODE;
	size_t from = asking->at > first + LISTED / 2 ? asking->at - LISTED / 2 : first;
	unsigned long number;
	char *end;

	if (!offers(asking, 'g')) {
		complain("No other hunks to goto");
		return;
	}
	strbuf_splice(answer, 0, 1, "", 0);
	strbuf_trim(answer);
	while (!answer->len) {
		list_hunks(hunks, &from);
		fputs(from < hunks->nr ? "go to which hunk (<ret> to see more)? "
				       : "go to which hunk? ",
		      stderr);
		if (!prompt_read_line(answer))
			return;
		strbuf_trim(answer);
	}
	number = strtoul(answer->buf, &end, 10);
	if (*end || end == answer->buf)
		report_plain(stderr, "Invalid number: '%s'\n", answer->buf);
	else if (number && number <= hunks->nr)
		asking->at = number - 1;
	else
		fprintf(stderr, "Sorry, only %zu hunks available.\n", hunks->nr);
}

static void find_hunk(struct asking *asking, const regex_t *regex)
{
	const struct hunks *hunks = asking->hunks;
	struct strbuf text = STRBUF_INIT;
	bool found = false;

	for (size_t i = 0; i < hunks->nr && !found; i++) {
		size_t at = (asking->at + i) % hunks->nr;

		strbuf_reset(&text);
		hunks_show(&text, &hunks->items[at]);
		found = !regexec(regex, text.buf, 0, NULL, 0);
		if (found)
			asking->at = at;
	}
	if (!found)
		complain("No hunk matches the given pattern");
	strbuf_release(&text);
}

static void search(struct asking *asking, struct strbuf *answer)
{
	char why[256];
	regex_t regex;
	int failed;

	if (!offers(asking, '/')) {
		complain("No other hunks to search");
		return;
	}
	strbuf_splice(answer, 0, 1, "", 0);
	if (!answer->len) {
		fputs("search for regex? ", stderr);
		if (!prompt_read_line(answer) || !answer->len)
			return;
	}
	failed = regcomp(&regex, answer->buf, REG_EXTENDED | REG_NOSUB | REG_NEWLINE);
	if (failed) {
		regerror(failed, &regex, why, sizeof(why));
		report_plain(stderr, "Malformed search regexp %s: %s\n", answer->buf, why);
		return;
	}
	find_hunk(asking, &regex);
	regfree(&regex);
}

static void split(struct asking *asking)
{
	size_t pieces = hunks_pieces(&asking->hunks->items[asking->at]);

	if (!offers(asking, 's')) {
		complain("Sorry, cannot split this hunk");
		return;
	}
	hunks_split(asking->hunks, asking->at);
	fprintf(stderr, "%sSplit into %zu hunks.%s\n", term_color(TERM_BOLD), pieces,
		term_color(TERM_RESET));
}

static int edit(struct asking *asking)
{
	bool done = false;
	int err;

	if (!offers(asking, 'e')) {
		complain("Sorry, cannot edit this hunk");
		return 0;
	}
	err = hunk_edit(&done, asking->hunks, asking->at);
	if (!err && done)
		decide(asking, HUNK_USE);
	return err;
}

/* As git, by its first letter; some letters mean something else if they are capital. */
static int obey(struct asking *asking, struct strbuf *answer)
{
	switch (answer->buf[0]) {
	case 'y':
	case 'Y':
		decide(asking, HUNK_USE);
		break;
	case 'n':
	case 'N':
		decide(asking, HUNK_SKIP);
		break;
	case 'a':
	case 'A':
		decide_rest(asking, HUNK_USE);
		break;
	case 'q':
	case 'Q':
		asking->quit = true;
		decide_rest(asking, HUNK_SKIP);
		break;
	case 'd':
	case 'D':
		decide_rest(asking, HUNK_SKIP);
		break;
	case 'j':
	case 'J':
	case 'k':
	case 'K':
		move(asking, answer->buf[0]);
		break;
	case 'g':
		go_to(asking, answer);
		break;
	case '/':
		search(asking, answer);
		break;
	case 's':
		split(asking);
		break;
	case 'e':
		return edit(asking);
	default:
		show_help(asking);
		break;
	}
	return 0;
}

static bool is_decided(struct asking *asking)
{
	if (asking->at >= asking->hunks->nr)
		asking->at = 0;
	look_around(asking);
	return asking->before == none && asking->after == none &&
	       asking->hunks->items[asking->at].use != HUNK_UNDECIDED;
}

int hunk_ask(struct hunk_file *file, bool *quit_out)
{
	struct asking asking = { .file = file, .hunks = &file->hunks };
	struct strbuf answer = STRBUF_INIT;
	int err = 0;

	hunk_print(file->header.buf, file->header.len);
	while (!err && !asking.quit && !is_decided(&asking)) {
		find_keys(&asking);
		show_question(&asking);
		if (!prompt_read_line(&answer))
			asking.quit = true;
		else if (answer.len)
			err = obey(&asking, &answer);
		if (!err)
			err = cancel_check();
	}
	fputc('\n', stderr);
	*quit_out = asking.quit;
	strbuf_release(&answer);
	return err;
}

void hunk_release(struct hunk_choice *hunking)
{
	choose_list_release(&hunking->chosen);
	choose_release(&hunking->choices);
}

/* Both contents of each part of a choice, and the input for patch.h that points at them. */
struct loaded {
	struct patch_input *inputs;
	struct strbuf *contents; /* old and new in turn */
	size_t nr;
};

static void loaded_release(struct loaded *loaded)
{
	for (size_t i = 0; i < 2 * loaded->nr; i++)
		strbuf_release(&loaded->contents[i]);
	free(loaded->contents);
	free(loaded->inputs);
}

static int load_part(struct patch_input *out, struct strbuf *old, struct strbuf *new,
		     struct session *session, const struct choice_part *part)
{
	bool large;
	int err = choose_read(old, new, &large, session, part);

	*out = (struct patch_input){
		.old_path = part->old.mode ? part->path : NULL,
		.new_path = part->new.mode ? part->path : NULL,
		.old_mode = part->old.mode,
		.new_mode = part->new.mode,
		.old_oid = part->old.entry.oid,
		.new_oid = part->new.entry.oid,
		.old_data = large ? NULL : old->buf,
		.new_data = large ? NULL : new->buf,
		.old_len = large ? 1 : old->len,
		.new_len = large ? 1 : new->len,
	};
	return err;
}

static int load(struct loaded *out, struct session *session, const struct choice *choice)
{
	int err = 0;

	*out = (struct loaded){ xcalloc(choice->parts.nr, sizeof(*out->inputs)),
				xcalloc(2 * choice->parts.nr, sizeof(*out->contents)),
				choice->parts.nr };
	for (size_t i = 0; i < 2 * out->nr; i++)
		strbuf_init(&out->contents[i]);
	for (size_t i = 0; i < out->nr && !err; i++)
		err = load_part(&out->inputs[i], &out->contents[2 * i], &out->contents[2 * i + 1],
				session, &choice->parts.items[i]);
	return err;
}

static void take(struct chosen_list *out, const struct choice *choice, const struct hunk_file *file)
{
	struct chosen chosen = { .choice = choice };

	if (!hunk_take(&chosen, file)) {
		strbuf_release(&chosen.content);
		return;
	}
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr++] = chosen;
}

static int ask_about(struct hunk_choice *out, bool *quit_out, struct session *session,
		     const struct choice *choice)
{
	struct hunk_file file = { .old = STRBUF_INIT, .new = STRBUF_INIT, .header = STRBUF_INIT };
	struct loaded loaded;
	int err = load(&loaded, session, choice);

	if (err == CKPT_EREFUSED) {
		report_message("warning", ckpt_error_last());
		strlist_addf(&out->chosen.conflicts, "%s\n%s", CHOOSE_CHANGED,
			     choice->parts.items[0].path);
		loaded_release(&loaded);
		return 0;
	}
	if (!err)
		err = hunk_file_init(&file, loaded.inputs, loaded.nr);
	if (!err && file.hunks.nr)
		err = hunk_ask(&file, quit_out);
	if (!err)
		take(&out->chosen, choice, &file);
	hunk_file_release(&file);
	loaded_release(&loaded);
	return err;
}

int hunk_patch(struct strbuf *out, struct session *session, const struct choices *choices)
{
	const struct patch_opts opts = { .context = 3, .color = *term_color(TERM_RED) != '\0' };
	int err = 0;

	for (size_t i = 0; i < choices->nr && !err; i++) {
		struct loaded loaded;

		err = load(&loaded, session, &choices->items[i]);
		for (size_t j = 0; j < loaded.nr && !err; j++)
			err = patch_print(out, &loaded.inputs[j], &opts);
		/* The next restore will see what it is now. */
		if (err == CKPT_EREFUSED) {
			report_message("warning", ckpt_error_last());
			err = 0;
		}
		loaded_release(&loaded);
	}
	return err ? err : cancel_check();
}

/* Conflicts are of what would be done: choosing does not remove them. */
static int find_choices(struct hunk_choice *out, struct session *session,
			const struct restore_opts *opts)
{
	struct restore_opts look = *opts;
	struct restore_result preview;
	int err;

	look.dry_run = true;
	look.confirm = NULL;
	look.choices = &out->choices;
	err = restore_checkpoint(&preview, session, &look);
	progress_clear();
	if (err)
		return err;
	for (size_t i = 0; i < preview.conflicts_nr; i++)
		strlist_addf(&out->chosen.conflicts, "%s\n%s", preview.conflicts[i].why,
			     preview.conflicts[i].path);
	restore_result_release(&preview);
	return 0;
}

int hunk_choose(struct hunk_choice *out, struct session *session, const struct restore_opts *opts,
		bool yes)
{
	bool quit = false;
	int err;

	memset(out, 0, sizeof(*out));
	if (!yes && !opts->dry_run && !prompt_possible())
		return ckpt_error_set(CKPT_EREFUSED, "not a terminal; use --yes to confirm");
	if (!yes && !opts->dry_run && opt_common.json)
		return ckpt_error_set(CKPT_EREFUSED, "--json does not ask; use --yes to confirm");
	err = find_choices(out, session, opts);
	for (size_t i = 0; i < out->choices.nr && !err && !quit; i++)
		err = ask_about(out, &quit, session, &out->choices.items[i]);
	return err ? err : cancel_check();
}

bool hunk_says_nothing(const struct hunk_choice *hunking)
{
	if (opt_common.json || !hunking->choices.nr || hunking->chosen.nr ||
	    hunking->chosen.conflicts.nr)
		return false;
	report_text("Nothing was chosen, nothing was changed\n");
	return true;
}
