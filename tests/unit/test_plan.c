/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/alloc.h"
#include "restore/plan.h"
#include "treegen.h"
#include "treetext.h"

/* What plan_make() says, as text. */
static void describe(struct strbuf *out, const struct plan *plan)
{
	static const char *const kinds[] = { [PLAN_CREATE] = "create",	 [PLAN_OVERWRITE] = "overwrite",
					     [PLAN_CHMOD] = "chmod",	 [PLAN_REPLACE] = "replace",
					     [PLAN_REMOVE] = "remove", [PLAN_RMDIR] = "rmdir" };
	static const char *const operations[] = { [EFFECT_REMOVED] = "create",
						  [EFFECT_CHANGED] = "modify",
						  [EFFECT_BROUGHT_BACK] = "delete" };

	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_action *action = &plan->actions[i];

		strbuf_addf(out, "%s%s %s", i ? ", " : "", kinds[action->kind], action->path);
		/* Each side is given where there is one. */
		assert_true((action->target != NULL) == (action->kind < PLAN_REMOVE));
		assert_true(action->kind == PLAN_RMDIR ||
			    (action->current != NULL) == (action->kind != PLAN_CREATE));
	}
	strbuf_addstr(out, " |");
	for (size_t i = 0; i < plan->rows_nr; i++) {
		strbuf_addf(out, " %s %s", operations[plan->rows[i].effect], plan->rows[i].path);
		assert_true(plan->rows[i].summary && *plan->rows[i].summary);
	}
	strbuf_addstr(out, " |");
	for (size_t i = 0; i < plan->kept_nr; i++)
		strbuf_addf(out, " %s (%s)", plan->kept[i].path, plan->kept[i].why);
}

struct row {
	const char *target, *current;
	const char *expected; /* actions | rows | kept */
	const char *paths;    /* sorted words, or NULL */
	const char *protect;  /* a path, or NULL */
	bool no_delete;
	const char *made; /* sorted words, or NULL */
};

static const char *protect_one(const char *path, enum wt_kind kind, void *payload)
{
	(void)kind;
	return payload && !strcmp(path, payload) ? "precious" : NULL;
}

static void check_row(const struct row *row)
{
	struct compare_side target = { .root = tree(row->target) };
	struct compare_side current = { .root = tree(row->current) };
	struct strlist paths = STRLIST_INIT, made = STRLIST_INIT;
	struct plan_opts opts = {
		.target = &target,
		.current = &current,
		.paths = &paths,
		.made = &made,
		.no_delete = row->no_delete,
		.protect = protect_one,
		.payload = (void *)row->protect,
	};
	struct strbuf actual = STRBUF_INIT;
	struct plan plan;

	add_words(&paths, row->paths);
	add_words(&made, row->made);
	assert_int_equal(plan_make(&plan, &opts), 0);
	describe(&actual, &plan);
	if (strcmp(actual.buf, row->expected))
		print_message("target '%s', current '%s'\n", row->target, row->current);
	assert_string_equal(actual.buf, row->expected);
	assert_true(plan_is_empty(&plan) == !plan.nr);
	plan_release(&plan);
	plan_release(&plan); /* harmless */
	strbuf_release(&actual);
	strlist_release(&paths);
	strlist_release(&made);
}

static void check_rows(const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_row(&rows[i]);
	arena_release(&arena);
}

#define CHECK(...)                                            \
	do {                                                  \
		static const struct row rows[] = __VA_ARGS__; \
		check_rows(rows, ARRAY_SIZE(rows));           \
	} while (0)

static void test_plan_equal_trees_need_nothing(void **state)
{
	(void)state;
	CHECK({
		{ "", "", " | |", NULL, NULL, false, NULL },
		{ "a=1 d/ e/f=2:600 l@3", "a=1 d/ e/f=2:600 l@3", " | |", NULL, NULL, false, NULL },
	});
}

static void test_plan_creates(void **state)
{
	(void)state;
	CHECK({
		{ "a=1", "", "create a | delete a |", NULL, NULL, false, NULL },
		{ "l@1", "", "create l | delete l |", NULL, NULL, false, NULL },
		{ "d/", "", "create d | delete d |", NULL, NULL, false, NULL },
		/* A directory with all below it is one action, and no row of its own. */
		{ "d/a=1 d/e/b=2 d/f/", "", "create d | delete d/a delete d/e/b delete d/f |", NULL, NULL,
		  false, NULL },
		{ "d/a=1 d/b=1", "d/a=1", "create d/b | delete d/b |", NULL, NULL, false, NULL },
	});
}

static void test_plan_overwrites_and_changes_modes(void **state)
{
	(void)state;
	CHECK({
		{ "a=1", "a=2", "overwrite a | modify a |", NULL, NULL, false, NULL },
		{ "a=1:600", "a=2:755", "overwrite a | modify a |", NULL, NULL, false, NULL },
		{ "l@1", "l@2", "overwrite l | modify l |", NULL, NULL, false, NULL },
		{ "a=1:600", "a=1", "chmod a | modify a |", NULL, NULL, false, NULL },
		/* "+": has another name, too */
		{ "a=1:600", "a=1+", "overwrite a | modify a |", NULL, NULL, false, NULL },
		{ "a=1 b=1:600", "a=1+ b=1+", "overwrite b | modify b |", NULL, NULL, false, NULL },
		{ "a=1:4755", "a=1:755", "chmod a | modify a |", NULL, NULL, false, NULL },
		{ "d/:700 d/a=1", "d/ d/a=1", "chmod d | modify d |", NULL, NULL, false, NULL },
		{ "d/:700 d/a=1", "d/ d/a=2", "chmod d, overwrite d/a | modify d modify d/a |", NULL, NULL,
		  false, NULL },
		{ "d/:2755", "d/", "chmod d | modify d |", NULL, NULL, false, NULL },
	});
}

static void test_plan_replaces_kinds_in_all_directions(void **state)
{
	(void)state;
	CHECK({
		{ "x=1", "x@1", "replace x | modify x |", NULL, NULL, false, NULL },
		{ "x@1", "x=1", "replace x | modify x |", NULL, NULL, false, NULL },
		{ "x=1", "x/", "replace x | modify x |", NULL, NULL, false, NULL },
		{ "x/", "x=1", "replace x | modify x |", NULL, NULL, false, NULL },
		{ "x@1", "x/", "replace x | modify x |", NULL, NULL, false, NULL },
		{ "x/", "x@1", "replace x | modify x |", NULL, NULL, false, NULL },
		/* "x" as a file and "x/" as a directory do not stand side by side in git's order. */
		{ "x=1 x-a=1 x.b=1", "x/a=1 x-a=1 x.b=1", "replace x | modify x |", NULL, NULL, false, NULL },
		{ "x/a=1 x-a=1 x.b=1", "x=1 x-a=1 x.b=1", "replace x | modify x |", NULL, NULL, false, NULL },
	});
}

static void test_plan_removes(void **state)
{
	(void)state;
	CHECK({
		{ "", "a=1", "remove a | create a |", NULL, NULL, false, NULL },
		{ "", "l@1", "remove l | create l |", NULL, NULL, false, NULL },
		{ "", "d/", "rmdir d | create d |", NULL, NULL, false, NULL },
		/* A directory that the plan empties goes, the deepest first, without a row. */
		{ "", "d/a=1 d/e/b=1", "remove d/e/b, rmdir d/e, remove d/a, rmdir d | create d/a "
				       "create d/e/b |",
		  NULL, NULL, false, NULL },
		{ "d/", "d/a=1", "remove d/a | create d/a |", NULL, NULL, false, NULL },
		{ "d/a=1", "d/a=1 d/b=1", "remove d/b | create d/b |", NULL, NULL, false, NULL },
	});
}

static void test_plan_keeps_what_is_protected(void **state)
{
	(void)state;
	CHECK({
		{ "", "a=1 b=1", "remove b | create b | a (precious)", NULL, "a", false, NULL },
		{ "", "d/a=1 d/b=1", "remove d/b | create d/b | d/a (precious)", NULL, "d/a", false, NULL },
		{ "", "d/a=1 d/e/b=1", " | | d (precious)", NULL, "d", false, NULL },
		{ "", "d/e/a=1 d/f/b=1", "remove d/f/b, rmdir d/f | create d/f/b | d/e/a (precious)", NULL,
		  "d/e/a", false, NULL },
		/* Only what would go is kept: the checkpoint has this one. */
		{ "a=1", "a=2", "overwrite a | modify a |", NULL, "a", false, NULL },
		{ "a=1", "a=1", " | |", NULL, "a", false, NULL },
	});
}

/* What is left out of a plan afterwards goes with all that it would have brought back. */
static void test_plan_keeps_what_cannot_be_done(void **state)
{
	static const struct {
		const char *target, *current, *path, *expected;
	} rows[] = {
		{ "a=1 b=1", "", "a", "create b | delete b | a (shut)" },
		{ "d/a=1 d/e/b=1 d-x=1", "", "d", "create d-x | delete d-x | d (shut)" },
		{ "", "d/a=1", "d", "remove d/a | create d/a | d (shut)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct compare_side target = { .root = tree(rows[i].target) };
		struct compare_side current = { .root = tree(rows[i].current) };
		struct plan_opts opts = { .target = &target, .current = &current };
		struct strbuf actual = STRBUF_INIT;
		struct plan plan;

		assert_int_equal(plan_make(&plan, &opts), 0);
		plan_keep(&plan, rows[i].path, "shut");
		describe(&actual, &plan);
		assert_string_equal(actual.buf, rows[i].expected);
		plan_release(&plan);
		strbuf_release(&actual);
	}
	arena_release(&arena);
}

static void test_plan_without_deletions(void **state)
{
	(void)state;
	CHECK({
		{ "", "a=1 d/b=1 e/", " | |", NULL, NULL, true, NULL },
		{ "a=1 b=2", "a=3 c=1", "overwrite a, create b | modify a delete b |", NULL, NULL, true, NULL },
	});
}

static void test_plan_is_limited_to_paths(void **state)
{
	(void)state;
	CHECK({
		{ "a=1 b=1", "a=2 b=2", "overwrite a | modify a |", "a", NULL, false, NULL },
		{ "d/a=1 d/b=1 e=1", "d/a=2 d/b=2 e=2", "overwrite d/a, overwrite d/b | modify d/a modify "
							"d/b |",
		  "d", NULL, false, NULL },
		{ "", "a=1 ab=1", "remove a | create a |", "a", NULL, false, NULL },
		{ "d/:700 d/a=1", "d/ d/a=2", "overwrite d/a | modify d/a |", "d/a", NULL, false, NULL },
		{ "d/a=1 d/b=1", "", "create d | delete d/a |", "d/a", NULL, false, NULL },
		/* The directory around it is nobody's business. */
		{ "", "d/a=1", "remove d/a | create d/a |", "d/a", NULL, false, NULL },
		{ "a=1 b=1 c=1", "", "create a, create c | delete a delete c |", "a c", NULL, false, NULL },
		{ "x=1 y=1", "x/ y/", "replace y | modify y |", "y", NULL, false, NULL },
	});
}

static void test_plan_takes_back_directories_on_the_way(void **state)
{
	(void)state;
	CHECK({
		/* after what is in them, without a row */
		{ "", "d/e/a=1", "remove d/e/a, rmdir d/e, rmdir d | create d/e/a |", "d/e/a", NULL, false,
		  "d d/e" },
		/* whatever is there by now: looked at when it is done */
		{ "x=1", "x=1", "rmdir d/e, rmdir d | |", "d/e/a", NULL, false, "d d/e" },
		{ "", "d/e/a=1", "remove d/e/a, rmdir d/e | create d/e/a |", "d/e/a", NULL, false, "d/e" },
		{ "", "d/e/a=1", " | |", "d/e/a", NULL, true, "d d/e" },
	});
}

/* Which directories a plan makes outside of the paths that it is limited to. */
static void test_plan_lists_what_it_makes_on_the_way(void **state)
{
	static const struct {
		const char *target, *current, *paths, *made;
	} rows[] = {
		{ "d/e/a=1 d/e/b=1 d/f/c=1", "", "d/e/a", "d d/e " },
		{ "d/e/a=1 d/f/c=1 d/g/h=1", "", "d/e/a d/f", "d d/e " },
		{ "d/e/a=1", "d/b=1", "d/e/a", "d/e " },
		{ "d/e/a=1", "d/e/b=1", "d/e/a", "" },
		{ "d/e/a=1", "", "d", "" },
		{ "d/e/", "", "d/e", "d " },
		{ "", "d/e/a=1", "d/e/a", "" },
		{ "d/a=1", "d/a=2", "d/a", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct compare_side target = { .root = tree(rows[i].target) };
		struct compare_side current = { .root = tree(rows[i].current) };
		struct strlist paths = STRLIST_INIT, made = STRLIST_INIT;
		struct plan_opts opts = { .target = &target, .current = &current, .paths = &paths };
		struct strbuf actual = STRBUF_INIT;
		struct plan plan;

		add_words(&paths, rows[i].paths);
		assert_int_equal(plan_make(&plan, &opts), 0);
		plan_list_made(&made, &plan, &paths);
		for (size_t j = 0; j < made.nr; j++)
			strbuf_addf(&actual, "%s ", made.items[j]);
		assert_string_equal(actual.buf, rows[i].made);
		plan_release(&plan);
		strlist_release(&paths);
		strlist_release(&made);
		strbuf_release(&actual);
	}
	arena_release(&arena);
}

static void test_plan_order(void **state)
{
	(void)state;
	/* Removals after all others, and of these the deepest first. */
	CHECK({
		{ "a=1 c/d=1 m=1:600 z=1", "b=1 c/d=2 c/e/f=1 m=1 y/x/w=1 z/",
		  "create a, overwrite c/d, chmod m, replace z, remove y/x/w, rmdir y/x, rmdir y, remove "
		  "c/e/f, rmdir c/e, remove b | delete a create b modify c/d create c/e/f modify m create "
		  "y/x/w modify z |",
		  NULL, NULL, false, NULL },
	});
}

/* --- random trees --- */

static size_t index_of(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (!strcmp(plan->actions[i].path, path))
			return i;
	return SIZE_MAX;
}

/* Whether an action on `path`, or a creation or replacement around it, is in the plan. */
static bool covered(const struct plan *plan, const char *path)
{
	char *copy = xstrdup(path), *slash;
	bool found = index_of(plan, path) != SIZE_MAX;

	while (!found && (slash = strrchr(copy, '/'))) {
		size_t at;

		*slash = '\0';
		at = index_of(plan, copy);
		found = at != SIZE_MAX && (plan->actions[at].kind == PLAN_CREATE ||
					   plan->actions[at].kind == PLAN_REPLACE);
	}
	free(copy);
	return found;
}

static bool same(const struct wt_entry *a, const struct wt_entry *b)
{
	return a && b && a->kind == b->kind && (a->kind == WT_LINK || a->mode == b->mode) &&
	       (a->kind == WT_DIR || oid_equal(&a->oid, &b->oid));
}

struct sides {
	const struct plan *plan;
	const struct wt_dir *other;
};

/* Everything that differs is in the plan, and nothing else is. */
static void check_side(const struct sides *sides, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		struct strbuf path = STRBUF_INIT;
		const struct wt_entry *twin;

		strbuf_addf(&path, "%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
		twin = wt_find(sides->other, path.buf);
		if (same(entry, twin))
			assert_true(index_of(sides->plan, path.buf) == SIZE_MAX);
		else
			assert_true(covered(sides->plan, path.buf));
		if (entry->kind == WT_DIR)
			check_side(sides, entry->dir);
		strbuf_release(&path);
	}
}

static void test_plan_of_random_trees(void **state)
{
	(void)state;
	for (int round = 0; round < rounds(2000); round++) {
		struct compare_side target = { .root = treegen(&arena, NULL, "", 3, 6) };
		struct compare_side current = { .root = treegen(&arena, NULL, "", 3, 6) };
		struct plan_opts opts = { .target = &target, .current = &current };
		struct plan plan;
		bool removing = false;

		assert_int_equal(plan_make(&plan, &opts), 0);
		check_side(&(struct sides){ &plan, current.root }, target.root);
		check_side(&(struct sides){ &plan, target.root }, current.root);
		for (size_t i = 0; i < plan.nr; i++) {
			bool removal = plan.actions[i].kind >= PLAN_REMOVE;

			assert_true(removal || !removing);
			removing = removal;
			if (i && (plan.actions[i - 1].kind >= PLAN_REMOVE) == removal)
				assert_true(removal ? strcmp(plan.actions[i - 1].path,
							     plan.actions[i].path) > 0 :
						      strcmp(plan.actions[i - 1].path,
							     plan.actions[i].path) < 0);
		}
		for (size_t i = 1; i < plan.rows_nr; i++)
			assert_true(strcmp(plan.rows[i - 1].path, plan.rows[i].path) < 0);
		plan_release(&plan);
		arena_release(&arena);
	}
}

static void test_plan_concerns(void **state)
{
	char *items[] = { (char *)"a/b", (char *)"c" };
	struct strlist paths = { .items = items, .nr = 2 };

	(void)state;
	assert_true(plan_concerns(&paths, "a"));
	assert_true(plan_concerns(&paths, "a/b"));
	assert_true(plan_concerns(&paths, "a/b/x"));
	assert_true(plan_concerns(&paths, "c"));
	assert_true(plan_concerns(&paths, "c/x/y"));
	assert_false(plan_concerns(&paths, "a/bb"));
	assert_false(plan_concerns(&paths, "a/c"));
	assert_false(plan_concerns(&paths, "b"));
	assert_false(plan_concerns(&paths, "cc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_equal_trees_need_nothing),
		cmocka_unit_test(test_plan_creates),
		cmocka_unit_test(test_plan_overwrites_and_changes_modes),
		cmocka_unit_test(test_plan_replaces_kinds_in_all_directions),
		cmocka_unit_test(test_plan_removes),
		cmocka_unit_test(test_plan_keeps_what_is_protected),
		cmocka_unit_test(test_plan_keeps_what_cannot_be_done),
		cmocka_unit_test(test_plan_without_deletions),
		cmocka_unit_test(test_plan_is_limited_to_paths),
		cmocka_unit_test(test_plan_takes_back_directories_on_the_way),
		cmocka_unit_test(test_plan_lists_what_it_makes_on_the_way),
		cmocka_unit_test(test_plan_order),
		cmocka_unit_test(test_plan_of_random_trees),
		cmocka_unit_test(test_plan_concerns),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
