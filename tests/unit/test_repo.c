/* SPDX-License-Identifier: MIT */
#include "git/repo.h"

#include "base/env.h"
#include "base/error.h"

#include "unit.h"

/*
 * What git itself says is the reference. Each probe runs in a child, since the
 * environment is scrubbed once per process.
 */

struct answer {
	int rc;
	bool sha256;
	char worktree[1024], gitdir[1024], commondir[1024], error[1024];
	char head[128], branch[256], operation[64];
};

/* The first line that a command prints in a directory of the scratch one, "" if it fails. */
static const char *said(const char *dir, const char *command)
{
	return line_of("cd '%s' && %s", dir, command);
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void fill(struct answer *answer, struct repo *repo)
{
	struct repo_state state;

	copy(answer->worktree, sizeof(answer->worktree), repo->worktree);
	copy(answer->gitdir, sizeof(answer->gitdir), repo->gitdir);
	copy(answer->commondir, sizeof(answer->commondir), repo->commondir);
	answer->sha256 = repo->sha256;
	if (repo_read_state(&state, repo))
		_exit(3);
	copy(answer->head, sizeof(answer->head), state.head);
	copy(answer->branch, sizeof(answer->branch), state.branch);
	copy(answer->operation, sizeof(answer->operation), state.operation);
	repo_state_release(&state);
	repo_free(repo);
}

struct question {
	const char *dir, *git_dir, *work_tree, *at;
};

static void answer_question(FILE *out, const void *arg)
{
	const struct question *question = arg;
	struct answer answer = { 0 };
	struct repo *repo = NULL;

	if (chdir(question->dir))
		_exit(2);
	if (question->git_dir)
		setenv("GIT_DIR", question->git_dir, 1);
	if (question->work_tree)
		setenv("GIT_WORK_TREE", question->work_tree, 1);
	env_scrub();
	answer.rc = question->at ? repo_open_at(&repo, question->at) : repo_discover(&repo);
	if (answer.rc)
		copy(answer.error, sizeof(answer.error), ckpt_error_last());
	else
		fill(&answer, repo);
	fwrite(&answer, sizeof(answer), 1, out);
}

/* repo_discover() in `dir` with these two variables, or repo_open_at() of `at`. */
static struct answer probe_with(const char *dir, const char *git_dir, const char *work_tree,
				const char *at)
{
	const struct question question = { dir, git_dir, work_tree, at };
	struct strbuf out = STRBUF_INIT;
	struct answer answer;

	in_child(&out, answer_question, &question);
	assert_int_equal(out.len, sizeof(answer));
	memcpy(&answer, out.buf, sizeof(answer));
	strbuf_release(&out);
	return answer;
}

static struct answer probe(const char *dir)
{
	return probe_with(dir, NULL, NULL, NULL);
}

static struct answer probe_at(const char *dir)
{
	return probe_with(".", NULL, NULL, in_scratch("%s", dir));
}

/* All that git and we both know about the repository around `dir`. */
static struct answer same_as_git(const char *dir)
{
	struct answer answer = probe(dir);

	if (answer.rc)
		fail_msg("%s: %s", dir, answer.error);
	assert_string_equal(answer.worktree, said(dir, "git rev-parse --show-toplevel"));
	assert_string_equal(answer.gitdir, said(dir, "git rev-parse --absolute-git-dir"));
	assert_string_equal(answer.commondir,
			    said(dir, "realpath $(git rev-parse --git-common-dir)"));
	assert_string_equal(answer.head, said(dir, "git rev-parse -q --verify HEAD"));
	assert_string_equal(answer.branch, said(dir, "git branch --show-current"));
	return answer;
}

static void refused(const char *dir, const char *sentence)
{
	struct answer answer = probe(dir);

	assert_int_equal(answer.rc, CKPT_ERROR);
	if (!strstr(answer.error, sentence))
		fail_msg("%s: '%s' instead of '%s'", dir, answer.error, sentence);
}

static void test_repo_plain(void **state)
{
	(void)state;
	assert_string_equal(same_as_git("r").branch, "main");
	same_as_git("r/sub/deep");
	sh("ln -s r/sub link");
	same_as_git("link");
	assert_int_equal(same_as_git("link/deep").sha256, false);
}

static void test_repo_not_found(void **state)
{
	struct answer answer;

	(void)state;
	sh("mkdir plain; mkdir -p hollow/.git/hooks hollow/x");
	answer = probe("plain");
	assert_int_equal(answer.rc, CKPT_ENOTFOUND);
	assert_int_equal(probe("hollow/x").rc, CKPT_ENOTFOUND);
	refused("hollow/.git/hooks", "inside a .git directory");
	/* A ".git" that is nothing does not hide the repository around it. */
	sh("mkdir -p r/hollow/.git");
	same_as_git("r/hollow");
}

static void test_repo_bare_and_inside_are_refused(void **state)
{
	(void)state;
	sh("git init --bare b.git; git clone --bare r c.git");
	refused("b.git", "this is a bare repository");
	refused("b.git/refs/heads", "this is a bare repository");
	refused("c.git/objects", "this is a bare repository");
	refused("r/.git", "inside a .git directory");
	refused("r/.git/refs/heads", "inside a .git directory");
	sh("git init dotbare; git -C dotbare config core.bare true; mkdir dotbare/x");
	refused("dotbare", "this is a bare repository");
	refused("dotbare/x", "this is a bare repository");
}

static void test_repo_linked_worktree(void **state)
{
	struct answer answer;

	(void)state;
	sh("git -C r worktree add -b side ../wt; mkdir wt/in");
	answer = same_as_git("wt/in");
	assert_string_equal(answer.branch, "side");
	assert_string_not_equal(answer.gitdir, answer.commondir);
	refused("r/.git/worktrees/wt", "inside a .git directory");
	/* The main repository may be bare, its linked worktrees are not. */
	sh("git clone --bare r hub.git; git -C hub.git worktree add ../hubwt main");
	same_as_git("hubwt");
	refused("hub.git/worktrees/hubwt", "inside the git directory");
	sh("git -C hub.git config extensions.worktreeConfig true;"
	   "git -C hub.git config --worktree core.bare true;"
	   "git -C hub.git config --unset core.bare");
	same_as_git("hubwt");
	refused("hub.git", "this is a bare repository");
}

static void test_repo_git_files(void **state)
{
	struct answer answer;

	(void)state;
	sh("git init --separate-git-dir=apart sep; git -C sep commit --allow-empty -m x");
	same_as_git("sep");
	refused("apart/hooks", "inside the git directory");
	sh("git init super; git -C super submodule add \"$PWD/r\" sm; git -C super commit -m sm");
	answer = same_as_git("super/sm/sub");
	assert_string_equal(answer.gitdir, in_scratch("super/.git/modules/sm"));
	refused("super/.git/modules/sm", "inside a .git directory");
	/* One that leads nowhere is said, as git does, instead of taking the project around it. */
	sh("mkdir r/lost; echo 'gitdir: ../gone' >r/lost/.git");
	refused("r/lost", "lost/.git' does not lead to a git repository");
	sh("echo nonsense >r/lost/.git");
	refused("r/lost", "does not lead to a git repository");
}

static void test_repo_core_worktree(void **state)
{
	struct answer answer;

	(void)state;
	sh("git init cw; mkdir -p cw/tree/in; git -C cw config core.worktree ../tree");
	same_as_git("cw/tree/in");
	answer = probe("cw");
	assert_int_equal(answer.rc, 0);
	assert_string_equal(answer.worktree, in_scratch("cw"));
	/* Not what is above, which nobody asked for, unless the environment says so. */
	sh("git init up/cw2; git -C up/cw2 config core.worktree ../..");
	refused("up/cw2", "core.worktree of the repository in");
	answer = probe_with("up/cw2", ".git", "..", NULL);
	assert_string_equal(answer.worktree, in_scratch("up"));
	sh("cd up/cw2; git config extensions.worktreeConfig true; git config --unset core.worktree;"
	   "git config --worktree core.worktree ../..");
	refused("up/cw2", "core.worktree of the repository in");
}

/* Who writes in ".git" may say where history is, but only git makes a worktree of a repository. */
static void test_repo_planted_commondir(void **state)
{
	(void)state;
	sh("git init victim; git init thief; echo ../../victim/.git >thief/.git/commondir;"
	   "mkdir dot; mkdir -p away; cp thief/.git/HEAD away; echo ../victim/.git >away/commondir;"
	   "echo 'gitdir: ../away' >dot/.git");
	refused("thief", "which has no such worktree");
	refused("dot", "which has no such worktree");
	assert_int_equal(probe_at("dot").rc, CKPT_ENOTFOUND);
}

static void test_repo_environment(void **state)
{
	const char *gitdir = in_scratch("r/.git"), *tree = in_scratch("elsewhere");
	struct answer answer;

	(void)state;
	sh("mkdir -p elsewhere/in; printf '%%s\\n' \"gitdir: $PWD/r/.git\" >pointer");
	answer = probe_with("elsewhere/in", "../../r/.git", "..", NULL);
	assert_int_equal(answer.rc, 0);
	assert_string_equal(answer.worktree, tree);
	assert_string_equal(answer.gitdir, gitdir);
	answer = probe_with("plain2", gitdir, tree, NULL);
	assert_string_equal(answer.worktree, tree);
	answer = probe_with(".", "pointer", "elsewhere", NULL);
	assert_string_equal(answer.gitdir, gitdir);
	/* One of them alone does not count. */
	assert_int_equal(probe_with("elsewhere", gitdir, NULL, NULL).rc, CKPT_ENOTFOUND);
	assert_int_equal(probe_with("elsewhere", NULL, tree, NULL).rc, CKPT_ENOTFOUND);
	assert_string_equal(probe_with("r/sub", "/nowhere", NULL, NULL).gitdir, gitdir);
	answer = probe_with("r", "/nowhere", tree, NULL);
	assert_int_equal(answer.rc, CKPT_ERROR);
	assert_non_null(strstr(answer.error, "GIT_DIR"));
	answer = probe_with("r", ".git", "/nowhere", NULL);
	assert_int_equal(answer.rc, CKPT_ERROR);
	assert_non_null(strstr(answer.error, "GIT_WORK_TREE"));
}

static void test_repo_open_at(void **state)
{
	struct answer answer;

	(void)state;
	sh("git init nest; git -C nest commit --allow-empty -m x; git init nest/inner;"
	   "git -C nest submodule add \"$PWD/r\" sm; git init --object-format=sha256 nest/s256;"
	   "mkdir -p nest/none nest/empty/.git nest/bad; echo x >nest/bad/.git;"
	   "mkdir -p nest/fifo; cp -a r/.git nest/fifo; rm nest/fifo/.git/HEAD;"
	   "mkfifo nest/fifo/.git/HEAD; git init nest/badconf; echo '[[[' >>nest/badconf/.git/config");
	answer = probe_at("nest/inner");
	assert_int_equal(answer.rc, 0);
	assert_string_equal(answer.worktree, in_scratch("nest/inner"));
	answer = probe_at("nest/sm");
	assert_string_equal(answer.gitdir, in_scratch("nest/.git/modules/sm"));
	assert_false(answer.sha256);
	assert_true(probe_at("nest/s256").sha256);
	assert_int_equal(probe_at("nest/badconf").rc, 0);
	assert_int_equal(probe_at("nest/none").rc, CKPT_ENOTFOUND);
	assert_int_equal(probe_at("nest/empty").rc, CKPT_ENOTFOUND);
	assert_int_equal(probe_at("nest/bad").rc, CKPT_ENOTFOUND);
	assert_int_equal(probe_at("nest/fifo").rc, CKPT_ENOTFOUND);
	assert_int_equal(probe("nest/badconf").rc, CKPT_ERROR);
}

static void test_repo_head(void **state)
{
	struct answer answer;

	(void)state;
	sh("git init unborn");
	answer = same_as_git("unborn");
	assert_string_equal(answer.head, "");
	assert_string_equal(answer.branch, "main");
	sh("git init --object-format=sha256 s256; git -C s256 commit --allow-empty -m x");
	answer = same_as_git("s256");
	assert_true(answer.sha256);
	assert_int_equal(strlen(answer.head), 64);
	sh("git clone r h; cd h; git checkout -b feature/one; git branch feature/onetwo HEAD~1;"
	   "git tag -a -m t feature/one");
	assert_string_equal(same_as_git("h").branch, "feature/one");
	sh("cd h; git pack-refs --all; test ! -e .git/refs/heads/feature/one");
	assert_string_equal(same_as_git("h").branch, "feature/one");
	sh("cd h; git checkout feature/onetwo");
	same_as_git("h");
	sh("cd h; git checkout --detach");
	answer = same_as_git("h");
	assert_string_equal(answer.branch, "");
	assert_int_equal(strlen(answer.head), 40);
	sh("cd h; rm .git/HEAD; ln -s refs/heads/main .git/HEAD");
	assert_string_equal(same_as_git("h").branch, "main");
	/* HEAD -> alias -> main: the branch is what HEAD names. */
	sh("cd h; git symbolic-ref refs/heads/alias refs/heads/main;"
	   "rm .git/HEAD; echo 'ref: refs/heads/alias' >.git/HEAD");
	answer = probe("h");
	assert_string_equal(answer.head, said("h", "git rev-parse main"));
	assert_string_equal(answer.branch, "alias");
}

/* The installed git may be too old for reftable, so one that answers is put in its place. */
static void test_repo_reftable_asks_git(void **state)
{
	char *path = strdup(getenv("PATH")), changed[4 * PATH_MAX];
	struct answer answer;

	(void)state;
	sh("git init rt; echo 'ref: refs/heads/.invalid' >rt/.git/HEAD; mkdir bin;"
	   "printf '#!/bin/sh\\ncase \"$*\" in *--git-dir=*/rt/.git*symbolic-ref*HEAD) echo"
	   " refs/heads/tables;; *core.fsmonitor=false*rev-parse*--verify*) echo"
	   " 1111111111111111111111111111111111111111;; *) exit 1;; esac\\n' >bin/git;"
	   "chmod +x bin/git");
	snprintf(changed, sizeof(changed), "%s/bin:%s", scratch, path);
	setenv("PATH", changed, 1);
	answer = probe("rt");
	setenv("PATH", path, 1);
	assert_string_equal(answer.branch, "tables");
	assert_string_equal(answer.head, "1111111111111111111111111111111111111111");
	free(path);
}

static void operation(const char *dir, const char *name)
{
	assert_string_equal(same_as_git(dir).operation, name);
}

static void test_repo_operations(void **state)
{
	(void)state;
	operation("r", "");
	sh("git clone r op; cd op; git checkout -b other HEAD~1; echo other >f; git commit -am other;"
	   "echo more >g; git add g; git commit -m more; git checkout main");
	sh("cd op; ! git merge other");
	operation("op", "merge");
	sh("cd op; git merge --abort; ! git cherry-pick other~1 other");
	operation("op", "cherry-pick");
	sh("cd op; echo x >f; git add f; git commit -m picked; test ! -e .git/CHERRY_PICK_HEAD");
	operation("op", "cherry-pick");
	sh("cd op; git cherry-pick --abort || git cherry-pick --quit; git reset --hard origin/main;"
	   "! git revert HEAD~1");
	operation("op", "revert");
	sh("cd op; git revert --abort; git bisect start; git bisect bad; git bisect good HEAD~2");
	operation("op", "bisect");
	sh("cd op; git merge --no-ff --no-commit other");
	operation("op", "merge");
	sh("cd op; git merge --abort; git bisect reset; ! git rebase other");
	operation("op", "rebase");
	assert_string_equal(probe("op").branch, "");
	sh("cd op; git rebase --abort; ! git rebase --apply other");
	operation("op", "rebase");
	sh("cd op; git rebase --abort; git format-patch -1 --stdout other~1 >../patch;"
	   "! git am ../patch");
	operation("op", "am");
	sh("cd op; git am --abort");
	operation("op", "");
	/* Of a linked worktree its own. */
	sh("cd op; git worktree add ../opwt -b third; cd ../opwt; ! git merge other");
	operation("opwt", "merge");
	operation("op", "");
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	unsetenv("GIT_CONFIG_GLOBAL");
	setenv("GIT_CEILING_DIRECTORIES", scratch, 1);
	setenv("GIT_EDITOR", "true", 1);
	sh("printf '[user]\\nname=a\\nemail=a@b\\n[init]\\ndefaultBranch=main\\n"
	   "[protocol \"file\"]\\nallow=always\\n[advice]\\ndetachedHead=false\\n' >.gitconfig;"
	   "mkdir plain2; git init r; mkdir -p r/sub/deep; cd r;"
	   "for i in 1 2 3; do echo $i >f; echo $i >sub/f; git add .; git commit -m $i; done");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repo_plain),
		cmocka_unit_test(test_repo_not_found),
		cmocka_unit_test(test_repo_bare_and_inside_are_refused),
		cmocka_unit_test(test_repo_linked_worktree),
		cmocka_unit_test(test_repo_git_files),
		cmocka_unit_test(test_repo_core_worktree),
		cmocka_unit_test(test_repo_planted_commondir),
		cmocka_unit_test(test_repo_environment),
		cmocka_unit_test(test_repo_open_at),
		cmocka_unit_test(test_repo_head),
		cmocka_unit_test(test_repo_reftable_asks_git),
		cmocka_unit_test(test_repo_operations),
	};

	return cmocka_run_group_tests_name("repo", tests, setup, unit_teardown);
}
