/* SPDX-License-Identifier: MIT */
#include "gitstate/gitstate.h"
#include "gitstate/gitwrite.h"
#include "git/repo.h"
#include "store/store.h"

#include "base/env.h"
#include "base/error.h"

#include "unit.h"

/*
 * A state is read, destroyed, and written again; what stock git says about it
 * before and after is compared. Each case is a repository of its own.
 */

/* Everything that git tells about where the user is. */
#define LOOK                                                                                      \
	"set +e; git -C %s ls-files -s -v; git -C %s diff --cached;"  \
	"git -C %s status --porcelain=v2 --branch --untracked-files=no;"                          \
	"git -C %s for-each-ref --format='%%(refname) %%(objectname)' refs/heads refs/bisect "    \
	"refs/rewritten; git -C %s symbolic-ref -q HEAD; git -C %s rev-parse -q --verify HEAD;"   \
	"cd %s/.git && ls -d rebase-* sequencer MERGE* BISECT* CHERRY* REVERT* 2>/dev/null; :"

static void look(struct strbuf *out, const char *r)
{
	ask(out, LOOK, r, r, r, r, r, r, r);
}

static struct repo *open_repo(const char *name)
{
	struct repo *repo = NULL;

	assert_int_equal(repo_open_at(&repo, in_scratch("%s", name)), 0);
	return repo;
}

/* Where the index is made. */
static struct store *the_store(void)
{
	static struct store *store;

	if (!store) {
		sh("mkdir -p worktree");
		assert_int_equal(store_open_or_create(&store, in_scratch("worktree")), 0);
	}
	return store;
}

static void read_state(struct gitstate *out, const struct repo *repo)
{
	if (gitstate_read(out, repo))
		fail_msg("gitstate_read: %s", ckpt_error_last());
}

static void expect_done(int err, const char *what)
{
	if (err)
		fail_msg("%s: %d %s", what, err, ckpt_error_last());
}

/* The branches and refs of an operation, all of them: the tests know what they changed. */
static void list_moves(struct gitwrite_refs *out, const struct gitstate *now,
		       const struct gitstate *goal)
{
	const struct gitstate_ref *lists[2][2] = { { now->branches, goal->branches },
						   { now->private_refs, goal->private_refs } };
	size_t nrs[2][2] = { { now->branches_nr, goal->branches_nr },
			     { now->private_refs_nr, goal->private_refs_nr } };

	for (int kind = 0; kind < 2; kind++) {
		size_t i = 0, j = 0;

		while (i < nrs[kind][0] || j < nrs[kind][1]) {
			const struct gitstate_ref *a = i < nrs[kind][0] ? &lists[kind][0][i] : NULL;
			const struct gitstate_ref *b = j < nrs[kind][1] ? &lists[kind][1][j] : NULL;
			int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);

			if (order < 0)
				gitwrite_refs_add(out, a->name, a->oid, NULL);
			else if (order > 0)
				gitwrite_refs_add(out, b->name, NULL, b->oid);
			else if (strcmp(a->oid, b->oid))
				gitwrite_refs_add(out, a->name, a->oid, b->oid);
			i += order <= 0;
			j += order >= 0;
		}
	}
}

static void write_state(const struct repo *repo, const struct gitstate *goal)
{
	const struct gitwrite how = { repo, "checkpoint: restore chk_1" };
	struct gitwrite_refs moves = { 0 };
	struct gitstate now;

	read_state(&now, repo);
	list_moves(&moves, &now, goal);
	expect_done(gitwrite_index_lock(the_store(), repo, goal), "index_lock");
	expect_done(gitwrite_move(&how, &moves, goal->ref, goal->head, &now), "move");
	expect_done(gitwrite_operation(repo, &now, goal), "operation");
	expect_done(gitwrite_index_place(repo), "index_place");
	gitwrite_refs_release(&moves);
	gitstate_release(&now);
}

/*
 * Bring repository `name` into a state by `script`, then elsewhere by `damage`, and back. Files of
 * the worktree are kept: only git's state goes.
 */
static void round_trip(const char *name, const char *script, const char *damage)
{
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT, again = STRBUF_INIT;
	struct gitstate goal;
	struct repo *repo;

	sh("cd %s\n%s", name, script);
	repo = open_repo(name);
	read_state(&goal, repo);
	look(&before, name);
	sh("rm -rf kept && cp -a %s kept && rm -rf kept/.git && cd %s\n%s", name, name, damage);
	sh("cd %s && find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} + && cp -a ../kept/. .",
	   name);
	look(&again, name);
	if (!strcmp(before.buf, again.buf))
		fail_msg("%s: the damage did nothing", name);
	write_state(repo, &goal);
	look(&after, name);
	if (strcmp(before.buf, after.buf))
		fail_msg("%s: was\n%s\nis\n%s", name, before.buf, after.buf);
	/* A second time there is nothing left to do, and no harm. */
	write_state(repo, &goal);
	strbuf_reset(&after);
	look(&after, name);
	assert_string_equal(before.buf, after.buf);
	sh("cd %s && git fsck --strict && test ! -e .git/index.lock && test ! -e .git/index.checkpoint",
	   name);
	gitstate_release(&goal);
	repo_free(repo);
	strbuf_release(&before);
	strbuf_release(&after);
	strbuf_release(&again);
}

/* Three commits on main, two on side, one of which conflicts. */
#define PROJECT                                                                                   \
	"git init -q -b main %s && cd %s && for i in 1 2 3; do echo $i >a; echo $i >f$i; "         \
	"mkdir -p d; echo $i >d/$i; git add .; git commit -q -m $i; done; "                        \
	"git checkout -q -b side HEAD~1; echo side >a; git commit -q -a -m s1; echo s >s; "        \
	"git add s; git commit -q -m s2; git checkout -q main"

static const struct {
	const char *name, *init, *setup;
} kinds[] = {
	{ "plain", "", "" },
	{ "sha256", "--object-format=sha256", "" },
	{ "v4", "", "git update-index --index-version 4" },
	{ "split", "", "git config core.splitIndex true; git update-index --split-index" },
};

static void test_gitwrite_index(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *name = kinds[i].name;

		sh("git init -q -b main %s %s && cd %s && for i in 1 2 3; do echo $i >a; echo $i "
		   ">f$i; mkdir -p d; echo $i >d/$i; git add .; git commit -q -m $i; done; %s",
		   kinds[i].init, name, name, kinds[i].setup);
		round_trip(name,
			   "echo x >a; git add a; git rm -q --cached f1; git mv d/1 d.x; echo n >n;"
			   "git add -N n; git update-index --assume-unchanged f2;"
			   "git update-index --skip-worktree f3; chmod +x d/2; git add d/2;"
			   "printf 'odd\n' >\"$(printf 'o\\nd\\377')\"; git add .",
			   "git update-index --no-assume-unchanged f2;"
			   "git update-index --no-skip-worktree f3; git reset -q --hard HEAD~1");
		/* What git has flags of now comes back without. */
		round_trip(name, "git reset -q --hard; : >empty; git add empty; git commit -q -m empty",
			   "git rm -q --cached empty; git add -N empty; git update-index "
			   "--assume-unchanged a; git update-index --skip-worktree f2");
		round_trip(name, "git rm -q --cached a d/2; chmod +x a; ln -s a l; git add -N a d/2 l",
			   "git reset -q --hard");
		/* A directory in the place of a file, and an empty index. */
		round_trip(name, "git reset -q --hard; rm a; mkdir a; echo b >a/b; git add -A",
			   "git reset -q --hard; git commit -q --allow-empty -m more");
		round_trip(name, "git rm -rqf --cached .", "git reset -q");
	}
	assert_string_equal(line_of("od -An -tx1 -j4 -N4 v4/.git/index"), " 00 00 00 04");
}

static void test_gitwrite_a_conflict_and_its_resolution(void **state)
{
	(void)state;
	sh(PROJECT, "conflict", "conflict");
	round_trip("conflict", "! git merge side", "git merge --abort");
	round_trip("conflict", "echo done >a; git add a", "git merge --abort");
	sh("cd conflict && git commit -q -m merged && git diff --exit-code HEAD -- s");
}

static void test_gitwrite_operations_go_on(void **state)
{
	(void)state;
	sh(PROJECT, "rebase", "rebase");
	round_trip("rebase", "git checkout -q side; ! git rebase main",
		   "echo 1 >a; git add a; GIT_EDITOR=true git rebase --continue");
	sh("cd rebase && echo 1 >a && git add a && GIT_EDITOR=true git rebase --continue");
	assert_string_equal(line_of("git -C rebase log --format=%%s -3 side | tr '\\n' ' '"), "s2 s1 3 ");
	round_trip("rebase", "git reset -q --hard main; git reset -q --hard ORIG_HEAD~2;"
			     "git branch -f other 'side@{2}' 2>/dev/null; git checkout -q main;"
			     "! git cherry-pick side@{4} 2>/dev/null || git cherry-pick --quit; :",
		   "git checkout -q --detach HEAD~1");
	sh(PROJECT, "apply", "apply");
	round_trip("apply", "git checkout -q side; ! git rebase --apply main", "git rebase --abort");
	sh("cd apply && git rebase --abort && test \"$(git log -1 --format=%%s)\" = s2");
	sh(PROJECT, "pick", "pick");
	round_trip("pick", "! git cherry-pick side~1 side", "git cherry-pick --abort");
	sh("cd pick && echo p >a && git add a && GIT_EDITOR=true git cherry-pick --continue && test -f s");
	sh(PROJECT, "revert", "revert");
	round_trip("revert", "echo 9 >a; git commit -qam 9; ! git revert HEAD~1", "git revert --quit; git reset -q --hard");
	sh("cd revert && git revert --abort");
	sh(PROJECT, "bisect", "bisect");
	round_trip("bisect", "git bisect start; git bisect bad; git bisect good HEAD~2",
		   "git bisect reset");
	sh("cd bisect && git bisect good | grep -q 'first bad commit' && git bisect reset");
	sh(PROJECT, "am", "am");
	round_trip("am", "git format-patch -q -2 side -o ../patches; ! git am ../patches/*",
		   "git am --abort");
	sh("cd am && git am --abort && git diff --exit-code HEAD");
}

static void test_gitwrite_puts_an_operation_away(void **state)
{
	(void)state;
	sh(PROJECT, "quiet", "quiet");
	round_trip("quiet", ":", "git checkout -q side; ! git rebase main");
	sh("cd quiet && test ! -e .git/rebase-merge && test -z \"$(git for-each-ref refs/rewritten)\"");
	round_trip("quiet", ":", "git bisect start; git bisect bad; git bisect good HEAD~2");
	round_trip("quiet", ":", "! git merge side");
	round_trip("quiet", ":", "! git cherry-pick side~1 side");
	sh("cd quiet && test -z \"$(git stash list)\"");
}

static void test_gitwrite_moves_branches(void **state)
{
	(void)state;
	sh(PROJECT, "moves", "moves");
	round_trip("moves", ":", "git reset -q --hard HEAD~2");
	assert_string_equal(line_of("git -C moves log -g -1 --format=%%gs main"),
			    "checkpoint: restore chk_1");
	assert_string_equal(line_of("git -C moves log -g -1 --format=%%gs HEAD"),
			    "checkpoint: restore chk_1");
	round_trip("moves", "git checkout -q side", "git checkout -q main; git branch -q -D side");
	round_trip("moves", "git checkout -q --detach side", "git checkout -q main");
	round_trip("moves", "git checkout -q -b feature/x", "git checkout -q main; git branch -m feature/x y");
	round_trip("moves", "git checkout -q --orphan new; git rm -rqf .",
		   "git commit -q --allow-empty -m new");
	round_trip("moves", "git checkout -q -f main; git pack-refs --all", "git commit -q --allow-empty -m more");
	assert_string_equal(line_of("git -C moves log -g -1 --format=%%gn main"), "A");
}

static void expect_refused(const char *path, unsigned mode)
{
	struct gitstate goal;
	struct repo *repo = open_repo("paths");
	bool same;

	read_state(&goal, repo);
	gitstate_add_entry(&goal, path, mode, goal.head, 0, 0);
	sh("cp paths/.git/index index.old");
	assert_int_not_equal(gitwrite_index_lock(the_store(), repo, &goal), 0);
	assert_int_equal(gitwrite_index_is(&same, repo, &goal), CKPT_EREFUSED);
	sh("cmp index.old paths/.git/index; test ! -e paths/.git/index.lock;"
	   "test ! -e paths/.git/index.checkpoint");
	gitstate_release(&goal);
	repo_free(repo);
}

/* Names that git itself would not take. */
static void test_gitwrite_refuses_paths_of_others(void **state)
{
	(void)state;
	sh(PROJECT, "paths", "paths");
	expect_refused(".git/hooks/post-checkout", 0100755);
	expect_refused("../other", 0100644);
	expect_refused("d/../../other", 0100644);
	expect_refused("d/.GIT/config", 0100644);
	sh("cd paths && tree=$(printf '040000 tree %%s\t.git\n' $(git rev-parse HEAD^{tree}) | "
	   "git mktree) && git update-ref refs/hostile $(git commit-tree -m x $tree)");
	{
		struct gitstate goal;
		struct repo *repo = open_repo("paths");

		read_state(&goal, repo);
		free(goal.head_tree);
		goal.head_tree = xstrdup(line_of("git -C paths rev-parse refs/hostile^{tree}"));
		assert_int_not_equal(gitwrite_index_lock(the_store(), repo, &goal), 0);
		gitstate_release(&goal);
		repo_free(repo);
	}
}

/* No hook runs, and a lock of somebody else stops it. */
static void test_gitwrite_runs_no_hook_and_respects_locks(void **state)
{
	struct gitstate goal;
	struct repo *repo;
	char *lock;

	(void)state;
	sh(PROJECT, "hooks", "hooks");
	sh("cd hooks; git checkout -q side; echo x >a; git add a");
	repo = open_repo("hooks");
	read_state(&goal, repo);
	sh("cd hooks; git reset -q --hard; git checkout -q main; for h in reference-transaction "
	   "post-checkout post-index-change; do printf '#!/bin/sh\ntouch \"%%s/ran\"\n' "
	   "\"$PWD\" >.git/hooks/$h; chmod +x .git/hooks/$h; done; printf '* filter=f\n' "
	   ">.git/info/attributes; git config filter.f.clean \"touch $PWD/ran; cat\";"
	   "touch a; git update-index -q --refresh; git add a; test -e ran; rm -f ran");
	write_state(repo, &goal);
	assert_false(is_there("hooks/ran"));
	sh("cp hooks/.git/index index.old; echo mine >hooks/.git/index.lock");
	lock = gitwrite_find_lock(repo, NULL, false);
	assert_string_equal(lock, in_scratch("hooks/.git/index.lock"));
	free(lock);
	assert_int_equal(gitwrite_index_lock(the_store(), repo, &goal), CKPT_EREFUSED);
	gitwrite_remove_own(repo, NULL, false, 0);
	sh("grep -qx mine hooks/.git/index.lock; cmp index.old hooks/.git/index;"
	   "test ! -e hooks/.git/index.checkpoint; rm hooks/.git/index.lock");
	/* Our own one is known. */
	assert_int_equal(gitwrite_index_lock(the_store(), repo, &goal), 0);
	gitwrite_remove_own(repo, NULL, false, 0);
	assert_null(gitwrite_find_lock(repo, NULL, false));
	assert_int_equal(gitwrite_index_lock(the_store(), repo, &goal), 0);
	assert_int_equal(gitwrite_index_lock(the_store(), repo, &goal), 0);
	assert_int_equal(gitwrite_index_place(repo), 0);
	gitstate_release(&goal);
	repo_free(repo);
}

static void test_gitwrite_checks_old_values(void **state)
{
	struct gitwrite_refs refs = { 0 };
	struct gitstate now;
	struct repo *repo;

	(void)state;
	sh(PROJECT, "old", "old");
	repo = open_repo("old");
	read_state(&now, repo);
	gitwrite_refs_add(&refs, "refs/heads/main", now.head, NULL);
	free(refs.items[0].old);
	refs.items[0].old = xstrdup(line_of("git -C old rev-parse side"));
	gitwrite_refs_add(&refs, "refs/heads/new", NULL, now.head);
	refs.items[0].new = xstrdup(line_of("git -C old rev-parse side~1"));
	assert_int_not_equal(gitwrite_move(&(struct gitwrite){ repo, "m" }, &refs, now.ref, NULL, &now), 0);
	assert_non_null(strstr(ckpt_error_last(), "refs/heads/main"));
	/* All or nothing. */
	sh("cd old && ! git rev-parse -q --verify new && test \"$(git log -1 --format=%%s)\" = 3");
	gitwrite_refs_release(&refs);
	gitstate_release(&now);
	repo_free(repo);
}

static void test_gitwrite_config(void **state)
{
	struct strlist lines = STRLIST_INIT;
	struct gitwrite how = { NULL, "m" };
	struct repo *repo;

	(void)state;
	sh(PROJECT, "config", "config");
	how.repo = repo = open_repo("config");
	sh("cp config/.git/config config.old");
	strlist_add(&lines, "branch.a=b.c.merge=refs/heads/v1.2=x");
	strlist_add(&lines, "branch.a=b.c.remote=origin");
	strlist_add(&lines, "branch.a=b.c.remote=other");
	strlist_add(&lines, "core.fsmonitor=evil");
	for (int i = 0; i < 2; i++)
		expect_done(gitwrite_config(&how, "a=b.c", &lines, true), "config");
	assert_string_equal(line_of("git -C config config branch.a=b.c.merge"), "refs/heads/v1.2=x");
	assert_string_equal(line_of("git -C config config --get-all branch.a=b.c.remote | tr '\\n' ' '"),
			    "origin other ");
	assert_string_equal(line_of("git -C config config core.fsmonitor"), "");
	for (int i = 0; i < 2; i++)
		expect_done(gitwrite_config(&how, "a=b.c", &lines, false), "config");
	sh("cmp config/.git/config config.old");
	strlist_release(&lines);
	repo_free(repo);
}

static int give_blob(struct strbuf *out, const char *oid, void *payload)
{
	(void)oid;
	strbuf_addstr(out, payload);
	return 0;
}

static void test_gitwrite_objects(void **state)
{
	struct strlist oids = STRLIST_INIT, missing = STRLIST_INIT;
	struct gitwrite how = { NULL, "m" };
	struct repo *repo;

	(void)state;
	sh(PROJECT, "objects", "objects");
	how.repo = repo = open_repo("objects");
	strlist_add(&oids, line_of("echo new | git -C objects hash-object --stdin"));
	assert_int_equal(gitwrite_missing(&missing, repo, &oids), 0);
	assert_int_equal(missing.nr, 1);
	strlist_release(&missing);
	assert_int_equal(gitwrite_blobs(&how, &oids, give_blob, "other\n"), CKPT_ECORRUPT);
	expect_done(gitwrite_blobs(&how, &oids, give_blob, "new\n"), "blobs");
	assert_string_equal(line_of("git -C objects cat-file blob %s", oids.items[0]), "new");
	expect_done(gitwrite_missing(&missing, repo, &oids), "missing");
	assert_int_equal(missing.nr, 0);
	sh("cd objects && git for-each-ref | grep -c . | grep -qx 2; git fsck");
	strlist_release(&oids);
	repo_free(repo);
}

static void test_gitwrite_knows_what_belongs_to_an_operation(void **state)
{
	static const char *const yes[] = { "MERGE_HEAD", "rebase-merge/done", "rebase-merge/a/b",
					   "sequencer/todo", "BISECT_LOG" };
	static const char *const no[] = { "",		 "config",	 "hooks/pre-commit",
					  "rebase-merge", "../MERGE_HEAD", "rebase-merge/../config",
					  "rebase-merge//x", "rebase-merge/", "/MERGE_HEAD", "HEAD",
					  "BISECT_LOG/x", "index" };
	static const char *const refs[] = { "refs/bisect/bad", "refs/rewritten/x", "ORIG_HEAD",
					    "CHERRY_PICK_HEAD" };
	static const char *const no_refs[] = { "refs/heads/main", "HEAD", "refs/stash", "",
					       "refs/bisect/../heads/x", "refs/bisect/a b",
					       "refs/bisect/a\nb" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(gitstate_is_operation_file(yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (gitstate_is_operation_file(no[i]))
			fail_msg("%s", no[i]);
	for (size_t i = 0; i < ARRAY_SIZE(refs); i++)
		assert_true(gitstate_is_operation_ref(refs[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no_refs); i++)
		if (gitstate_is_operation_ref(no_refs[i]))
			fail_msg("%s", no_refs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gitwrite_index),
		cmocka_unit_test(test_gitwrite_a_conflict_and_its_resolution),
		cmocka_unit_test(test_gitwrite_operations_go_on),
		cmocka_unit_test(test_gitwrite_puts_an_operation_away),
		cmocka_unit_test(test_gitwrite_moves_branches),
		cmocka_unit_test(test_gitwrite_refuses_paths_of_others),
		cmocka_unit_test(test_gitwrite_runs_no_hook_and_respects_locks),
		cmocka_unit_test(test_gitwrite_checks_old_values),
		cmocka_unit_test(test_gitwrite_config),
		cmocka_unit_test(test_gitwrite_objects),
		cmocka_unit_test(test_gitwrite_knows_what_belongs_to_an_operation),
	};

	return cmocka_run_group_tests_name("gitwrite", tests, unit_setup, unit_teardown);
}
