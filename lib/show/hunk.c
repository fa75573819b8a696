/* SPDX-License-Identifier: MIT */
#include "show/hunk_internal.h"

#include "session/session.h"
#include "show/report.h"

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

static bool offers_key(const struct asking *asking, char key)
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
	term_say(stderr, "%s(%zu/%zu) Apply %s to worktree [y,n,q,a,d%s,?]? %s",
		 term_color(TERM_BLUE), asking->at + 1, asking->hunks->nr,
		 subject_of(asking->file, hunk), asking->keys, term_color(TERM_RESET));
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

	term_say(stderr, "%s%s", term_color(TERM_RED), always);
	for (size_t i = 0; i < ARRAY_SIZE(sometimes); i++)
		if (offers_key(asking, sometimes[i][0]))
			term_say(stderr, "%s\n", sometimes[i]);
	term_say(stderr, "? - print help\n%s", term_color(TERM_RESET));
}

static void print_complaint(const char *text)
{
	term_say(stderr, "%s%s%s\n", term_color(TERM_RED), text, term_color(TERM_RESET));
}

/* --- answers --- */

/* Those of the later hunks that are undecided, too. */
static void decide_rest(struct asking *asking, enum hunk_use use)
{
	for (; asking->at < asking->hunks->nr; asking->at++)
		if (asking->hunks->items[asking->at].use == HUNK_UNDECIDED)
			asking->hunks->items[asking->at].use = use;
}

static void decide_hunk(struct asking *asking, enum hunk_use use)
{
	asking->hunks->items[asking->at].use = use;
	asking->at = asking->after != none ? asking->after : asking->hunks->nr;
}

static void move_to(struct asking *asking, char key)
{
	if (key == 'K')
		asking->at--;
	else if (key == 'J')
		asking->at++;
	else
		asking->at = key == 'k' ? asking->before : asking->after;
}

static void list_hunks(const struct hunks *hunks, size_t *from)
{
	for (size_t end = *from + LISTED; *from < end && *from < hunks->nr; ++*from) {
		const struct hunk *hunk = &hunks->items[*from];
		struct strbuf line = STRBUF_INIT;

		hunks_summarize(&line, hunk);
		term_say(stderr, "%c%2zu: ",
			 hunk->use == HUNK_USE	  ? '+'
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

	strbuf_splice(answer, 0, 1, "", 0);
	strbuf_trim(answer);
	while (!answer->len) {
		list_hunks(hunks, &from);
		term_say(stderr, from < hunks->nr ? "go to which hunk (<ret> to see more)? "
						  : "go to which hunk? ");
		if (!prompt_read_line(answer))
			return;
		strbuf_trim(answer);
	}
	number = strtoul(answer->buf, &end, 10);
	if (*end || end == answer->buf)
		term_say(stderr, "Invalid number: '%s'\n", answer->buf);
	else if (number && number <= hunks->nr)
		asking->at = number - 1;
	else
		term_say(stderr, "Sorry, only %zu hunks available.\n", hunks->nr);
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
		print_complaint("No hunk matches the given pattern");
	strbuf_release(&text);
}

static void search_hunk(struct asking *asking, struct strbuf *answer)
{
	char why[256];
	regex_t regex;
	int failed;

	strbuf_splice(answer, 0, 1, "", 0);
	if (!answer->len) {
		term_say(stderr, "search for regex? ");
		if (!prompt_read_line(answer) || !answer->len)
			return;
	}
	failed = regcomp(&regex, answer->buf, REG_EXTENDED | REG_NOSUB | REG_NEWLINE);
	if (failed) {
		regerror(failed, &regex, why, sizeof(why));
		term_say(stderr, "Malformed search regexp %s: %s\n", answer->buf, why);
		return;
	}
	find_hunk(asking, &regex);
	regfree(&regex);
}

static void split_hunk(struct asking *asking)
{
	size_t pieces = hunks_pieces(&asking->hunks->items[asking->at]);

	hunks_split(asking->hunks, asking->at);
	term_say(stderr, "%sSplit into %zu hunks.%s\n", term_color(TERM_BOLD), pieces,
		 term_color(TERM_RESET));
}

static int edit_hunk(struct asking *asking)
{
	bool done = false;
	int err;

	err = hunk_edit(&done, asking->hunks, asking->at);
	if (!err && done)
		decide_hunk(asking, HUNK_USE);
	return err;
}

/* Said of a key that makes no sense here; NULL: it does. */
static const char *refusal_of(const struct asking *asking, char key)
{
	static const struct {
		const char *keys, *why;
	} refusals[] = {
		{ "kK", "No previous hunk" },
		{ "jJ", "No next hunk" },
		{ "g", "No other hunks to goto" },
		{ "/", "No other hunks to search" },
		{ "s", "Sorry, cannot split this hunk" },
		{ "e", "Sorry, cannot edit this hunk" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		if (strchr(refusals[i].keys, key) && !offers_key(asking, key))
			return refusals[i].why;
	return NULL;
}

/* As git, by its first letter; some letters mean something else if they are capital. */
static int obey_answer(struct asking *asking, struct strbuf *answer)
{
	char key = strchr("YNAQD", answer->buf[0]) ? (char)tolower((unsigned char)answer->buf[0])
						   : answer->buf[0];
	const char *refusal = refusal_of(asking, key);

	if (refusal) {
		print_complaint(refusal);
		return 0;
	}
	switch (key) {
	case 'y':
	case 'n':
		decide_hunk(asking, key == 'y' ? HUNK_USE : HUNK_SKIP);
		break;
	case 'a':
		decide_rest(asking, HUNK_USE);
		break;
	case 'q':
	case 'd':
		asking->quit = key == 'q';
		decide_rest(asking, HUNK_SKIP);
		break;
	case 'j':
	case 'J':
	case 'k':
	case 'K':
		move_to(asking, key);
		break;
	case 'g':
		go_to(asking, answer);
		break;
	case '/':
		search_hunk(asking, answer);
		break;
	case 's':
		split_hunk(asking);
		break;
	case 'e':
		return edit_hunk(asking);
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

/* About each hunk; `*quit_out` is set if nothing more is to be asked, of other files either. */
static int ask_hunks(struct hunk_file *file, bool *quit_out)
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
			err = obey_answer(&asking, &answer);
		if (!err)
			err = cancel_check();
	}
	term_say(stderr, "\n");
	*quit_out = asking.quit;
	strbuf_release(&answer);
	return err;
}

void hunk_release(struct hunk_choice *hunking)
{
	choose_list_release(&hunking->chosen);
	choose_release(&hunking->choices);
}

static void keep_chosen(struct chosen_list *out, const struct hunk_file *file)
{
	struct chosen chosen = { .choice = file->choice };

	if (!hunk_take(&chosen, file)) {
		strbuf_release(&chosen.content);
		return;
	}
	*ALLOC_NEXT(out->items, out->nr, out->alloc) = chosen;
}

static int ask_about(struct hunk_choice *out, bool *quit_out, struct session *session,
		     const struct choice *choice)
{
	struct hunk_file file;
	int err = hunk_file_init(&file, session, choice);

	if (err == CKPT_EREFUSED) {
		report_message("warning", ckpt_error_last());
		strlist_addf(&out->chosen.conflicts, "%s\n%s", CHOOSE_CHANGED, file.path);
		hunk_file_release(&file);
		return 0;
	}
	if (!err && file.hunks.nr)
		err = ask_hunks(&file, quit_out);
	if (!err)
		keep_chosen(&out->chosen, &file);
	hunk_file_release(&file);
	return err;
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
