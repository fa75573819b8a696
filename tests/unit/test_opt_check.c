/* SPDX-License-Identifier: MIT */
#include "ui/opt.h"

#include "unit.h"

/* What is said about a command line that does not fit its table. */

static bool stat_, names, nul, quiet, state_, yes, far_;
static const char *dir;
static struct strlist list;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "stat", &stat_, NULL, "stat" },
	{ OPT_FLAG, 'm', "names", &names, NULL, "names", OPT_OR },
	{ OPT_FLAG, 'z', NULL, &nul, NULL, "NUL", OPT_WITH },
	{ OPT_FLAG, 0, "silent", &quiet, NULL, "silent", OPT_OR },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "yes", OPT_ALSO },
	{ OPT_FLAG, 0, "state", &state_, NULL, "state", OPT_FORM,
	  OPT_ARGS({ { "<key>" }, 0, 1 }, { { "<checkpoint>" }, 1, 1 }) },
	{ OPT_LIST, 0, "agent", &list, "<name>", "agent", OPT_FORM },
	{ OPT_FLAG, 0, "user", &far_, NULL, "user", OPT_WITH },
	{ OPT_END },
};

static const struct opt go_options[] = {
	{ OPT_STRING, 0, "dir", &dir, "<dir>", "dir", OPT_NEEDED },
	{ OPT_END },
};

static const struct opt_spec subs[] = {
	{ .command = "walk go", .summary = "go", .options = go_options,
	  .args = OPT_ARGS({ { "<phase>" }, 1, 1 }, { { "start", "complete", "fail" }, 1, 1 }) },
	{ .command = "walk stop", .summary = "stop" },
	{ NULL },
};

static const struct opt_spec show = {
	.command = "show",
	.options = options,
	.args = OPT_ARGS({ { "<checkpoint>" }, 1, 1, .such_as = "@" }),
};
static const struct opt_spec walk = { .command = "walk", .subs = subs };
static const struct opt_spec relink = { .command = "relink",
					.args = OPT_ARGS({ { "<old path>", "<key>" }, 1, 1 }) };
static const struct opt_spec drop = { .command = "drop",
				      .args = OPT_ARGS({ { "<a>" }, 1, OPT_MANY }) };

/* Parse the words of one line; the arguments, joined, or the sentence. */
static const char *said(const struct opt_spec *spec, const char *line)
{
	static char words[512], answer[512];
	struct strlist args = STRLIST_INIT;
	char *argv[32] = { words };
	int argc = 1;

	snprintf(words, sizeof(words), "x %s", line);
	for (char *p = strchr(words, ' '); p; p = strchr(p, ' ')) {
		*p++ = '\0';
		if (*p)
			argv[argc++] = p;
	}
	if (opt_parse(spec, argc, argv, &args)) {
		snprintf(answer, sizeof(answer), "%s", ckpt_error_last());
	} else {
		snprintf(answer, sizeof(answer), "ok");
		for (size_t i = 0; i < args.nr; i++)
			snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), " %s",
				 args.items[i]);
	}
	strlist_release(&args);
	strlist_release(&list);
	return answer;
}

static void test_check_arguments(void **state)
{
	(void)state;
	assert_string_equal(said(&show, "@"), "ok @");
	assert_string_equal(said(&show, ""),
			    "'show' needs a checkpoint, such as @; see 'git checkpoint show -h'");
	assert_string_equal(said(&show, "@ b"),
			    "unexpected argument 'b'; see 'git checkpoint show -h'");
	assert_string_equal(said(&show, "@ -- b"),
			    "unexpected argument 'b'; see 'git checkpoint show -h'");
	assert_string_equal(said(&relink, ""),
			    "'relink' needs an old path or a key; see 'git checkpoint relink -h'");
	assert_string_equal(said(&drop, "1 2 3 4 5 6"), "ok 1 2 3 4 5 6");
	assert_string_equal(said(&drop, "--"), "'drop' needs an a; see 'git checkpoint drop -h'");
	assert_string_equal(said(&(struct opt_spec){ .command = "gc" }, "x"),
			    "unexpected argument 'x'; see 'git checkpoint gc -h'");
}

static void test_check_forms(void **state)
{
	(void)state;
	assert_string_equal(said(&show, "--state @"), "ok @");
	assert_string_equal(said(&show, "--state key @"), "ok key @");
	assert_string_equal(said(&show, "--state --yes @"), "ok @");
	assert_string_equal(said(&show, "--state"),
			    "'show' needs a checkpoint; see 'git checkpoint show -h'");
	assert_string_equal(said(&show, "--state a b c"),
			    "unexpected argument 'c' with --state; see 'git checkpoint show -h'");
	assert_string_equal(said(&show, "--stat --state @"),
			    "options '--state' and '--stat' cannot be used together");
	assert_string_equal(said(&show, "--state --agent x @"),
			    "options '--state' and '--agent' cannot be used together");
	assert_string_equal(said(&show, "--agent x --agent y --user"), "ok");
}

static void test_check_options(void **state)
{
	(void)state;
	assert_string_equal(said(&show, "--stat -m @"),
			    "options '--stat' and '--names' cannot be used together");
	assert_string_equal(said(&show, "--silent -m @"),
			    "options '--names' and '--silent' cannot be used together");
	/* taken back in time */
	assert_string_equal(said(&show, "--stat --no-stat --silent @"), "ok @");
	assert_string_equal(said(&show, "-mz @"), "ok @");
	assert_string_equal(said(&show, "-z @"), "option '-z' needs '--names'");
	assert_string_equal(said(&show, "--silent -z @"), "option '-z' needs '--names'");
	assert_string_equal(said(&show, "--user @"), "option '--user' needs '--agent'");
}

static void test_check_subcommands(void **state)
{
	(void)state;
	assert_string_equal(said(&walk, "go --dir d p start"), "ok go p start");
	assert_string_equal(said(&walk, "--dir d go p start"), "ok go p start");
	assert_string_equal(said(&walk, "--dir go go p -- fail"), "ok go p fail");
	assert_string_equal(said(&walk, "-- stop"), "ok stop");
	assert_string_equal(said(&walk, ""), "'walk' needs a subcommand: go or stop");
	assert_string_equal(said(&walk, "stpo"), "unknown subcommand 'walk stpo'; did you mean 'stop'?");
	assert_string_equal(said(&walk, "xyzzy"), "unknown subcommand 'walk xyzzy'; use go or stop");
	assert_string_equal(said(&walk, "stop --dir d"),
			    "unknown option '--dir'; see 'git checkpoint walk stop -h'");
	assert_string_equal(said(&walk, "go p start"), "'walk go' needs '--dir <dir>'");
	assert_string_equal(said(&walk, "go --dir d"),
			    "'walk go' needs a phase; see 'git checkpoint walk go -h'");
	assert_string_equal(said(&walk, "go --dir d p"),
			    "'walk go' needs start, complete or fail; see 'git checkpoint walk go -h'");
	assert_string_equal(said(&walk, "go --dir d p maybe"),
			    "'walk go' takes start, complete or fail, not 'maybe'");
	assert_string_equal(said(&walk, "stop now"),
			    "unexpected argument 'now'; see 'git checkpoint walk stop -h'");
}

static void expect_forms(const struct opt_spec *spec, const char *const *expected)
{
	struct strlist forms = STRLIST_INIT;

	opt_forms(&forms, spec);
	for (size_t i = 0; i < forms.nr; i++) {
		assert_non_null(expected[i]);
		assert_string_equal(forms.items[i], expected[i]);
	}
	assert_null(expected[forms.nr]);
	strlist_release(&forms);
}

static void test_check_forms_are_shown(void **state)
{
	(void)state;
	expect_forms(&show, (const char *const[]){
				    "git checkpoint show [--stat | --names [-z] | --silent] "
				    "[-y | --yes] <checkpoint>",
				    "git checkpoint show --state [<key>] <checkpoint>",
				    "git checkpoint show --agent <name>... [--user]", NULL });
	expect_forms(&walk, (const char *const[]){
				    "git checkpoint walk go --dir <dir> <phase> "
				    "(start | complete | fail)",
				    "git checkpoint walk stop", NULL });
	expect_forms(&relink,
		     (const char *const[]){ "git checkpoint relink (<old path> | <key>)", NULL });
	expect_forms(&drop, (const char *const[]){ "git checkpoint drop <a>...", NULL });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_arguments),
		cmocka_unit_test(test_check_forms),
		cmocka_unit_test(test_check_options),
		cmocka_unit_test(test_check_subcommands),
		cmocka_unit_test(test_check_forms_are_shown),
	};

	return cmocka_run_group_tests_name("opt_check", tests, NULL, NULL);
}
