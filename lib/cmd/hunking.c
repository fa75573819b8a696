/* SPDX-License-Identifier: MIT */
#include "cmd/hunking_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "ui/ui.h"

#include <regex.h>

enum { LISTED = 20 }; /* hunks of a list, as git has it */

/* Where we are in a file. */
struct asking {
	struct hunking_file *file;
	struct hunks *hunks;
	size_t at;
	size_t before, after; /* the nearest undecided hunks, or `none` */
	char keys[32];	      /* those that are not always offered, as in ",j,J" */
	bool quit;
};

static const size_t none = SIZE_MAX;

/* --- what is asked --- */

static const char *subject_of(const struct hunking_file *file, const struct hunk *hunk)
{
	if (hunk->kind == HUNK_MODE)
		return "mode change";
	switch (file->change) {
	case HUNKING_ADDED:
		return "addition";
	case HUNKING_DELETED:
		return "deletion";
	case HUNKING_BINARY:
		return "binary change";
	case HUNKING_KIND:
		return "change of kind";
	case HUNKING_MODIFIED:
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
	hunking_print(text.buf, text.len);
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
		if (!answer_read(answer))
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
		if (!answer_read(answer) || !answer->len)
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
	err = hunking_edit(&done, asking->hunks, asking->at);
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

int hunking_ask(struct hunking_file *file, bool *quit_out)
{
	struct asking asking = { .file = file, .hunks = &file->hunks };
	struct strbuf answer = STRBUF_INIT;
	int err = 0;

	hunking_print(file->header.buf, file->header.len);
	while (!err && !asking.quit && !is_decided(&asking)) {
		find_keys(&asking);
		show_question(&asking);
		if (!answer_read(&answer))
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
