/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

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

static void print_answer(const struct complete *complete, const struct opt_look *look)
{
	struct strbuf lines = STRBUF_INIT;

	if (complete->also && !strcmp(complete->also, "command"))
		strbuf_addf(&lines, "!command %zu\n", look->first);
	else if (complete->also)
		strbuf_addf(&lines, "!%s\n", complete->also);
	for (size_t i = 0; i < complete->nr; i++) {
		const struct complete_item *item = &complete->items[i];

		strbuf_addf(&lines, "%c%s%s%s\n", item->open ? '-' : ' ', item->word,
			    item->text ? "\t" : "", item->text ? item->text : "");
	}
	/* The bytes of names: shells decide by them. */
	fwrite(lines.buf, 1, lines.len, stdout);
	strbuf_release(&lines);
}

int cmd_complete(char *const *argv, size_t argc)
{
	struct question question = { .words = argv, .nr = argc, .at = 1 };
	struct complete *complete = &question.complete;
	struct opt_look look = { .dashdash = -1 };
	int err = 0;

	if (argc < 2)
		return report_failure(ckpt_error_set(CKPT_EUSAGE, "--complete needs words"));
	/* It may be one of the words; here it is not meant for us. */
	opt_common.json = false;
	complete->word = complete->typed = argv[argc - 1];
	if (strcmp(argv[0], "git") || skip_git(&question))
		err = find_answer(&question, &look);
	if (!err)
		print_answer(complete, &look);
	complete_release(complete);
	opt_look_release(&look);
	return err ? report_failure(err) : report_done(EXIT_DONE);
}
