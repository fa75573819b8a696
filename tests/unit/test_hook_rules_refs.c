/* SPDX-License-Identifier: MIT */
/* What is done when git asks pre-rebase or tells reference-transaction. */
#include "hooks/hook_rules.h"

#include "base/alloc.h"
#include "base/proc.h"

#include "unit.h"

#include "hookchain.h"

/* ---- pre-rebase ---- */

static void test_hook_rules_pre_rebase(void **state)
{
	static const char *const args[] = { "main", "topic" };
	struct hook_call call = { .name = HOOK_PRE_REBASE, .args = args, .args_nr = 2,
				  .events = HOOK_EVENT_ALL };

	(void)state;
	expect(&call, "git rebase main", "rebase+a");
	expect(&call, "git pull --rebase > git rebase x", "rebase+a");
	expect(&call, "git up > git rebase x", "rebase+a");
	/* where there is no /proc */
	expect(&call, "", "rebase+a");
	expect(&call, "git reset --hard > git-checkpoint hook fsmonitor > git rebase", "");
	call.events = HOOK_EVENT_ALL & ~HOOK_EVENT_REBASE;
	expect(&call, "git rebase main", "");
	call.events = HOOK_EVENT_REBASE;
	expect(&call, "git rebase main", "rebase+a");
	call.name = hook_name_of("pre-commit");
	expect(&call, "git reset --hard", "");
}

/* ---- reference-transaction ---- */

#define ZERO "0000000000000000000000000000000000000000"
#define ONE "1111111111111111111111111111111111111111"
#define TWO "2222222222222222222222222222222222222222"
#define ZERO64 "0000000000000000000000000000000000000000000000000000000000000000"
#define ONE64 "1111111111111111111111111111111111111111111111111111111111111111"

#define NEW(ref) ZERO " " ONE " " ref "\n"
#define MOVED(ref) ONE " " TWO " " ref "\n"
#define GONE(ref) ONE " " ZERO " " ref "\n"
#define NEVER(ref) ZERO " " ZERO " " ref "\n"

struct ref_row {
	const char *chain;
	const char *action; /* GIT_REFLOG_ACTION */
	const char *refs;
	const char *expected;
};

static const struct ref_row ref_rows[] = {
	/* before anything is changed */
	{ "git merge other", "merge other", NEW("ORIG_HEAD"), "merge" },
	{ "git merge --autostash other", "merge other", NEW("ORIG_HEAD"), "merge" },
	{ "git merge a b", "merge a b", MOVED("ORIG_HEAD"), "merge" },
	{ "git merge --squash other", "merge other", NEW("ORIG_HEAD"), "merge" },
	{ "git pull > git merge FETCH_HEAD", "pull", NEW("ORIG_HEAD"), "merge" },
	{ "git pull --rebase > git merge --ff-only", "pull --rebase", NEW("ORIG_HEAD"), "merge" },
	{ "git am 0001.patch", NULL, NEW("ORIG_HEAD"), "am" },
	{ "git am -3", NULL, MOVED("ORIG_HEAD"), "am" },
	{ "git stash", NULL, NEW("refs/stash"), "stash" },
	{ "git stash push -u", NULL, MOVED("refs/stash"), "stash+n" },
	{ "git stash -a", NULL, NEW("refs/stash"), "stash+i" },
	{ "git stash save x", NULL, NEW("refs/stash"), "stash" },
	{ "git bisect start > sh git-bisect > git bisect--helper", NULL, NEW("refs/bisect/bad"),
	  "bisect" },
	{ "git bisect good", NULL, NEW("refs/bisect/good-" ONE), "bisect" },
	{ "git bisect bad", NULL, MOVED("refs/bisect/bad"), "bisect" },
	{ "git bisect good", NULL, NEW("BISECT_EXPECTED_REV"), "bisect" },
	{ "", "merge other", NEW("ORIG_HEAD"), "merge" },
	/* too late */
	{ "git reset --hard HEAD~1", NULL, NEW("ORIG_HEAD"), "" },
	{ "git reset --hard HEAD~1", NULL, MOVED("HEAD") MOVED("refs/heads/main"), "" },
	{ "git merge --abort > git reset --merge", NULL, MOVED("ORIG_HEAD"), "" },
	{ "git merge --abort > git reset --merge", "merge", MOVED("ORIG_HEAD"), "" },
	{ "git cherry-pick --abort", NULL, NEW("ORIG_HEAD"), "" },
	{ "git cherry-pick --skip > git reset --merge", NULL, NEW("ORIG_HEAD"), "" },
	{ "git revert --abort", NULL, NEW("ORIG_HEAD"), "" },
	{ "git rebase main", "rebase", NEW("ORIG_HEAD"), "" },
	{ "git rebase main", "rebase (start)", MOVED("HEAD"), "" },
	{ "git pull --rebase > git rebase x", "pull --rebase", NEW("ORIG_HEAD"), "" },
	{ "git pull --rebase > git rebase --apply > git am --rebasing", "pull --rebase (start)",
	  NEW("ORIG_HEAD"), "" },
	{ "git merge other", "merge other", MOVED("HEAD") MOVED("refs/heads/main"), "" },
	{ "git am --abort", NULL, MOVED("HEAD") MOVED("refs/heads/main"), "" },
	{ "git am --abort", NULL, MOVED("ORIG_HEAD"), "" },
	{ "git am --skip", NULL, MOVED("ORIG_HEAD"), "" },
	{ "git stash > git reset --hard -q", NULL, NEW("ORIG_HEAD"), "" },
	{ "git stash pop --index > git reset", NULL, NEW("ORIG_HEAD"), "" },
	{ "git merge --autostash x > git stash store", "merge x", NEW("refs/stash"), "" },
	{ "git stash drop", NULL, GONE("refs/stash"), "" },
	{ "git stash pop", NULL, GONE("refs/stash"), "" },
	{ "git stash clear", NULL, GONE("refs/stash"), "" },
	{ "git stash drop", NULL, MOVED("refs/stash"), "" },
	{ "git bisect reset", NULL, GONE("refs/bisect/bad") GONE("refs/bisect/good-x"), "" },
	{ "git bisect reset", NULL, NEVER("BISECT_HEAD"), "" },
	{ "git worktree add x", NULL, NEW("ORIG_HEAD"), "" },
	/* of no concern */
	{ "git fetch", NULL, NEW("refs/remotes/origin/main"), "" },
	{ "git fetch", NULL, NEW("refs/remotes/origin/ORIG_HEAD"), "" },
	{ "git tag refs/stash", NULL, NEW("refs/tags/refs/stash"), "" },
	{ "git branch bisect", NULL, NEW("refs/heads/refs/bisect/x"), "" },
	{ "git commit", NULL, MOVED("HEAD") MOVED("refs/heads/main"), "" },
	{ "git cherry-pick x", NULL, NEW("CHERRY_PICK_HEAD"), "" },
	{ "git symbolic-ref HEAD x", NULL, "ref:refs/heads/a ref:refs/heads/b HEAD\n", "" },
	{ "git fetch", NULL, "", "" },
	{ "git merge x", "merge x", "", "" },
	{ "git merge x", "merge x", "\n", "" },
	{ "git merge x", "merge x", "ORIG_HEAD\n", "" },
	{ "git merge x", "merge x", " ORIG_HEAD\n", "" },
	{ "git merge x", "merge x", ONE " ORIG_HEAD", "" },
	/* among others, the last without a line end, and with longer names */
	{ "git merge x", "merge x", MOVED("HEAD") "\n" NEW("ORIG_HEAD"), "merge" },
	{ "git merge x", "merge x", ZERO " " ONE " ORIG_HEAD", "merge" },
	{ "git merge x", "merge x", ZERO64 " " ONE64 " ORIG_HEAD\n", "merge" },
	{ "git stash drop", NULL, ONE64 " " ZERO64 " refs/stash\n", "" },
};

static void test_hook_rules_reference_transaction(void **state)
{
	static const char *const states[] = { "prepared", "preparing", "committed", "aborted" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ref_rows); i++) {
		const struct ref_row *row = &ref_rows[i];
		struct hook_call call = { .name = HOOK_REFERENCE_TRANSACTION, .args_nr = 1,
					  .events = HOOK_EVENT_ALL, .refs = row->refs,
					  .reflog_action = row->action };

		for (size_t s = 0; s < 4; s++) {
			call.args = &states[s];
			assert_int_equal(hook_wants_refs(&call), s < 2);
			expect(&call, row->chain, s < 2 ? row->expected : "");
		}
		call.args_nr = 0;
		expect(&call, row->chain, "");
	}
}

static void test_hook_rules_only_events_that_are_on(void **state)
{
	static const struct {
		const char *list;
		unsigned events;
	} lists[] = {
		{ "", 0 },
		{ "rebase", HOOK_EVENT_REBASE },
		{ "merge,am", HOOK_EVENT_MERGE | HOOK_EVENT_AM },
		{ "bisect,stash,bisect", HOOK_EVENT_STASH | HOOK_EVENT_BISECT },
		{ "rebase,merge,am,stash,bisect", HOOK_EVENT_ALL },
		{ "later,,merge,", HOOK_EVENT_MERGE },
		{ "merg,mergex,MERGE", 0 },
	};
	static const char *const prepared[] = { "prepared" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		unsigned events = 0;

		hook_events_parse(&events, lists[i].list);
		assert_int_equal(events, lists[i].events);
		for (size_t r = 0; r < ARRAY_SIZE(ref_rows); r++) {
			const struct ref_row *row = &ref_rows[r];
			struct hook_call call = { .name = HOOK_REFERENCE_TRANSACTION, .args = prepared,
						  .args_nr = 1, .events = events,
						  .refs = row->refs, .reflog_action = row->action };
			unsigned needed = 0;
			char *event = xmemdupz(row->expected, strcspn(row->expected, "+"));

			hook_events_parse(&needed, event);
			expect(&call, row->chain, needed & events ? row->expected : "");
			free(event);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook_rules_pre_rebase),
		cmocka_unit_test(test_hook_rules_reference_transaction),
		cmocka_unit_test(test_hook_rules_only_events_that_are_on),
	};

	return cmocka_run_group_tests_name("hook_rules: refs", tests, NULL, NULL);
}
