/* SPDX-License-Identifier: MIT */
/* What is done before which command, as the guard (fsmonitor) sees it. */
#include "hooks/hook_rules.h"

#include "base/alloc.h"
#include "base/proc.h"

#include "unit.h"

#include "hookchain.h"

struct row {
	const char *chain;
	const char *expected;
};

static void expect_guard(const struct row *rows, size_t nr)
{
	static const char *const args[] = { "2", "token" };
	struct hook_call call = { .name = HOOK_FSMONITOR, .args = args, .args_nr = 2 };

	for (size_t i = 0; i < nr; i++)
		expect(&call, rows[i].chain, rows[i].expected);
}

#define GUARD(rows) expect_guard(rows, ARRAY_SIZE(rows))

static void test_hook_rules_commands_that_change_files(void **state)
{
	static const struct row rows[] = {
		{ "git merge other", "merge" },
		{ "git merge --autostash other > git stash create", "merge" },
		{ "git merge -s resolve other", "merge" },
		{ "git merge a b > git merge-octopus > git read-tree -u -m", "merge" },
		{ "git merge --squash other", "merge" },
		{ "git merge --abort > git reset --merge", "merge" },
		{ "git merge --continue > git commit", "merge" },
		{ "git rebase main", "rebase" },
		{ "git rebase --apply main > git am --rebasing", "rebase" },
		{ "git rebase -i main", "rebase" },
		{ "git rebase --autostash main > git stash create", "rebase" },
		{ "git rebase --no-verify main", "rebase" },
		{ "git rebase --abort", "rebase" },
		{ "git rebase --skip", "rebase" },
		{ "git rebase --continue > git commit -n", "rebase" },
		{ "git rebase -x make main > sh -c make > make > git status", "rebase" },
		{ "git cherry-pick x", "cherry-pick" },
		{ "git cherry-pick -n x", "cherry-pick" },
		{ "git cherry-pick --abort > git reset --merge", "cherry-pick" },
		{ "git cherry-pick --skip", "cherry-pick" },
		{ "git cherry-pick --continue > git commit --no-edit", "cherry-pick" },
		{ "git revert x", "revert" },
		{ "git revert --abort", "revert" },
		{ "git am 0001.patch", "am" },
		{ "git am -3 > git apply --3way", "am" },
		{ "git am --abort", "am" },
		{ "git am --skip", "am" },
		{ "git reset --hard", "reset" },
		{ "git reset --hard HEAD~1", "reset" },
		{ "git reset -q --hard", "reset" },
		{ "git reset HEAD~1 --hard", "reset" },
		{ "git reset --har", "reset" },
		{ "git reset --merge", "reset" },
		{ "git reset --keep HEAD~1", "reset" },
		{ "git reset --hard --recurse-submodules", "reset" },
		{ "git checkout main", "checkout" },
		{ "git checkout --detach main", "checkout" },
		{ "git checkout -m main", "checkout" },
		{ "git checkout -f", "checkout" },
		{ "git checkout -- file", "checkout" },
		{ "git checkout HEAD~1 -- file", "checkout" },
		{ "git checkout .", "checkout" },
		{ "git checkout -b new start", "checkout" },
		{ "git checkout -B cur start", "checkout" },
		{ "git checkout --orphan x", "checkout" },
		{ "git checkout --ours file", "checkout" },
		{ "git checkout -p > perl git-add--interactive > git diff-files", "checkout" },
		{ "git switch main", "switch" },
		{ "git switch -c new start", "switch" },
		{ "git switch --discard-changes main", "switch" },
		{ "git switch --orphan x", "switch" },
		{ "git restore file", "restore" },
		{ "git restore .", "restore" },
		{ "git restore --source HEAD~1 file", "restore" },
		{ "git restore --staged --worktree file", "restore" },
		{ "git restore -SW file", "restore" },
		{ "git restore -S -W file", "restore" },
		{ "git stash", "stash" },
		{ "git stash push", "stash" },
		{ "git stash -u", "stash+n" },
		{ "git merge-recursive a -- b c", "merge" },
		{ "git merge-resolve a -- b c", "merge" },
		{ "git-merge-one-file a b c", "merge" },
		{ "git history reword HEAD~1", "history" },
		{ "git rerere", "rerere" },
		{ "git difftool -d", "difftool" },
		{ "git difftool --dir-diff HEAD", "difftool" },
		{ "git submodule add x", "submodule" },
		{ "git stash push -k", "stash" },
		{ "git stash push --staged", "stash" },
		{ "git stash push -- path", "stash" },
		{ "git stash save x", "stash" },
		{ "git stash > git reset --hard -q", "stash" },
		{ "git stash pop", "stash" },
		{ "git stash pop --index", "stash" },
		{ "git stash apply", "stash" },
		{ "git stash branch b > git checkout -b b", "stash" },
		{ "git clean -fd", "clean+n" },
		{ "git clean -f", "clean+n" },
		{ "git rm -f file", "rm" },
		{ "git rm -r dir", "rm" },
		{ "git mv a b", "mv" },
		{ "git apply --index p", "apply" },
		{ "git apply --3way p", "apply" },
		{ "git bisect start bad good > sh git-bisect > git bisect--helper", "bisect" },
		{ "git bisect reset", "bisect" },
		{ "git bisect run make", "bisect" },
		{ "git bisect--helper --bisect-reset", "bisect" },
		{ "git read-tree -u --reset HEAD", "read-tree" },
		{ "git read-tree -m -u HEAD", "read-tree" },
		{ "git read-tree -mu HEAD", "read-tree" },
		{ "git checkout-index -f -a", "checkout-index" },
		{ "git worktree move a b", "worktree" },
		{ "git submodule update --force > sh git-submodule > git submodule--helper update",
		  "submodule" },
		{ "git submodule --quiet update", "submodule" },
		{ "git submodule--helper update", "submodule" },
		{ "git submodule foreach git reset --hard", "submodule" },
		{ "git submodule foreach --recursive git -C . checkout -f", "submodule" },
		{ "git submodule foreach make", "submodule" },
		{ "git submodule foreach git%reset%--hard%origin/feature/git-fix", "submodule" },
		{ "git submodule foreach git%reset%--hard%feature/git-status x", "submodule" },
		{ "git submodule foreach git%status;git%reset%--hard", "submodule" },
		{ "git submodule foreach git%status\ngit%reset%--hard", "submodule" },
		{ "git submodule foreach git co .", "submodule" },
		{ "git submodule foreach git%co%.", "submodule" },
		{ "git submodule > sh > git submodule--helper foreach -- git pull", "submodule" },
		{ "git filter-branch --tree-filter x > sh git-filter-branch > git read-tree -u -m HEAD",
		  "filter-branch" },
		{ "git mergetool > sh git-mergetool > git checkout-index", "mergetool" },
		{ "git push x > git-receive-pack x > git read-tree -u -m HEAD", "receive-pack" },
	};

	(void)state;
	GUARD(rows);
}

static void test_hook_rules_commands_that_change_none(void **state)
{
	static const struct row rows[] = {
		{ "git status", "" },
		{ "git diff", "" },
		{ "git log", "" },
		{ "git add file", "" },
		{ "git commit -a -m x", "" },
		{ "git commit --amend", "" },
		{ "git fetch", "" },
		{ "git ls-files -o", "" },
		{ "git update-index --refresh", "" },
		{ "git gc > git prune", "" },
		{ "git stash list", "" },
		{ "git stash show -p", "" },
		{ "git stash drop", "" },
		{ "git stash clear", "" },
		{ "git stash create", "" },
		{ "git stash store x", "" },
		{ "git bisect log", "" },
		{ "git sparse-checkout list", "" },
		{ "git reset", "" },
		{ "git reset -q HEAD~1", "" },
		{ "git reset --soft HEAD~1", "" },
		{ "git reset --mixed", "" },
		{ "git reset HEAD -- --hard", "" },
		{ "git restore --staged file", "" },
		{ "git restore -S file", "" },
		{ "git rm --cached file", "" },
		{ "git rm -n file", "" },
		{ "git mv --dry-run a b", "" },
		{ "git clean -n", "" },
		{ "git rerere clear", "" },
		{ "git rerere diff", "" },
		{ "git difftool HEAD", "" },
		{ "git merge-tree a b", "" },
		{ "git merge-base a b", "" },
		{ "git clean -ndx", "" },
		{ "git clean -fdx --dry", "" },
		{ "git read-tree HEAD", "" },
		{ "git read-tree -m --reset HEAD u", "" },
		{ "git submodule status", "" },
		{ "git submodule", "" },
		{ "git submodule--helper list", "" },
		{ "git submodule foreach git status", "" },
		{ "git submodule foreach git -C . fetch", "" },
		{ "git submodule foreach git%status%-s", "" },
		{ "git submodule--helper foreach --recursive -- %/usr/bin/git%%log%", "" },
		{ "git submodule foreach git%clean -n", "" },
		{ "git submodule foreach --quiet git reset -q", "" },
		/* of no concern to the worktree at hand */
		{ "git worktree add ../x > git reset --hard", "" },
		{ "git worktree remove ../x", "" },
		{ "git clone a b > git checkout", "" },
		{ "git", "" },
		{ "git --version", "" },
		/* no git at all */
		{ "", "" },
		{ "bash > vim", "" },
		{ "bash > reset --hard", "" },
		{ "python git.py reset --hard", "" },
		{ "gitk --all", "" },
	};

	(void)state;
	GUARD(rows);
}

static void test_hook_rules_ignored_files_that_go_too(void **state)
{
	static const struct row rows[] = {
		{ "git clean -fdx", "clean+i" },
		{ "git clean -ffd", "clean+i" },
		{ "git clean -f -d --force", "clean+i" },
		{ "git clean -fd -efff", "clean+n" },
		{ "git stash push --include-untracked", "stash+n" },
		{ "git stash -um words", "stash+n" },
		{ "git stash -mu", "stash" },
		{ "git clean -fdX", "clean+i" },
		{ "git clean -x -f", "clean+i" },
		{ "git clean -d -f -x -- dir", "clean+i" },
		{ "git clean -fe x", "clean+n" },
		{ "git clean -fex", "clean+n" },
		{ "git clean -fe pattern -x", "clean+i" },
		{ "git clean -fx -en", "clean+i" },
		{ "git clean -fx -e n -- -n", "clean+i" },
		{ "git clean -nfx --no-dry-run", "clean+i" },
		{ "git clean -f -- -x", "clean+n" },
		{ "git clean -f --exclude=x", "clean+n" },
		/* a value may look like an option */
		{ "git clean -f --exclude -n", "clean+n" },
		{ "git clean -f --excl -x", "clean+n" },
		{ "git clean -f --exclude --dry-run", "clean+n" },
		{ "git clean -f -e --dry-run", "clean+n" },
		{ "git clean -fx -e --no-dry-run -n", "" },
		{ "git clean -f --exclude=n -nx", "" },
		{ "git clean -f --exclude x -x", "clean+i" },
		{ "git stash push --message -a", "stash" },
		{ "git stash push -m --all", "stash" },
		{ "git stash -a", "stash+i" },
		{ "git stash --all", "stash+i" },
		{ "git stash --al", "stash+i" },
		{ "git stash push -qa", "stash+i" },
		{ "git stash push -m a", "stash" },
		{ "git stash push -ma", "stash" },
		{ "git stash save --all", "stash+i" },
		{ "git stash push -- -a", "stash" },
		{ "git stash apply -a", "stash" },
		{ "git sparse-checkout set dir", "sparse-checkout+i" },
		{ "git sparse-checkout reapply", "sparse-checkout+i" },
		{ "git sparse-checkout set --no-cone /dir", "sparse-checkout" },
		{ "git sparse-checkout disable", "sparse-checkout" },
		{ "git submodule deinit -f m", "submodule+i" },
		{ "git submodule foreach git clean -fdx", "submodule+i" },
		{ "git submodule foreach git clean -fd", "submodule+n" },
		{ "git submodule foreach git%clean%-fdx", "submodule+i" },
		{ "git submodule foreach git%clean%-fd", "submodule+n" },
		/* what only a shell can tell */
		{ "git submodule foreach git%fetch;git-clean%-fdx", "submodule+i" },
		{ "git submodule foreach git%clean%-fdx%||%:", "submodule+i" },
		{ "git submodule foreach sh -c git%clean%-fdx", "submodule+i" },
		{ "git submodule foreach git%merge%cleanup%||%:", "submodule" },
		/* asked in the worktree that goes, not in the one where it is said */
		{ "git worktree remove a > git status", "worktree+i" },
		/* nested: the name is that of the topmost */
		{ "git stash -a > git clean -f -q -d -x", "stash+i" },
		{ "git rebase -x cmd main > sh > git clean -fdx", "rebase+i" },
	};

	(void)state;
	GUARD(rows);
}

static void test_hook_rules_a_pull_is_what_it_does(void **state)
{
	static const struct row rows[] = {
		{ "git pull > git merge FETCH_HEAD", "merge" },
		{ "git pull --rebase > git rebase --onto x", "rebase" },
		{ "git pull --rebase --autostash > git rebase > git stash create", "rebase" },
		{ "git pull --rebase > git merge --ff-only", "merge" },
		/* not known yet; nothing comes after it only where there is no commit */
		{ "git pull", "merge+u" },
		{ "git pull --rebase > git fetch --update-head-ok", "merge+u" },
		/* the branch at hand may be moved by the fetch */
		{ "git pull origin main:main", "merge" },
		{ "git pull -r origin +refs/heads/main:refs/heads/main", "rebase" },
		{ "git pull https://host:80/x main", "merge+u" },
		{ "git pull origin main:", "merge+u" },
		{ "git pull > git fetch > git maintenance run --auto", "merge+u" },
		{ "git up > git pull > git rebase", "rebase" },
	};

	(void)state;
	GUARD(rows);
}

static void test_hook_rules_how_git_is_called(void **state)
{
	static const struct row rows[] = {
		{ "/usr/bin/git reset --hard", "reset" },
		{ "/usr/lib/git-core/git reset --hard", "reset" },
		{ "/usr/lib/git-core/git-reset --hard", "reset" },
		{ "git-reset --hard", "reset" },
		{ "git -C x -c a=b reset --hard", "reset" },
		{ "git -C reset status", "" },
		{ "git -c alias.x=reset status", "" },
		{ "git --git-dir x --work-tree y clean -fdx", "clean+i" },
		{ "git --git-dir=x --work-tree=y clean -fd", "clean+n" },
		{ "git --namespace n --super-prefix p/ reset --hard", "reset" },
		{ "git --config-env a=B --attr-source HEAD checkout x", "checkout" },
		{ "git -p --no-pager --no-optional-locks --exec-path=/x --bare restore .", "restore" },
		{ "git -C", "" },
		{ "git -c", "" },
		/* aliases are called as what they are, then as what they mean */
		{ "git nuke > git reset --hard", "reset" },
		{ "git nuke > sh -c git > git -C . reset --hard", "reset" },
		/* what hooks and tools do on behalf of a harmless command */
		{ "git commit > sh .git/hooks/pre-commit > git stash", "stash" },
		{ "git commit > python pre-commit > git checkout -- .", "checkout" },
		{ "git lfs migrate > git-lfs migrate > git checkout", "checkout" },
		{ "bash > make > git -C sub checkout -f > sh hook > timeout", "checkout" },
	};

	(void)state;
	GUARD(rows);
}

static void test_hook_rules_never_for_what_we_do_ourselves(void **state)
{
	static const struct row rows[] = {
		{ "git reset --hard > sh > git-checkpoint hook fsmonitor 2 x > git checkout-index", "" },
		{ "git rebase > git-checkpoint hook pre-rebase > env > git read-tree x", "" },
		/* but what is run under our protection is protected */
		{ "git checkpoint run make > git-checkpoint run make > make > git reset --hard",
		  "reset" },
	};

	(void)state;
	GUARD(rows);
}

/* The places in a chain of the topmost git, and of that which changes files; -1: there is none. */
static void find_places(int *top, int *actor, const char *chain)
{
	static const char *const args[] = { "2", "token" };
	struct hook_call call = { .name = HOOK_FSMONITOR, .args = args, .args_nr = 2 };
	struct hook_decision decision;
	struct proc_list list;

	make_chain(&list, chain);
	call.ancestors = &list;
	hook_decide(&decision, &call);
	*top = decision.top ? (int)(list.nr - 1 - (size_t)(decision.top - list.items)) : -1;
	*actor = decision.actor ? (int)(list.nr - 1 - (size_t)(decision.actor - list.items)) : -1;
	proc_list_release(&list);
}

static int top_of(const char *chain)
{
	int top, actor;

	find_places(&top, &actor, chain);
	return top;
}

static int actor_of(const char *chain)
{
	int top, actor;

	find_places(&top, &actor, chain);
	return actor;
}

static void test_hook_rules_the_topmost_git(void **state)
{
	(void)state;
	assert_int_equal(top_of("bash > git reset --hard"), 1);
	assert_int_equal(top_of("bash > git rebase x > sh -c y > git commit > git stash create"), 1);
	assert_int_equal(top_of("bash > git nuke > sh > git reset --hard > sh > timeout"), 1);
	assert_int_equal(top_of("make > git submodule update > sh > git submodule--helper update"), 1);
	assert_int_equal(top_of("bash > vim"), -1);
	/* Programs in which people work for hours. */
	assert_int_equal(top_of("git gui > wish git-gui > git reset --hard"), 2);
	assert_int_equal(top_of("git citool > wish > git checkout-index"), 2);
	assert_int_equal(top_of("git cola > python3 git-cola > git reset --hard"), 2);
	assert_int_equal(top_of("git dag > python3 git-dag > git checkout x"), 2);
	assert_int_equal(top_of("git checkpoint run x > git-checkpoint run x > x > git reset --hard"),
			 3);
	/* A terminal in an editor that git waits for. */
	assert_int_equal(top_of("bash > git commit > vim > @bash > git reset --hard"), 4);
	assert_int_equal(top_of("bash > git commit > vim > bash > git reset --hard"), 1);
}

static void test_hook_rules_who_changes_files(void **state)
{
	(void)state;
	assert_int_equal(actor_of("bash > git merge x > git stash create"), 1);
	assert_int_equal(actor_of("bash > git pull > git merge x"), 2);
	/* A script of git's own is git, others run commands of their own. */
	assert_int_equal(actor_of("git merge x y > git merge-octopus > "
				  "/bin/sh /usr/lib/git-core/git-merge-octopus x > git read-tree -u"),
			 0);
	assert_int_equal(actor_of("git merge x > git merge-mine > /bin/sh /home/me/git-merge-mine x > "
				  "git reset --hard"),
			 3);
	assert_int_equal(actor_of("git rebase -x y > sh /usr/lib/git-core/git-/y > git reset --hard"), 2);
}

/* What the line about a command calls it; "" if there is none, as git is to be quiet. */
static void expect_said(const char *chain, const char *expected)
{
	static const char *const args[] = { "2", "token" };
	struct hook_call call = { .name = HOOK_FSMONITOR, .args = args, .args_nr = 2 };
	struct strbuf said = STRBUF_INIT;
	struct hook_decision decision;
	struct proc_list list;

	make_chain(&list, chain);
	call.ancestors = &list;
	hook_decide(&decision, &call);
	assert_true(decision.act);
	if (!hook_decision_quiet(&decision))
		hook_decision_describe(&said, &decision);
	assert_string_equal(said.buf, expected);
	strbuf_release(&said);
	proc_list_release(&list);
}

static void test_hook_rules_what_is_said(void **state)
{
	(void)state;
	expect_said("bash > git rebase main", "rebase");
	expect_said("bash > git rebase --abort", "rebase --abort");
	expect_said("bash > git co x > git checkout -f x", "checkout");
	expect_said("bash > git reset -q --hard", "");
	expect_said("bash > git clean -fdq", "");
	expect_said("bash > git pull --quiet > git merge --quiet x", "");
	expect_said("bash > git co x > git checkout -q x", "");
	/* git calls many of its own with -q. */
	expect_said("bash > git stash pop > git read-tree -q -u x", "stash");
	/* This is a name, a value, a path. */
	expect_said("bash > git checkout -bq", "checkout");
	expect_said("bash > git stash push -m -q", "stash");
	expect_said("bash > git checkout x -- -q", "checkout");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook_rules_commands_that_change_files),
		cmocka_unit_test(test_hook_rules_commands_that_change_none),
		cmocka_unit_test(test_hook_rules_ignored_files_that_go_too),
		cmocka_unit_test(test_hook_rules_a_pull_is_what_it_does),
		cmocka_unit_test(test_hook_rules_how_git_is_called),
		cmocka_unit_test(test_hook_rules_never_for_what_we_do_ourselves),
		cmocka_unit_test(test_hook_rules_the_topmost_git),
		cmocka_unit_test(test_hook_rules_who_changes_files),
		cmocka_unit_test(test_hook_rules_what_is_said),
	};

	return cmocka_run_group_tests_name("hook_rules: guard", tests, NULL, NULL);
}
