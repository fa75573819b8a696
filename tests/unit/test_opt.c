/* SPDX-License-Identifier: MIT */
#include "ui/opt.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/strbuf.h"
#include "show/complete.h"
#include "ui/term.h"

#include "unit.h"

static struct {
	const char *message, *source, *similar;
	bool pin, no_delete, name_status, go_on;
	int64_t step, interval, size;
	struct strlist states;
} got;

static const struct opt table[] = {
	{ OPT_STRING, 'm', "message", &got.message, "<reason>", "why the checkpoint is taken" },
	{ OPT_STRING, 0, "source", &got.source, "<name>", "who takes it" },
	{ OPT_NUMBER, 'n', "step", &got.step, "<n>", "number of the step" },
	{ OPT_DURATION, 0, "min-interval", &got.interval, "<dur>",
	  "take none if the newest one is younger than this, which is a long line of help" },
	{ OPT_SIZE, 0, "max-size", &got.size, "<size>", "most bytes on disk", OPT_POSITIVE },
	{ OPT_FLAG, 'p', "pin", &got.pin, NULL, "keep it from eviction" },
	{ OPT_FLAG, 0, "no-delete", &got.no_delete, NULL, "remove nothing" },
	{ OPT_FLAG, 0, "name-status", &got.name_status, NULL, "names and letters" },
	{ OPT_LIST, 's', "state", &got.states, "<k>=<v>", "a state key" },
	{ OPT_OPTIONAL, 'M', "similar", &got.similar, "<n>", "how similar" },
	{ OPT_FLAG, 0, "continue", &got.go_on, NULL, "go on", OPT_FORM },
	{ OPT_END },
};

static const struct opt_spec spec = {
	.command = "save",
	.summary = "take a checkpoint",
	.options = table,
	.args = OPT_ARGS({ { "<path>" }, 0, OPT_MANY, .dashes = true }),
};

/* The same table, for a command whose arguments are another command. */
static const struct opt_spec run_spec = {
	.command = "run",
	.options = table,
	.args = OPT_ARGS({ { "<command>" }, 0, OPT_MANY }),
	.first_ends = true,
};

static const struct opt_spec *spec_in_use = &spec;
static struct strlist args = STRLIST_INIT;

static int reset(void **state)
{
	(void)state;
	strlist_release(&args);
	strlist_release(&got.states);
	memset(&got, 0, sizeof(got));
	memset(&opt_common, 0, sizeof(opt_common));
	return 0;
}

static int reset_all(void **state)
{
	spec_in_use = &spec;
	return reset(state);
}

/* Parse the words of one line; the copies live until the next call. */
static int parse(const char *line)
{
	static char words[512];
	char *argv[32] = { words };
	int argc = 1;

	reset(NULL);
	snprintf(words, sizeof(words), "save %s", line);
	for (char *p = strchr(words, ' '); p; p = strchr(p, ' ')) {
		*p++ = '\0';
		if (*p)
			argv[argc++] = p;
	}
	return opt_parse(spec_in_use, argc, argv, &args);
}

#define UNKNOWN(option, command) \
	"unknown option '" option "'; see 'git checkpoint " command " -h'"

static void expect_error(const char *line, const char *sentence)
{
	assert_int_equal(parse(line), CKPT_EUSAGE);
	assert_string_equal(ckpt_error_last(), sentence);
}

static void test_opt_values(void **state)
{
	(void)state;
	assert_int_equal(parse("-m why --source=me --step 5 --min-interval 15m --max-size 2k"), 0);
	assert_string_equal(got.message, "why");
	assert_string_equal(got.source, "me");
	assert_int_equal(got.step, 5);
	assert_int_equal(got.interval, 900);
	assert_int_equal(got.size, 2048);
	assert_int_equal(args.nr, 0);
	assert_int_equal(opt_common.dashdash, -1);

	assert_int_equal(parse("-n7 -mx=y --message= -sa=1 --state b=2 -s c"), 0);
	assert_int_equal(got.step, 7);
	assert_string_equal(got.message, "");
	assert_int_equal(got.states.nr, 3);
	assert_string_equal(got.states.items[0], "a=1");
	assert_string_equal(got.states.items[1], "b=2");
	assert_string_equal(got.states.items[2], "c");

	/* A value may look like an option. */
	assert_int_equal(parse("-m --pin"), 0);
	assert_string_equal(got.message, "--pin");
	assert_false(got.pin);
	assert_int_equal(parse("--step 9223372036854775807"), 0);
	assert_true(got.step == INT64_MAX);
}

static void test_opt_flags(void **state)
{
	(void)state;
	assert_int_equal(parse("--pin"), 0);
	assert_true(got.pin);
	assert_int_equal(parse("--pin --no-pin"), 0);
	assert_false(got.pin);
	assert_int_equal(parse("--no-delete"), 0);
	assert_true(got.no_delete);
	assert_int_equal(parse("--no-delete --delete"), 0);
	assert_false(got.no_delete);
	assert_int_equal(parse("-pqn3"), 0);
	assert_true(got.pin && opt_common.quiet);
	assert_int_equal(got.step, 3);
}

/* A value that may be missing is never the next word. */
static void test_opt_optional_values(void **state)
{
	(void)state;
	assert_int_equal(parse("-M 50 x"), 0);
	assert_string_equal(got.similar, "");
	assert_int_equal(args.nr, 2);
	assert_int_equal(parse("-pM50%"), 0);
	assert_string_equal(got.similar, "50%");
	assert_true(got.pin);
	assert_int_equal(parse("--similar=3 --similar"), 0);
	assert_string_equal(got.similar, "");
	assert_int_equal(parse("--similar=3"), 0);
	assert_string_equal(got.similar, "3");
}

static void test_opt_prefixes(void **state)
{
	(void)state;
	assert_int_equal(parse("--mes x --so y --ste 4 --pi --js"), 0);
	assert_string_equal(got.message, "x");
	assert_string_equal(got.source, "y");
	assert_int_equal(got.step, 4);
	assert_true(got.pin && opt_common.json);
	assert_int_equal(parse("--name"), 0);
	assert_true(got.name_status);
	assert_int_equal(parse("-12 -p"), 0);
	assert_int_equal(got.step, 12);
	assert_true(got.pin);
	assert_int_equal(parse("--pin --no-p"), 0);
	assert_false(got.pin);

	expect_error("--m x", "option '--m' is ambiguous (--message, --min-interval or --max-size)");
	expect_error("--st 1", "option '--st' is ambiguous (--step or --state)");
	expect_error("--secr", UNKNOWN("--secr", "save"));
}

static void test_opt_arguments(void **state)
{
	(void)state;
	assert_int_equal(parse("one - --pin two"), 0);
	assert_true(got.pin);
	assert_int_equal(args.nr, 3);
	assert_string_equal(args.items[0], "one");
	assert_string_equal(args.items[1], "-");
	assert_string_equal(args.items[2], "two");
	assert_int_equal(opt_common.dashdash, -1);

	assert_int_equal(parse("one -- --pin -- -h"), 0);
	assert_false(got.pin);
	assert_int_equal(opt_common.dashdash, 1);
	assert_int_equal(args.nr, 4);
	assert_string_equal(args.items[1], "--pin");
	assert_string_equal(args.items[2], "--");
	assert_string_equal(args.items[3], "-h");

	assert_int_equal(parse("--"), 0);
	assert_int_equal(opt_common.dashdash, 0);
	assert_int_equal(args.nr, 0);
}

static void test_opt_errors(void **state)
{
	(void)state;
	expect_error("--foo", UNKNOWN("--foo", "save"));
	expect_error("--foo=bar", UNKNOWN("--foo", "save"));
	expect_error("--=bar", UNKNOWN("--", "save"));
	expect_error("-x", UNKNOWN("-x", "save"));
	expect_error("-px", UNKNOWN("-x", "save"));
	expect_error("-\xc3\xa4", UNKNOWN("-\xc3\xa4", "save"));
	expect_error("--step", "option '--step' needs a value");
	expect_error("--ste", "option '--step' needs a value");
	expect_error("-pn", "option '-n' needs a value");
	expect_error("--step x", "option '--step' takes a whole number, not 'x'");
	expect_error("--step -1", "option '--step' takes a whole number, not '-1'");
	expect_error("--step=", "option '--step' takes a whole number, not ''");
	expect_error("-3x", UNKNOWN("-3", "save"));
	expect_error("-9223372036854775808",
		     "option '-n' takes a whole number, not '9223372036854775808'");
	expect_error("-n 9223372036854775808",
		     "option '-n' takes a whole number, not '9223372036854775808'");
	expect_error("--min-interval 5",
		     "option '--min-interval' takes a duration such as 90s, 15m, 2h, 7d or 4w, "
		     "not '5'");
	expect_error("--max-size big",
		     "option '--max-size' takes a size such as 512k, 100m or 2g, not 'big'");
	expect_error("--max-size 0",
		     "option '--max-size' takes a size such as 512k, 100m or 2g, not '0'");
	expect_error("--pin=yes", "option '--pin' takes no value");
	expect_error("--no-pin=yes", "option '--no-pin' takes no value");
	expect_error("--json=1", "option '--json' takes no value");
	expect_error("--no-step", UNKNOWN("--no-step", "save"));
	expect_error("--no-help", UNKNOWN("--no-help", "save"));
	expect_error("--mesage=x", "unknown option '--mesage'; did you mean '--message'?");
}

static void test_opt_json_survives_errors(void **state)
{
	(void)state;
	expect_error("--foo --json", UNKNOWN("--foo", "save"));
	assert_true(opt_common.json);
	expect_error("--json --foo", UNKNOWN("--foo", "save"));
	assert_true(opt_common.json);
	expect_error("--foo -- --json", UNKNOWN("--foo", "save"));
	assert_false(opt_common.json);
	/* A value is not an option, once the line is understood. */
	assert_int_equal(parse("-m --json"), 0);
	assert_false(opt_common.json);
	assert_int_equal(parse("a --json b"), 0);
	assert_true(opt_common.json);
}

/* Joined by spaces, to be compared with what was typed. */
static void expect_args(const char *expected)
{
	struct strbuf line = STRBUF_INIT;

	for (size_t i = 0; i < args.nr; i++)
		strbuf_addf(&line, "%s%s", i ? " " : "", args.items[i]);
	assert_string_equal(line.buf, expected);
	strbuf_release(&line);
}

static void test_opt_end_at_the_first_argument(void **state)
{
	(void)state;
	spec_in_use = &run_spec;
	assert_int_equal(parse("--pin -m x make --step -h --json -- -q"), 0);
	assert_true(got.pin);
	assert_string_equal(got.message, "x");
	assert_false(opt_common.json || opt_common.quiet);
	expect_args("make --step -h --json -- -q");
	assert_int_equal(opt_common.dashdash, -1);

	assert_int_equal(parse("--json -- -x --pin -- y"), 0);
	assert_true(opt_common.json && !got.pin);
	expect_args("-x --pin -- y");
	assert_int_equal(opt_common.dashdash, 0);

	/* "-" is an argument here as well. */
	assert_int_equal(parse("- --pin"), 0);
	assert_false(got.pin);
	expect_args("- --pin");
	assert_int_equal(parse("--pin"), 0);
	expect_args("");
}

static void test_opt_json_of_another_command(void **state)
{
	(void)state;
	spec_in_use = &run_spec;
	expect_error("--foo make --json", UNKNOWN("--foo", "run"));
	assert_false(opt_common.json);
	expect_error("--foo -- --json", UNKNOWN("--foo", "run"));
	assert_false(opt_common.json);
	expect_error("--foo --step x --json make", UNKNOWN("--foo", "run"));
	assert_true(opt_common.json);
	expect_error("--foo -m --json make --json", UNKNOWN("--foo", "run"));
	assert_false(opt_common.json);
	expect_error("--foo -m x --json make", UNKNOWN("--foo", "run"));
	assert_true(opt_common.json);
	expect_error("--foo --json --step", UNKNOWN("--foo", "run"));
	assert_true(opt_common.json);
}

static void test_opt_own_quiet(void **state)
{
	static bool quiet;
	static const struct opt own[] = {
		{ OPT_FLAG, 0, "quiet", &quiet, NULL, "answer by exit status" },
		{ OPT_END },
	};
	const struct opt_spec diff = { .command = "diff", .options = own };
	char *longer[] = { "diff", "--quiet" }, *shorter[] = { "diff", "-q" };

	(void)state;
	assert_int_equal(opt_parse(&diff, 2, longer, &args), 0);
	assert_true(quiet);
	assert_false(opt_common.quiet);
	quiet = false;
	assert_int_equal(opt_parse(&diff, 2, shorter, &args), 0);
	assert_true(opt_common.quiet);
	assert_false(quiet);
}

/* Run `fn` with stdout in a file and give back what it wrote. */
static void captured(struct strbuf *out, int (*fn)(void), int expected)
{
	FILE *file = tmpfile();
	int saved = dup(1), rc;
	char buf[4096];
	size_t n;

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), 1);
	rc = fn();
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	rewind(file);
	while ((n = fread(buf, 1, sizeof(buf), file)) > 0)
		strbuf_add(out, buf, n);
	fclose(file);
	assert_int_equal(rc, expected);
}

static int run_help(void)
{
	return parse("--pin -h --unknown");
}

static int run_complete(void)
{
	complete_print_options(&spec);
	return 0;
}

static void test_opt_usage(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	captured(&out, run_help, 1);
	assert_string_equal(
		out.buf,
		"usage: git checkpoint save [(-m | --message) <reason>] [--source <name>]\n"
		"                           [(-n | --step) <n>] [--min-interval <dur>]\n"
		"                           [--max-size <size>] [-p | --pin] [--no-delete]\n"
		"                           [--name-status] [(-s | --state) <k>=<v>]...\n"
		"                           [-M[<n>] | --similar[=<n>]] [--] [<path>...]\n"
		"   or: git checkpoint save --continue\n"
		"\n"
		"    -m, --message <reason>\n"
		"                          why the checkpoint is taken\n"
		"    --source <name>       who takes it\n"
		"    -n, --step <n>        number of the step\n"
		"    --min-interval <dur>  take none if the newest one is younger than this,\n"
		"                          which is a long line of help\n"
		"    --max-size <size>     most bytes on disk\n"
		"    -p, --pin             keep it from eviction\n"
		"    --no-delete           remove nothing\n"
		"    --name-status         names and letters\n"
		"    -s, --state <k>=<v>   a state key\n"
		"    -M, --similar[=<n>]   how similar\n"
		"    --continue            go on\n"
		"    -h                    show this short help\n"
		"    --help                open the manual\n"
		"    -q, --quiet           print only errors\n"
		"    --json                print the result as JSON\n"
		"\n");
	strbuf_release(&out);
}

/* Wider than a terminal, with letters wider than their bytes, and with what cannot be broken. */
static void test_opt_usage_fits(void **state)
{
	static const struct opt own[] = {
		{ OPT_STRING, 0, "one-long-choice", &got.source, "<välue>", "one" },
		{ OPT_STRING, 0, "another-long-choice", &got.source, "<välue>", "two", OPT_OR },
		{ OPT_FLAG, 0, "a-third-one", &got.pin, NULL, "three", OPT_OR },
		{ OPT_FLAG, 0, "a-fourth-one-with-more-letters-than-a-line-has-room-for", &got.pin, NULL,
		  "four" },
		{ OPT_END },
	};
	const struct opt_spec restore = { .command = "restore",
					  .options = own,
					  .args = OPT_ARGS({ { "<päth>" }, 1, OPT_MANY }) };
	struct strbuf out = STRBUF_INIT;
	int pipefd[2];
	char *line, *next;

	(void)state;
	assert_int_equal(pipe(pipefd), 0);
	opt_usage(&restore, pipefd[1]);
	close(pipefd[1]);
	strbuf_grow(&out, 8192);
	strbuf_setlen(&out, (size_t)fs_read_full(pipefd[0], out.buf, 8000));
	close(pipefd[0]);
	assert_memory_equal(out.buf, "usage: git checkpoint restore [--one-long-choice <välue> |\n", 59);
	for (line = out.buf; *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		assert_true(term_text_width(line) <= 80 || strstr(line, "more-letters"));
		assert_true(!*line || line[strlen(line) - 1] != ' ');
	}
	strbuf_release(&out);
}

static void test_opt_complete(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	captured(&out, run_complete, 0);
	assert_non_null(strstr(out.buf, "--message=\twhy the checkpoint is taken\n"));
	assert_non_null(strstr(out.buf, "\n--pin\tkeep it from eviction\n"));
	assert_non_null(strstr(out.buf, "\n--json\tprint the result as JSON\n"));
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_opt_values, reset),
		cmocka_unit_test_teardown(test_opt_flags, reset),
		cmocka_unit_test_teardown(test_opt_optional_values, reset),
		cmocka_unit_test_teardown(test_opt_prefixes, reset),
		cmocka_unit_test_teardown(test_opt_arguments, reset),
		cmocka_unit_test_teardown(test_opt_errors, reset),
		cmocka_unit_test_teardown(test_opt_json_survives_errors, reset),
		cmocka_unit_test_teardown(test_opt_end_at_the_first_argument, reset_all),
		cmocka_unit_test_teardown(test_opt_json_of_another_command, reset_all),
		cmocka_unit_test_teardown(test_opt_own_quiet, reset),
		cmocka_unit_test_teardown(test_opt_usage, reset),
		cmocka_unit_test_teardown(test_opt_usage_fits, reset),
		cmocka_unit_test_teardown(test_opt_complete, reset),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
