/* SPDX-License-Identifier: MIT */
#include "cmd/complete.h"

#include "base/base.h"
#include "cmd/cmd.h"
#include "cmd/report.h"
#include "session/session.h"

/* ---- the command line ---- */

/* One question: the words, and where in them we are. */
struct question {
	char *const *words;
	size_t nr, at;
	struct complete complete;
};

static bool at_cursor(const struct question *question)
{
	return question->at + 1 >= question->nr;
}

/* Handle "-C <dir>" before the cursor; false if the directory cannot be entered. */
static bool change_directory(struct question *question)
{
	const char *dir = question->words[question->at + 1], *home = getenv("HOME");
	char *path = *dir == '~' && (dir[1] == '/' || !dir[1]) && home ?
			     xstrfmt("%s%s", home, dir + 1) :
			     xstrdup(dir);
	bool there = !*path || !chdir(path);

	free(path);
	question->complete.elsewhere = true;
	question->at += 2;
	return there;
}

/*
 * Skip the options of git and the name under which it knows us; false if the cursor is before that.
 */
static bool skip_git(struct question *question)
{
	static const char *const with_value[] = { "-c", "--git-dir", "--work-tree", "--namespace",
						  "--super-prefix", "--config-env", "--attr-source" };

	while (!at_cursor(question)) {
		const char *word = question->words[question->at];
		bool value = false;

		if (!strcmp(word, "-C") && question->at + 2 < question->nr) {
			if (!change_directory(question))
				return false;
			continue;
		}
		question->at++;
		if (word[0] != '-')
			return true;
		for (size_t i = 0; i < ARRAY_SIZE(with_value); i++)
			value |= !strcmp(word, with_value[i]);
		question->at += value;
	}
	return false;
}

/* Before the command: its name, or an option of the program itself. */
static void offer_command(struct question *question)
{
	struct complete *complete = &question->complete;

	if (complete->word[0] == '-') {
		complete_add(complete, "-C", "run as if started in that directory");
		complete_add(complete, "-h", "show the commands");
		complete_add(complete, "--help", "show the manual");
		complete_add(complete, "--version", "show the version");
		return;
	}
	cmd_offer(complete);
}

static int offer_in_command(struct question *question, const struct opt_spec *spec,
			    struct opt_look *look)
{
	struct complete *complete = &question->complete;

	opt_look(look, spec, question->words + question->at, question->nr - question->at);
	look->first += question->at;
	complete->spec = look->spec;
	complete->look = look;
	return complete_offer(complete);
}

static int find_answer(struct question *question, struct opt_look *look)
{
	const struct cmd *cmd;

	while (!at_cursor(question) && question->words[question->at][0] == '-') {
		if (strcmp(question->words[question->at], "-C")) {
			question->at++;
		} else if (question->at + 2 == question->nr) {
			complete_files(&question->complete, true);
			return 0;
		} else if (!change_directory(question)) {
			return 0;
		}
	}
	if (at_cursor(question)) {
		offer_command(question);
		return 0;
	}
	cmd = cmd_find(question->words[question->at]);
	return cmd ? offer_in_command(question, cmd->spec, look) : 0;
}

/* ---- the answer ---- */

/* Who quotes the words. */
enum quoting { QUOTE_NONE, QUOTE_READLINE, QUOTE_OURSELVES };

/* True if a shell would interpret it, or split it into several words. */
static bool needs_quotes(const char *word)
{
	for (const char *p = word; *p; p++)
		if (!isalnum((unsigned char)*p) && (unsigned char)*p < 0x80 &&
		    !strchr(*word == '~' ? "_@%+=:,./-" : "_@%+=:,./-~", *p))
			return true;
	return false;
}

static enum quoting choose_quoting(const struct complete *complete, const struct shellwords *split)
{
	enum quoting quoting = complete->names || split->open ? QUOTE_READLINE : QUOTE_NONE;

	for (size_t i = 0; i < complete->nr; i++) {
		if (strpbrk(complete->items[i].word, "$`"))
			return QUOTE_OURSELVES;
		if (needs_quotes(complete->items[i].word))
			quoting = QUOTE_READLINE;
	}
	return quoting;
}

static void print_words(const struct complete *complete)
{
	for (size_t i = 0; i < complete->nr; i++) {
		const struct complete_item *item = &complete->items[i];

		printf("%c%s%s%s\n", item->open ? '-' : ' ', item->word, item->text ? "\t" : "",
		       item->text ? item->text : "");
	}
}

/* The same for readline, without the part it leaves alone and without useless texts. */
static void print_replacements(const struct complete *complete, const struct shellwords *split)
{
	enum quoting quoting = choose_quoting(complete, split);

	if (quoting != QUOTE_NONE && complete->nr)
		puts(quoting == QUOTE_READLINE ? "!names" : "!quoted");
	for (size_t i = 0; i < complete->nr; i++) {
		const struct complete_item *item = &complete->items[i];
		bool described = item->text && complete->described;
		struct strbuf quoted = STRBUF_INIT;

		shellwords_quote(&quoted, item->word + split->fixed, split->open);
		printf("%c%s%s%s\n", item->open ? '-' : ' ',
		       quoting == QUOTE_OURSELVES ? quoted.buf : item->word + split->fixed,
		       described ? "\t" : "", described ? item->text : "");
		strbuf_release(&quoted);
	}
}

/* `line` is NULL where words were given. */
static void print_answer(const struct question *question, const struct opt_look *look,
			 const char *line, const struct shellwords *split)
{
	const struct complete *complete = &question->complete;

	if (complete->also && !strcmp(complete->also, "command") && line)
		printf("!command %s\n", line + split->starts[look->first]);
	else if (complete->also && !strcmp(complete->also, "command"))
		printf("!command %zu\n", look->first);
	else if (complete->also)
		printf("!%s\n", complete->also);
	if (line)
		print_replacements(complete, split);
	else
		print_words(complete);
}

static int answer(struct question *question, const char *line, const struct shellwords *split)
{
	struct complete *complete = &question->complete;
	struct opt_look look = { .dashdash = -1 };
	int err = 0;

	/* It may be one of the words; here it is not meant for us. */
	opt_common.json = false;
	complete->word = complete->typed = question->words[question->nr - 1];
	complete->in_line = line != NULL;
	question->at = 1;
	if (split && split->redirected)
		complete->also = "files";
	else if (strcmp(question->words[0], "git") || skip_git(question))
		err = find_answer(question, &look);
	if (!err)
		print_answer(question, &look, line, split);
	complete_release(complete);
	opt_look_release(&look);
	return err ? report_failure(err) : report_done(EXIT_DONE);
}

int complete_words(char *const *argv, size_t argc)
{
	struct question question = { .words = argv, .nr = argc };

	if (argc < 2)
		return report_failure(ckpt_error_set(CKPT_EUSAGE, "--complete needs words"));
	return answer(&question, NULL, NULL);
}

int complete_line(char *const *argv, size_t argc)
{
	struct question question = { 0 };
	struct shellwords split;
	int status = EXIT_DONE;

	if (argc != 3)
		return report_failure(ckpt_error_set(CKPT_EUSAGE, "--complete-line needs a name, "
								  "word breaks and a line"));
	shellwords_split(&split, argv[2], argv[1]);
	/* With the cursor in the name itself there is nothing to offer. */
	if (split.words.nr > 1) {
		free(split.words.items[0]);
		split.words.items[0] = xstrdup(argv[0]);
		question.words = split.words.items;
		question.nr = split.words.nr;
		status = answer(&question, argv[2], &split);
	}
	shellwords_release(&split);
	return status;
}
