/* SPDX-License-Identifier: MIT */
#include "ui/opt.h"

#include "unit.h"

static const char *text;
static bool flag;
static struct strlist list;
static int64_t number;

static const struct opt table[] = {
	{ OPT_STRING, 0, "state", &text, "<list>", "a list" },
	{ OPT_STRING, 0, "state-dir", &text, "<dir>", "a directory" },
	{ OPT_LIST, 'a', "agent", &list, "<name>", "an agent" },
	{ OPT_NUMBER, 'n', NULL, &number, "<n>", "a number" },
	{ OPT_FLAG, 0, "fast", &flag, NULL, "fast" },
	{ OPT_FLAG, 0, "no-slow", &flag, NULL, "not slow" },
	{ OPT_FLAG, 'y', "yes", &flag, NULL, "yes" },
	{ OPT_FLAG, 'z', NULL, &flag, NULL, "NUL" },
	{ OPT_END },
};

static struct opt_spec spec = { .command = "x", .options = table };
static char answer[1024];

/* A line's words, the last one at the cursor. */
static void look(struct opt_look *out, const char *line)
{
	static char copy[1024];
	char *words[32];
	size_t nr = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *p = copy;; p++) {
		words[nr++] = p;
		p += strcspn(p, " ");
		if (!*p)
			break;
		*p = '\0';
	}
	opt_look(out, &spec, words, nr);
}

/* What can stand at the end of the line. */
static const char *next(const struct opt_arg *args, const char *line)
{
	const struct opt_arg *arg = NULL;
	struct opt_look at;

	spec.args = args;
	look(&at, line);
	answer[0] = '\0';
	while ((arg = opt_look_next(&at, arg)))
		for (size_t i = 0; i < OPT_CHOICES && arg->one_of[i]; i++)
			snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), "%s%s",
				 *answer ? " " : "", arg->one_of[i]);
	opt_look_release(&at);
	return answer;
}

#define A(min, max) { { "<a>" }, min, max }
#define B(min, max) { { "<b>" }, min, max }

static void test_look_next(void **state)
{
	(void)state;
	assert_string_equal(next(NULL, "x "), "");
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x "), "<a>");
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x 1 "), "");
	assert_string_equal(next(OPT_ARGS(A(1, 1), B(1, 1)), "x 1 "), "<b>");
	assert_string_equal(next(OPT_ARGS(A(1, OPT_MANY)), "x 1 2 "), "<a>");
	assert_string_equal(next(OPT_ARGS(A(0, 1), B(1, 1)), "x "), "<a> <b>");
	assert_string_equal(next(OPT_ARGS(A(0, 1), B(1, 1)), "x 1 "), "<b>");
	assert_string_equal(next(OPT_ARGS(A(0, 2), B(0, OPT_MANY)), "x "), "<a> <b>");
	assert_string_equal(next(OPT_ARGS(A(0, 2), B(0, OPT_MANY)), "x 1 "), "<a> <b>");
	assert_string_equal(next(OPT_ARGS(A(0, 2), B(0, OPT_MANY)), "x 1 2 3 "), "<b>");
	assert_string_equal(next(OPT_ARGS(A(1, 1), { { "on", "off" }, 1, 1 }), "x 1 "), "on off");
	/* options are not arguments */
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x --fast -a b --state=1 -n 3 "), "<a>");
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x 1 -n2 "), "");
}

static void test_look_next_after_dashes(void **state)
{
	const struct opt_arg *args = OPT_ARGS(A(1, 1), { { "<b>" }, 0, OPT_MANY, .dashes = true });
	const struct opt_arg *fewer =
		OPT_ARGS(A(0, 2), { { "<b>" }, 0, OPT_MANY, .dashes = true });

	(void)state;
	assert_string_equal(next(args, "x 1 -- "), "<b>");
	assert_string_equal(next(args, "x 1 -- -y "), "<b>");
	assert_string_equal(next(args, "x -- "), "<a>");
	assert_string_equal(next(fewer, "x -- "), "<b>");
	assert_string_equal(next(fewer, "x 1 -- "), "<b>");
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x -- "), "<a>");
}

static void test_look_next_in_another_form(void **state)
{
	static struct opt forms[] = {
		{ OPT_FLAG, 0, "fast", &flag, NULL, "fast" },
		{ OPT_FLAG, 'y', "yes", &flag, NULL, "yes", OPT_FORM },
		{ OPT_STRING, 0, "dir", &text, "<dir>", "dir", OPT_FORM },
		{ OPT_END },
	};

	(void)state;
	forms[1].args = OPT_ARGS({ { "<key>" }, 0, 1 }, B(1, 1));
	spec.options = forms;
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x --fast "), "<a>");
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x --yes "), "<key> <b>");
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x -y 1 "), "<b>");
	assert_string_equal(next(OPT_ARGS(A(1, 1)), "x --dir=d "), "");
	spec.options = table;
}

static void test_look_into_subcommands(void **state)
{
	static const struct opt go[] = { { OPT_STRING, 0, "far", &text, "<dir>", "far" }, { OPT_END } };
	const struct opt_spec subs[] = {
		{ .command = "x go", .options = go, .args = OPT_ARGS(A(1, 1)) },
		{ .command = "x stop" },
		{ NULL },
	};
	struct opt_look seen;

	(void)state;
	spec.subs = subs;
	spec.options = NULL;
	assert_string_equal(next(NULL, "x go "), "<a>");
	assert_string_equal(next(NULL, "x go 1 "), "");
	assert_string_equal(next(NULL, "x --far here go "), "<a>");
	look(&seen, "x go -- ");
	assert_string_equal(seen.spec->command, "x go");
	assert_int_equal(seen.args.nr, 0);
	assert_int_equal(seen.dashdash, 0);
	opt_look_release(&seen);
	look(&seen, "x go --far=");
	assert_string_equal(seen.value_of.name, "far");
	opt_look_release(&seen);
	look(&seen, "x stop --far=");
	assert_int_equal(seen.value_of.kind, OPT_END);
	opt_look_release(&seen);
	/* not known yet, or not known at all */
	look(&seen, "x go");
	assert_ptr_equal(seen.spec, &spec);
	opt_look_release(&seen);
	look(&seen, "x away ");
	assert_ptr_equal(seen.spec, &spec);
	assert_int_equal(seen.args.nr, 1);
	opt_look_release(&seen);
	spec.subs = NULL;
	spec.options = table;
}

/* ---- the words before it ---- */

static void check_value(const char *line, const char *option, size_t at)
{
	struct opt_look seen;

	look(&seen, line);
	if (!option) {
		assert_int_equal(seen.value_of.kind, OPT_END);
	} else {
		assert_int_not_equal(seen.value_of.kind, OPT_END);
		assert_string_equal(seen.value_of.name ? seen.value_of.name : "n", option);
		assert_int_equal(seen.value_at, at);
	}
	opt_look_release(&seen);
}

static void test_look_values(void **state)
{
	(void)state;
	check_value("x --state ", "state", 0);
	check_value("x --state -", "state", 0);
	check_value("x --state=", "state", 8);
	check_value("x --ag=y", "agent", 5);
	check_value("x --ag y", "agent", 0);
	check_value("x -a ", "agent", 0);
	check_value("x -ya ", "agent", 0);
	check_value("x -yab", "agent", 3);
	check_value("x -n", NULL, 0);
	check_value("x -n1", "n", 2);
	check_value("x --state", NULL, 0);
	check_value("x --state= ", NULL, 0);
	check_value("x --state --state ", NULL, 0);
	check_value("x --fast ", NULL, 0);
	check_value("x --fast=", NULL, 0);
	check_value("x --nonsense ", NULL, 0);
	check_value("x -- --state ", NULL, 0);
	check_value("x -- --state=", NULL, 0);
}

static void test_look_arguments(void **state)
{
	struct opt_look seen;

	(void)state;
	look(&seen, "x -y 1 --state 2 - -- 3 -z ");
	assert_int_equal(seen.args.nr, 4);
	assert_string_equal(seen.args.items[1], "-");
	assert_string_equal(seen.args.items[3], "-z");
	assert_int_equal(seen.dashdash, 2);
	assert_int_equal(seen.first, 2);
	assert_true(seen.ended);
	assert_true(strlist_has(&seen.given, "yes"));
	assert_true(strlist_has(&seen.given, "state"));
	assert_false(strlist_has(&seen.given, "z"));
	opt_look_release(&seen);
	look(&seen, "x --yes ");
	assert_int_equal(seen.dashdash, -1);
	assert_int_equal(seen.first, 2);
	assert_false(seen.ended);
	opt_look_release(&seen);
	spec.first_ends = true;
	look(&seen, "x --yes make --state ");
	assert_int_equal(seen.args.nr, 2);
	assert_int_equal(seen.first, 2);
	assert_true(seen.ended);
	assert_int_equal(seen.value_of.kind, OPT_END);
	opt_look_release(&seen);
	spec.first_ends = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_look_next),
		cmocka_unit_test(test_look_next_after_dashes),
		cmocka_unit_test(test_look_next_in_another_form),
		cmocka_unit_test(test_look_into_subcommands),
		cmocka_unit_test(test_look_values),
		cmocka_unit_test(test_look_arguments),
	};

	return cmocka_run_group_tests_name("opt_look", tests, NULL, NULL);
}
