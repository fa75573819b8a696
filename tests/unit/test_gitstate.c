/* SPDX-License-Identifier: MIT */
/* The state of repositories in all kinds of trouble, compared with what stock git says. */
#include "gitstateprobe.h"

#include "base/clock.h"
#include "base/fs.h"

static void make_repo(const char *init_options)
{
	static int nr;

	sh("git init -q -b main %s '%s'", init_options, in_scratch("r%d", ++nr));
	assert_int_equal(chdir(in_scratch("r%d", nr)), 0);
	sh("mkdir -p d.1/e2 ab && for f in f1 f2 d.1/e2/g3 d.1/h5 ab/c2 ab/c3 ab.c zz 'n x'; do "
	   "echo \"$f\" >\"$f\"; done && chmod +x f2 && ln -s f1 link && git add . && git commit -q -m one");
}

static void read_here(struct gitstate *state)
{
	struct repo *repo = probe_repo();

	if (gitstate_read(state, repo))
		fail_msg("%s", ckpt_error_last());
	repo_free(repo);
}

/* Reads it, compares all of it, and checks that nothing was written. The caller releases it. */
static void assert_like_git(struct gitstate *state)
{
	struct strbuf ours = STRBUF_INIT, gits = STRBUF_INIT, before = STRBUF_INIT, after = STRBUF_INIT;

	show_gitdir(&before);
	read_here(state);
	show_gitdir(&after);
	assert_string_equal(before.buf, after.buf);
	show_index(&ours, state);
	show_refs(&ours, state);
	show_index_of_git(&gits);
	show_refs_of_git(&gits);
	put_text(in_scratch("ours"), ours.buf);
	put_text(in_scratch("gits"), gits.buf);
	sh("diff '%s' '%s'", in_scratch("ours"), in_scratch("gits"));
	strbuf_release(&ours);
	strbuf_release(&gits);
	strbuf_release(&before);
	strbuf_release(&after);
}

static void like_git(void)
{
	struct gitstate state;

	assert_like_git(&state);
	gitstate_release(&state);
}

static size_t entries_here(void)
{
	struct gitstate state;
	size_t nr;

	assert_like_git(&state);
	nr = state.entries_nr;
	gitstate_release(&state);
	return nr;
}

/* One after the other, so that later ones stand on what earlier ones left. */
static void stage_all_kinds(void)
{
	assert_int_equal(entries_here(), 0);
	sh("echo more >>f1 && git add f1 && echo unstaged >>f1");
	assert_int_equal(entries_here(), 1);
	sh("echo new >ab/new && git add ab/new && echo later >later && git add -N later");
	assert_int_equal(entries_here(), 3);
	sh("git rm -q --cached zz && chmod +x ab.c && git add ab.c && ln -sf f2 link && git add link");
	assert_int_equal(entries_here(), 6);
	sh("git update-index --skip-worktree d.1/h5 && git update-index --assume-unchanged ab/c2");
	assert_int_equal(entries_here(), 8);
	sh("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub");
	assert_int_equal(entries_here(), 9);
	sh("git rm -q --cached d.1/e2/g3 && mkdir -p zz.d && echo >zz.d/1 && git add zz.d &&"
	   "rm -f f2 && mkdir f2 && echo in >f2/in && git add -A f2");
	like_git();
	sh("git commit -q -m 'all of it' && git update-index --no-skip-worktree d.1/h5");
	assert_int_equal(entries_here(), 2);
	sh("git update-index --no-assume-unchanged ab/c2");
}

static void conflict_all_kinds(void)
{
	struct gitstate state;

	sh("git checkout -q -f main && git reset -q --hard && git clean -qfdx && git branch -f start &&"
	   "git checkout -q -b theirs && echo t >ab/c3 && echo t >ab.c && git rm -q d.1/h5 && echo t >both &&"
	   "git add . && git commit -q -m theirs && git checkout -q main && echo m >ab/c3 && git rm -q ab.c &&"
	   "echo m >d.1/h5 && echo m >both && git add . && git commit -q -m mine &&"
	   "! git merge -q theirs");
	assert_like_git(&state);
	assert_string_equal(state.operation, "merge");
	assert_true(state.entries_nr > 8);
	gitstate_release(&state);
	sh("echo r >ab/c3 && git add ab/c3 && git rm -q ab.c");
	assert_like_git(&state);
	gitstate_release(&state);
	sh("git add . && git commit -q -m merged");
	assert_int_equal(entries_here(), 0);
}

static void test_gitstate_versions(void **unused)
{
	(void)unused;
	for (int version = 2; version <= 4; version++) {
		make_repo("");
		sh("git config index.version %d && git update-index --index-version %d", version, version);
		stage_all_kinds();
		conflict_all_kinds();
	}
}

static void test_gitstate_sha256(void **unused)
{
	(void)unused;
	make_repo("--object-format=sha256");
	stage_all_kinds();
	conflict_all_kinds();
}

static void test_gitstate_split(void **unused)
{
	(void)unused;
	make_repo("");
	sh("git config core.splitIndex true && git config splitIndex.maxPercentChange 100 &&"
	   "git update-index --split-index");
	stage_all_kinds();
	conflict_all_kinds();
	sh("ls .git | grep -q sharedindex");
}

static void test_gitstate_sparse(void **unused)
{
	struct gitstate state;

	(void)unused;
	make_repo("");
	sh("git sparse-checkout init --cone --sparse-index && git sparse-checkout set ab");
	assert_int_equal(entries_here(), 2);
	sh("echo more >>ab/c2 && echo n >ab/n && git add ab");
	assert_int_equal(entries_here(), 4);
	read_here(&state);
	assert_string_equal(state.entries[2].path, "d.1/e2/g3");
	assert_int_equal(state.entries[2].flags, GITINDEX_SKIP_WORKTREE | GITSTATE_AS_HEAD);
	gitstate_release(&state);
}

static void test_gitstate_unborn_and_detached(void **unused)
{
	struct gitstate state;

	(void)unused;
	sh("git init -q -b begin '%s'", in_scratch("unborn"));
	assert_int_equal(chdir(in_scratch("unborn")), 0);
	assert_like_git(&state);
	assert_null(state.head);
	assert_null(state.head_tree);
	assert_string_equal(state.ref, "refs/heads/begin");
	assert_int_equal(state.entries_nr, 0);
	gitstate_release(&state);
	sh("echo 1 >a && git add a && echo 2 >b && git add -N b");
	assert_int_equal(entries_here(), 2);
	sh("git commit -q -m 1 && git checkout -q --detach");
	assert_like_git(&state);
	assert_null(state.ref);
	assert_non_null(state.head);
	gitstate_release(&state);
	sh("rm .git/index");
	assert_int_equal(entries_here(), 1);
}

/* A branch that cannot be read must not pass for an unborn one, which a restore would delete. */
static void test_gitstate_broken_is_not_unborn(void **unused)
{
	struct repo *repo;
	struct gitstate state;

	(void)unused;
	make_repo("");
	repo = probe_repo();
	sh("echo garbage >.git/refs/heads/main");
	assert_int_not_equal(gitstate_read(&state, repo), 0);
	assert_null(state.ref);
	sh("rm .git/refs/heads/main && mkdir .git/refs/heads/main");
	assert_int_equal(gitstate_read(&state, repo), 0);
	gitstate_release(&state);
	sh("rm .git/HEAD && echo nonsense >.git/HEAD");
	assert_int_not_equal(gitstate_read(&state, repo), 0);
	repo_free(repo);
}

static void test_gitstate_branches_and_stashes(void **unused)
{
	struct gitstate state;

	(void)unused;
	make_repo("");
	sh("git branch a/b && git branch z && git pack-refs --all && git branch loose && git tag no &&"
	   "git update-ref refs/remotes/o/no HEAD && git branch -D -q z &&"
	   "for n in 1 2 3; do echo $n >>f1 && git stash push -q -m \"stash $n: x\"; done && git stash drop -q 1 &&"
	   "echo 4 >>f1 && git stash -q");
	assert_like_git(&state);
	assert_int_equal(state.branches_nr, 3);
	assert_int_equal(state.stashes_nr, 3);
	assert_string_equal(state.stashes[1].note, "On main: stash 3: x");
	gitstate_release(&state);
	sh("rm -r .git/logs");
	read_here(&state);
	assert_int_equal(state.stashes_nr, 1);
	gitstate_release(&state);
}

static const char *file_of(const struct gitstate *state, const char *path)
{
	for (size_t i = 0; i < state->files_nr; i++)
		if (!strcmp(state->files[i].path, path))
			return state->files[i].data;
	return NULL;
}

/* main and side differ in f1 in each of three commits. */
static void make_sides(const char *options)
{
	make_repo(options);
	sh("git checkout -q -b side && for n in 1 2 3; do echo side$n >f1 && git commit -q -a -m side$n; done &&"
	   "git checkout -q main && echo main >f1 && git commit -q -a -m main");
}

static void test_gitstate_rebase(void **unused)
{
	static const char *const backends[] = { "merge", "apply" };

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		struct gitstate state;
		char *path = xstrfmt("rebase-%s/head-name", backends[i]);

		make_sides("");
		sh("git config branch.side.remote 'o r' && git config branch.side.merge refs/heads/x &&"
		   "git config --add branch.side.merge refs/heads/y && git config branch.main.remote no &&"
		   "git config rebase.autoStash true && git checkout -q side && echo put aside >zz &&"
		   "! git rebase -q --%s main", backends[i]);
		assert_like_git(&state);
		assert_string_equal(state.operation, "rebase");
		assert_int_equal(state.step, 1);
		assert_int_equal(state.total, 3);
		assert_string_equal(file_of(&state, path), "refs/heads/side\n");
		assert_string_equal(state.autostash, line_of("cat .git/rebase-%s/autostash", backends[i]));
		assert_int_equal(state.branch_config.nr, 3);
		assert_string_equal(state.branch_config.items[2], "branch.side.merge=refs/heads/y");
		gitstate_release(&state);
		free(path);
		sh("git rebase --abort");
		assert_like_git(&state);
		assert_null(state.operation);
		assert_null(state.autostash);
		assert_int_equal(state.branch_config.nr, 3);
		assert_null(file_of(&state, "rebase-merge/onto"));
		gitstate_release(&state);
	}
}

static void in_progress(const char *operation, const char *has_file, const char *has_ref)
{
	struct gitstate state;
	bool found = !has_ref;

	assert_like_git(&state);
	assert_string_equal(state.operation, operation);
	if (has_file)
		assert_non_null(file_of(&state, has_file));
	for (size_t i = 0; i < state.private_refs_nr; i++)
		found |= has_ref && !strcmp(state.private_refs[i].name, has_ref);
	if (!found)
		fail_msg("%s: no %s", operation, has_ref);
	gitstate_release(&state);
}

static void all_operations(const char *options)
{
	make_sides(options);
	sh("! git merge -q side");
	in_progress("merge", "MERGE_HEAD", NULL);
	sh("git reset -q --hard && ! git cherry-pick side");
	in_progress("cherry-pick", "MERGE_MSG", "CHERRY_PICK_HEAD");
	sh("git cherry-pick --abort && ! git cherry-pick side~2..side");
	in_progress("cherry-pick", "sequencer/todo", "CHERRY_PICK_HEAD");
	sh("git cherry-pick --abort && git checkout -q side && ! git revert --no-edit side~1");
	in_progress("revert", NULL, "REVERT_HEAD");
	sh("git revert --abort && git format-patch -q -o .git/p side~1..side && git checkout -q main &&"
	   "! git am -q .git/p/*");
	in_progress("am", "rebase-apply/0001", NULL);
	sh("git am --abort && git checkout -q side && git bisect start side side~3");
	in_progress("bisect", "BISECT_LOG", "refs/bisect/bad");
	sh("git bisect reset && git checkout -q -b topic side~2 && ! git rebase -q -r main");
	in_progress("rebase", "rebase-merge/git-rebase-todo", "ORIG_HEAD");
	sh("git rebase --abort && git update-ref refs/worktree/mine HEAD && git update-ref refs/rewritten/onto HEAD &&"
	   "! git cherry-pick main");
	in_progress("cherry-pick", NULL, "refs/worktree/mine");
}

static void test_gitstate_operations(void **unused)
{
	(void)unused;
	all_operations("");
	all_operations("--object-format=sha256");
}

static void test_gitstate_reftable(void **unused)
{
	struct gitstate state;

	(void)unused;
	if (!*line_of("git init -q --ref-format=reftable '%s' && echo yes", in_scratch("try"))) {
		print_message("# this git does not know reftables\n");
		skip();
	}
	all_operations("--ref-format=reftable");
	make_repo("--ref-format=reftable");
	stage_all_kinds();
	conflict_all_kinds();
	sh("git branch a/b && for n in 1 2; do echo $n >>f1 && git stash push -q -m \"stash $n\"; done");
	assert_like_git(&state);
	assert_int_equal(state.stashes_nr, 2);
	gitstate_release(&state);
	sh("git checkout -q --detach");
	like_git();
	sh("git checkout -q --orphan none");
	like_git();
}

static void test_gitstate_linked_worktree(void **unused)
{
	struct gitstate state;

	(void)unused;
	make_sides("");
	sh("git worktree add -q '%s' side", in_scratch("linked"));
	assert_int_equal(chdir(in_scratch("linked")), 0);
	sh("echo l >>zz && git add zz && ! git cherry-pick --no-commit main");
	assert_like_git(&state);
	assert_string_equal(state.ref, "refs/heads/side");
	gitstate_release(&state);
	sh("git reset -q --hard && git bisect start side side~3");
	in_progress("bisect", "BISECT_LOG", "refs/bisect/bad");
}

/* What a repository of somebody else may have in place of a file. */
static void test_gitstate_hostile(void **unused)
{
	struct repo *repo;
	struct gitstate state;

	(void)unused;
	make_sides("");
	sh("! git merge -q side && rm .git/MERGE_MSG && ln -s /etc/passwd .git/MERGE_MSG &&"
	   "mkdir -p .git/sequencer && ln -s /etc .git/sequencer/etc");
	read_here(&state);
	assert_null(file_of(&state, "MERGE_MSG"));
	assert_null(file_of(&state, "sequencer/etc/passwd"));
	gitstate_release(&state);
	repo = probe_repo();
	/* Paths that lead out of the worktree, or into the git directory. */
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "../x", "a/./x", "a/.git/x", "a//xy" };
		struct strbuf index = STRBUF_INIT;
		char *at;

		sh("rm -f .git/index && git read-tree --empty && git update-index --add --cacheinfo "
		   "100644,$(git rev-parse HEAD:f1),%.*s", (int)strlen(names[i]), "kkkkkkkkkkk");
		get_bytes(&index, ".git/index");
		at = memmem(index.buf, index.len, "kkkk", 4);
		memcpy(at, names[i], strlen(names[i]));
		sh("cp .git/index .git/kept && rm .git/index");
		put_bytes(".git/index", index.buf, index.len);
		assert_int_equal(gitstate_read(&state, repo), CKPT_ECORRUPT);
		strbuf_release(&index);
	}
	/* git would wait for ever. */
	sh("rm .git/index && mkfifo .git/refs/heads/block");
	assert_int_equal(gitstate_read(&state, repo), CKPT_ERROR);
	sh("rm .git/refs/heads/block && mkfifo .git/sequencer/todo");
	assert_int_equal(gitstate_read(&state, repo), CKPT_ERROR);
	repo_free(repo);
}

/* Not for ever, and not again for each question. */
static void test_gitstate_a_git_that_hangs(void **unused)
{
	char *path = xstrdup(getenv("PATH")), *changed = xstrfmt("%s:%s", in_scratch("hung"), path);
	struct strbuf stat = STRBUF_INIT;
	struct gitstate state;
	struct repo *repo;

	(void)unused;
	make_repo("");
	repo = probe_repo();
	sh("mkdir '%s' && printf '#!/bin/sh\nexec sleep 1000\n' >'%s/git' && chmod +x '%s/git'",
	   in_scratch("hung"), in_scratch("hung"), in_scratch("hung"));
	setenv("PATH", changed, 1);
	assert_int_equal(gitstate_read_noted(&state, &stat, repo, clock_monotonic() + 0.5), CKPT_ELOCKED);
	assert_non_null(strstr(ckpt_error_last(), "did not answer in time"));
	setenv("PATH", path, 1);
	assert_int_equal(gitstate_read_noted(&state, &stat, repo, clock_monotonic() + 60), 0);
	gitstate_release(&state);
	strbuf_release(&stat);
	free(path);
	free(changed);
	repo_free(repo);
}

/* Each of these must be seen by the stat data alone. */
static void test_gitstate_changes_are_seen(void **unused)
{
	static const char *const changes[] = {
		"echo more >>f1 && git add f1",
		"git commit -q -m more",
		"git branch other",
		"git branch -f other HEAD~1",
		"git branch -m other a/b/c",
		"git branch -d -q a/b/c",
		"git checkout -q -b next",
		"git checkout -q --detach",
		"git checkout -q main",
		"git pack-refs --all",
		"git branch -D -q next",
		"echo x >>zz && git stash -q",
		"echo y >>zz && git stash -q",
		"git stash drop -q 1",
		"git update-index --skip-worktree zz",
		"git config branch.main.remote x",
		"! git merge -q side",
		"git add f1",
		"git merge --abort",
		"! git rebase -q side",
		"git rebase --abort",
		"git bisect start",
		"git bisect bad",
		"git bisect reset",
		"git update-index --split-index",
		"echo z >>ab/c2 && git add ab/c2",
		"git symbolic-ref HEAD refs/heads/unborn",
	};
	struct repo *repo;
	struct strbuf stat = STRBUF_INIT;
	struct gitstate state;

	(void)unused;
	make_sides("");
	repo = probe_repo();
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		/* Until what was just changed is old enough. */
		do {
			strbuf_reset(&stat);
			assert_int_equal(gitstate_read_noted(&state, &stat, repo, 0), 0);
			gitstate_release(&state);
		} while (!stat.len);
		assert_true(gitstate_is_same(stat.buf, stat.len, repo));
		sh("%s", changes[i]);
		if (gitstate_is_same(stat.buf, stat.len, repo))
			fail_msg("not seen: %s", changes[i]);
	}
	strbuf_release(&stat);
	repo_free(repo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gitstate_versions),
		cmocka_unit_test(test_gitstate_sha256),
		cmocka_unit_test(test_gitstate_split),
		cmocka_unit_test(test_gitstate_sparse),
		cmocka_unit_test(test_gitstate_unborn_and_detached),
		cmocka_unit_test(test_gitstate_broken_is_not_unborn),
		cmocka_unit_test(test_gitstate_branches_and_stashes),
		cmocka_unit_test(test_gitstate_rebase),
		cmocka_unit_test(test_gitstate_operations),
		cmocka_unit_test(test_gitstate_reftable),
		cmocka_unit_test(test_gitstate_linked_worktree),
		cmocka_unit_test(test_gitstate_hostile),
		cmocka_unit_test(test_gitstate_changes_are_seen),
		cmocka_unit_test(test_gitstate_a_git_that_hangs),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
