/* SPDX-License-Identifier: MIT */
#include "hooks/hook_internal.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "base/strbuf.h"
#include "hooks/hook_rules.h"
#include "unit.h"

/*
 * Where a command line leads: "trees|walk|paths|patches" and flags "+o" an
 * operation in progress, "+m" submodules, "+3" patches are merged, "+?" anything.
 */
static const struct row {
	const char *line;
	const char *expected;
} rows[] = {
	{ "git checkout b", "b|||" },
	{ "git checkout -f b", "HEAD b|||" },
	{ "git checkout -f", "HEAD|||" },
	{ "git checkout -b new b", "new b|||" },
	{ "git checkout b -- t.log", "b|||" },
	{ "git checkout -- b", "HEAD|||" },
	{ "git checkout -m over", "over|||" },
	{ "git checkout -", "@{-1}|||" },
	{ "git checkout main...b", "main b|||" },
	{ "git checkout --recurse-submodules b", "b|||+m" },
	{ "git switch -c new b", "new b|||" },
	{ "git restore -SW .", "HEAD .|||" },
	{ "git restore -s b .", "b .|||" },
	{ "git restore -sb .", "b .|||" },
	{ "git restore --source b .", "b .|||" },
	{ "git restore --source=b .", "b .|||" },
	{ "git reset --hard", "HEAD|||" },
	{ "git reset --hard b", "HEAD b|||" },
	{ "git read-tree -m -u HEAD b", "HEAD HEAD b|||" },
	{ "git merge b", "HEAD b|||" },
	{ "git merge", "HEAD @{upstream}|||" },
	{ "git merge -m words -s ort b c", "HEAD b c|||" },
	{ "git merge --abort", "HEAD|||+o" },
	{ "git merge-recursive a -- b c", "HEAD a b c|||" },
	{ "git rebase", "HEAD @{upstream}|@{upstream}...HEAD||" },
	{ "git rebase up", "HEAD up up|up...HEAD||" },
	{ "git rebase -i up branch", "HEAD up up branch|up...branch||" },
	{ "git rebase --onto new -x make up", "HEAD new up up|up...HEAD||" },
	{ "git rebase --root", "HEAD @{upstream}|HEAD||" },
	{ "git rebase --root branch", "HEAD @{upstream} branch|branch||" },
	{ "git rebase --continue", "HEAD|||+o" },
	{ "git cherry-pick a", "|--no-walk a||" },
	{ "git cherry-pick -m 1 -x a..b", "|--no-walk a..b||" },
	{ "git cherry-pick --skip", "HEAD|||+o" },
	{ "git revert a b", "|--no-walk a b||" },
	{ "git bisect start bad good other", "HEAD start bad good other|bad --not good other||+o" },
	{ "git bisect start", "HEAD start|||+o" },
	{ "git bisect good", "HEAD good|--bisect HEAD||+o" },
	{ "git bisect bad b", "HEAD bad b|--bisect HEAD b||+o" },
	{ "git bisect run make b", "HEAD run make b|--bisect HEAD||+o" },
	{ "git bisect reset", "HEAD reset|||+o" },
	{ "git stash", "HEAD|||" },
	{ "git stash pop", "HEAD stash@{0} stash@{0}^1|||" },
	{ "git stash apply 2", "HEAD stash@{2} stash@{2}^1|||" },
	{ "git stash apply stash@{1}", "HEAD stash@{1} stash@{1}^1|||" },
	{ "git stash branch new", "HEAD stash@{0} stash@{0}^1|||" },
	{ "git stash branch new 1", "HEAD stash@{1} stash@{1}^1|||" },
	{ "git am a b", "HEAD|||a b" },
	{ "git am -3 a", "HEAD|||a+3" },
	{ "git am --3way", "HEAD|||+3" },
	{ "git am --abort", "HEAD|||+o" },
	{ "git mv -f a to", "HEAD||to to/a|" },
	{ "git mv x/a b/ to", "HEAD||to to/a to/b|" },
	{ "git rm -f m", "HEAD|||+m" },
	{ "git submodule update", "HEAD|||+m" },
	{ "git filter-branch x", "HEAD|||+?" },
	{ "git checkout-index -a --prefix=out/", "HEAD out/||out/|" },
	{ "git clean -fd x", "|||" },
	{ "git apply x", "|||" },
};

static void add(struct strbuf *out, const struct strlist *list)
{
	for (size_t i = 0; i < list->nr; i++)
		strbuf_addf(out, "%s%s", i ? " " : "", list->items[i]);
}

static void tell(struct strbuf *out, const struct hook_targets *targets)
{
	add(out, &targets->trees);
	strbuf_addch(out, '|');
	add(out, &targets->walk);
	strbuf_addch(out, '|');
	add(out, &targets->paths);
	strbuf_addch(out, '|');
	add(out, &targets->patches);
	strbuf_addf(out, "%s%s%s%s", targets->ongoing ? "+o" : "", targets->modules ? "+m" : "",
		    targets->merges_patches ? "+3" : "", targets->unknown ? "+?" : "");
}

static void test_hook_targets_of_command_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proc proc = { .argv = STRLIST_INIT };
		struct hook_targets targets = { 0 };
		struct strbuf told = STRBUF_INIT;
		struct hook_git git;

		for (const char *p = rows[i].line; *p; p += strspn(p, " ")) {
			size_t len = strcspn(p, " ");

			strlist_take(&proc.argv, xmemdupz(p, len));
			p += len;
		}
		assert_true(hook_git_read(&git, &proc));
		hook_targets_add(&targets, &git);
		tell(&told, &targets);
		if (strcmp(told.buf, rows[i].expected))
			fail_msg("%s: '%s' instead of '%s'", rows[i].line, told.buf,
				 rows[i].expected);
		strbuf_release(&told);
		hook_targets_release(&targets);
		strlist_release(&proc.argv);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook_targets_of_command_lines),
	};

	return cmocka_run_group_tests_name("hook_targets", tests, NULL, NULL);
}
