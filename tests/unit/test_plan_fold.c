/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/alloc.h"
#include "restore/plan.h"
#include "treegen.h"
#include "treetext.h"

/* What plan_fold() makes of it: "- d/ 3, + a". */
static void describe(struct strbuf *out, const struct plan *plan, size_t max, plan_pick_fn pick,
		     const void *payload)
{
	static const char letters[] = { [EFFECT_REMOVED] = '-',
					[EFFECT_CHANGED] = '~',
					[EFFECT_BROUGHT_BACK] = '+' };
	struct plan_lines lines;
	size_t rows = 0;

	plan_fold(&lines, plan, max, pick, payload);
	for (size_t i = 0; i < lines.nr; i++) {
		const struct plan_line *line = &lines.items[i];

		strbuf_addf(out, "%s%c ", i ? ", " : "", letters[line->effect]);
		if (line->dir_len)
			strbuf_addf(out, "%.*s/ %zu", (int)line->dir_len, line->path, line->rows);
		else
			strbuf_addstr(out, line->path);
		assert_true(line->dir_len ? line->rows > 1 : line->rows == 1);
		rows += line->rows;
	}
	/* Nothing is lost, and nothing is counted twice. */
	if (!pick)
		assert_int_equal(rows, plan->rows_nr);
	plan_lines_release(&lines);
	plan_lines_release(&lines); /* harmless */
}

struct row {
	const char *target, *current;
	const char *expected;
	const char *paths;   /* sorted words, or NULL */
	const char *protect; /* a path, or NULL */
	const char *kept;    /* the same, found after the plan was made */
	bool no_delete;
	const char *plain; /* a directory in which nothing is left out, or NULL */
	size_t max;
};

static const char *protect_one(const char *path, enum wt_kind kind, void *payload)
{
	(void)kind;
	return payload && !strcmp(path, payload) ? "precious" : NULL;
}

static void make(struct plan *plan, const struct row *row)
{
	struct compare_side target = { .root = tree(row->target) };
	struct compare_side current = { .root = tree(row->current) };
	struct strlist paths = STRLIST_INIT;
	struct plan_opts opts = {
		.target = &target,
		.current = &current,
		.paths = &paths,
		.no_delete = row->no_delete,
		.protect = protect_one,
		.payload = (void *)row->protect,
	};

	if (row->plain)
		wt_find(current.root, row->plain)->dir->listing = WT_WHOLE;
	add_words(&paths, row->paths);
	assert_int_equal(plan_make(plan, &opts), 0);
	if (row->kept)
		plan_keep(plan, row->kept, "shut");
	plan_note_whole(plan, &paths);
	plan_note_whole(plan, &paths); /* the same again */
	strlist_release(&paths);
}

static void check_rows(const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct strbuf actual = STRBUF_INIT;
		struct plan plan;

		make(&plan, &rows[i]);
		describe(&actual, &plan, rows[i].max, NULL, NULL);
		if (strcmp(actual.buf, rows[i].expected))
			print_message("target '%s', current '%s'\n", rows[i].target,
				      rows[i].current);
		assert_string_equal(actual.buf, rows[i].expected);
		plan_release(&plan);
		strbuf_release(&actual);
	}
	arena_release(&arena);
}

#define CHECK(...)                                            \
	do {                                                  \
		static const struct row rows[] = __VA_ARGS__; \
		check_rows(rows, ARRAY_SIZE(rows));           \
	} while (0)

static void test_plan_fold_directories_that_go_or_come(void **state)
{
	(void)state;
	CHECK({
		{ "a=1", "a=1", "" },
		{ "", "d/a=1 d/b=1", "- d/ 2" },
		{ "d/a=1 d/b=1", "", "+ d/ 2" },
		/* a single path is as short, and says more */
		{ "", "d/a=1", "- d/a" },
		{ "", "d/e/f/a=1", "- d/e/f/a" },
		/* the topmost one */
		{ "", "d/a=1 d/e/b=1 d/e/f/c=1", "- d/ 3" },
		{ "x/k=1", "x/k=1 x/d/a=1 x/d/b=1 x/d/e/c=1", "- x/d/ 3" },
		{ "d/a=1 d/e/b=1 d/e/f/c=1 g=1", "", "+ d/ 3, + g" },
		/* empty directories and links count as files do */
		{ "", "d/a=1 d/e/ d/l@1", "- d/ 3" },
		/* names that only begin alike are not in it */
		{ "", "d=1 d-x=1 d0/a=1", "- d, - d-x, - d0/a" },
		{ "", "d/a=1 d/b=1 d-x=1 d0=1", "- d-x, - d/ 2, - d0" },
	});
}

static void test_plan_fold_not_what_keeps_something(void **state)
{
	(void)state;
	CHECK({
		{ "d/k=1", "d/k=1 d/a=1 d/b=1", "- d/a, - d/b" },
		{ "d/a=1 d/b=1 d/k=1", "d/k=1", "+ d/a, + d/b" },
		{ "d/k=1", "d/k=2 d/a=1 d/b=1", "- d/a, - d/b, ~ d/k" },
		/* the directory itself stays, and may have something that was left out */
		{ "d/", "d/a=1 d/b=1", "- d/a, - d/b" },
		{ "d/a=1 d/b=1", "d/", "+ d/a, + d/b" },
		/* and inside it what goes as a whole does */
		{ "d/k=1", "d/k=1 d/e/a=1 d/e/b=1 d/f/c=1", "- d/e/ 2, - d/f/c" },
		/* something protected, or found to be out of reach */
		{ "", "d/a=1 d/b=1 d/c=1", "- d/a, - d/b", .protect = "d/c" },
		{ "", "d/a=1 d/b=1 d/c=1", "- d/a, - d/b", .kept = "d/c" },
		{ "", "d/a=1 d/b=1 d/e/c=1 d/e/f=1", "- d/a, - d/b, - d/e/f", .kept = "d/e/c" },
		{ "", "d/a=1 d/b=1 d/e/c=1 d/e/f=1", "- d/e/ 2", .protect = "d/a", .kept = "d/b" },
		{ "", "d/a=1 d/b=1", "- d/a, - d/b", .kept = "d" },
		/* another kind of thing is one row as ever */
		{ "d=1", "d/a=1 d/b=1", "~ d" },
		{ "d/a=1 d/b=1", "d=1", "~ d" },
		{ "", "d/a=1 d/b=1", "", .no_delete = true },
	});
}

/* The directory stays, and is empty before or after. */
static void test_plan_fold_what_is_emptied_or_filled(void **state)
{
	(void)state;
	CHECK({
		{ "d/", "d/a=1 d/b=1", "- d/ 2", .plain = "d" },
		{ "d/a=1 d/e/b=1", "d/", "+ d/ 2", .plain = "d" },
		{ "x/k=1 x/d/", "x/k=1 x/d/a=1 x/d/e/b=1", "- x/d/ 2", .plain = "x/d" },
		/* it keeps something */
		{ "d/a=1", "d/a=1 d/b=1 d/c=1", "- d/b, - d/c", .plain = "d" },
		{ "d/", "d/a=1 d/b=1 d/c=1", "- d/a, - d/b", .plain = "d", .protect = "d/c" },
		{ "d/", "d/a=1 d/b=1 d/c=1", "- d/a, - d/b", .plain = "d", .kept = "d/c" },
		{ "d/", "d/a=1 d/b=1", "- d/a, - d/b", .plain = "d", .paths = "d/a d/b" },
		{ "d/", "d/a=1 d/b=1", "", .plain = "d", .no_delete = true },
	});
}

static void test_plan_fold_within_paths(void **state)
{
	(void)state;
	CHECK({
		{ "d/a=1 d/b=1 d/c=1", "", "+ d/a, + d/b", .paths = "d/a d/b" },
		{ "d/a=1 d/e/b=1 d/e/c=1", "", "+ d/e/ 2", .paths = "d/e" },
		{ "", "d/a=1 d/e/b=1 d/e/c=1", "- d/e/ 2", .paths = "d/e" },
		{ "", "d/a=1 d/b=1", "- d/ 2", .paths = "d" },
		{ "", "d/a=1 d/b=1", "- d/a, - d/b", .paths = "d/a d/b" },
	});
}

static void test_plan_fold_not_a_short_list(void **state)
{
	(void)state;
	CHECK({
		{ "", "d/a=1 d/b=1", "- d/a, - d/b", .max = 2 },
		{ "", "d/a=1 d/b=1 e=1", "- d/ 2, - e", .max = 2 },
		{ "d/a=1 d/b=1 e=1", "", "+ d/a, + d/b, + e", .max = 3 },
	});
}

static bool is_other(const struct plan_row *row, const void *payload)
{
	return strcmp(row->path, payload) != 0;
}

/* Some of its rows were shown before. */
static void test_plan_fold_only_what_is_picked(void **state)
{
	static const struct {
		const char *without, *expected;
		size_t max;
	} rows[] = {
		{ "d/a", "- d/b, - d/c, - e/ 2" },
		{ "e/a", "- d/ 3, - e/b" },
		{ "nothing", "- d/ 3, - e/ 2" },
		{ "d/a", "- d/b, - d/c, - e/a, - e/b", 4 },
	};
	static const struct row row = { "", "d/a=1 d/b=1 d/c=1 e/a=1 e/b=1", NULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf actual = STRBUF_INIT;
		struct plan plan;

		make(&plan, &row);
		describe(&actual, &plan, rows[i].max, is_other, rows[i].without);
		assert_string_equal(actual.buf, rows[i].expected);
		plan_release(&plan);
		strbuf_release(&actual);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_fold_directories_that_go_or_come),
		cmocka_unit_test(test_plan_fold_not_what_keeps_something),
		cmocka_unit_test(test_plan_fold_what_is_emptied_or_filled),
		cmocka_unit_test(test_plan_fold_within_paths),
		cmocka_unit_test(test_plan_fold_not_a_short_list),
		cmocka_unit_test(test_plan_fold_only_what_is_picked),
	};

	return cmocka_run_group_tests_name("plan_fold", tests, NULL, NULL);
}
