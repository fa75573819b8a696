/* SPDX-License-Identifier: MIT */
#include "look/look.h"

#include "unit.h"

static void test_status_judges_by_base_and_changes(void **state)
{
	static const struct {
		bool base, scoped;
		struct status_changes changes;
		uint64_t missing;
		enum status_safety expected;
	} cases[] = {
		{ false, false, { 0, 0, 0 }, 0, STATUS_NOTHING },
		{ false, false, { 1, 0, 0 }, 0, STATUS_NOTHING },
		{ true, false, { 0, 0, 0 }, 0, STATUS_SAFE },
		{ true, false, { 1, 0, 0 }, 0, STATUS_CHANGED },
		{ true, false, { 0, 1, 0 }, 0, STATUS_CHANGED },
		{ true, false, { 0, 0, 1 }, 0, STATUS_CHANGED },
		{ true, false, { 0, 0, 0 }, 2, STATUS_MISSING },
		{ true, false, { 0, 0, 1 }, 2, STATUS_CHANGED },
		/* of some paths: nothing is known of the others, whatever those are like */
		{ true, true, { 0, 0, 0 }, 0, STATUS_SCOPE },
		{ true, true, { 0, 1, 0 }, 2, STATUS_SCOPE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ckpt_record base = CKPT_RECORD_INIT;

		base.missing = cases[i].missing;
		if (cases[i].scoped)
			strlist_add(&base.scope, "d");
		assert_int_equal(status_judge(cases[i].base ? &base : NULL, &cases[i].changes),
				 cases[i].expected);
		record_release(&base);
	}
}

/* Checkpoints: "a" to "d" of everything, "s" of some paths, "k" of state alone; others are gone. */
static struct ckpt_briefs all_briefs(void)
{
	static struct ckpt_brief briefs[6];
	static const char names[] = "abcdsk";

	for (size_t i = 0; names[i]; i++)
		briefs[i] = (struct ckpt_brief){ .ref.id = { names[i] },
						 .scoped = names[i] == 's',
						 .state_only = names[i] == 'k' };
	return (struct ckpt_briefs){ .items = briefs, .nr = ARRAY_SIZE(briefs) };
}

static void test_status_finds_what_was_restored_last(void **state)
{
	/* Restores from the bottom up: the state before, what was restored, "p" if of some paths. */
	static const struct {
		const char *stack;
		size_t done;
		const char *expected;
	} cases[] = {
		{ "", 0, NULL },
		{ "ba", 1, "a" },
		{ "ba cb", 2, "b" },
		/* undone: the state before the lowest that is not in effect any more */
		{ "ba", 0, "b" },
		{ "ba cb dc", 1, "c" },
		{ "ba cb dc", 0, "b" },
		/* of some paths: that says nothing about the others */
		{ "bap", 1, NULL },
		{ "bap", 0, NULL },
		{ "ba cbp", 2, NULL },
		{ "ba cbp", 1, NULL },
		{ "bap cb", 2, "b" },
		/* what is not of the whole worktree, or no longer there */
		{ "bs", 1, NULL },
		{ "bk", 1, NULL },
		{ "bx", 1, NULL },
		{ "xa", 0, NULL },
	};
	struct ckpt_briefs all = all_briefs();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct undo_entry entries[4] = { 0 };
		struct undo_stack stack = { .items = entries, .done = cases[i].done };
		const char *got;

		for (const char *p = cases[i].stack; *p; p += *p == ' ') {
			struct undo_entry *entry = &entries[stack.nr++];

			entry->before[0] = *p++;
			entry->restored[0] = *p++;
			if (*p == 'p' && p++)
				strlist_add(&entry->paths, "some/path");
		}
		got = status_last_restored(&stack, &all);
		if (cases[i].expected)
			assert_string_equal(got, cases[i].expected);
		else
			assert_null(got);
		for (size_t j = 0; j < stack.nr; j++)
			strlist_release(&entries[j].paths);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_judges_by_base_and_changes),
		cmocka_unit_test(test_status_finds_what_was_restored_last),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
