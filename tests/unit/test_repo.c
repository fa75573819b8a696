/* SPDX-License-Identifier: MIT */
#include "git/repo.h"

#include "base/env.h"
#include "base/error.h"
#include "base/fsio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What git itself says is the reference. Each probe runs in a child, since the
 * environment is scrubbed once per process.
 */

static char root[512];

struct answer {
	int rc;
	bool sha256;
	char worktree[1024], gitdir[1024], commondir[1024], error[1024];
	char head[128], branch[256], operation[64];
};

static void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *fmt, ...)
{
	char script[4096], whole[5120];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(script, sizeof(script), fmt, ap);
	va_end(ap);
	snprintf(whole, sizeof(whole), "exec >/dev/null 2>&1; set -e; cd '%s'\n%s", root, script);
	if (system(whole))
		fail_msg("script failed: %s", script);
}

/* The first line that a command prints in a directory below the root, "" if it fails. */
static const char *ask(const char *dir, const char *command)
{
	static char line[4][1024];
	static unsigned turn;
	char whole[2048], *result = line[turn++ % 4];
	FILE *pipe;

	snprintf(whole, sizeof(whole), "cd '%s/%s' && %s 2>/dev/null", root, dir, command);
	pipe = popen(whole, "r");
	assert_non_null(pipe);
	if (!fgets(result, sizeof(line[0]), pipe))
		*result = '\0';
	pclose(pipe);
	result[strcspn(result, "\n")] = '\0';
	return result;
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

/* repo_discover() in `dir` with these two variables, or repo_open_at() of `at`. */
static struct answer probe_with(const char *dir, const char *git_dir, const char *work_tree,
				const char *at)
{
	struct answer answer = { 0 };
	struct repo *repo = NULL;
	int pipefd[2], status;
	pid_t pid;

	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	if (!pid) {
		char path[1024];

		snprintf(path, sizeof(path), "%s/%s", root, dir);
		if (chdir(path))
			_exit(2);
		if (git_dir)
			setenv("GIT_DIR", git_dir, 1);
		if (work_tree)
			setenv("GIT_WORK_TREE", work_tree, 1);
		env_scrub();
		answer.rc = at ? repo_open_at(&repo, at) : repo_discover(&repo);
		if (answer.rc)
			copy(answer.error, sizeof(answer.error), ckpt_error_last());
		else
			fill(&answer, repo);
		_exit(fs_write_all(pipefd[1], &answer, sizeof(answer)) ? 1 : 0);
	}
	close(pipefd[1]);
	assert_int_equal(fs_read_full(pipefd[0], &answer, sizeof(answer)), sizeof(answer));
	close(pipefd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return answer;
}

static struct answer probe(const char *dir)
{
	return probe_with(dir, NULL, NULL, NULL);
}

static struct answer probe_at(const char *dir)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", root, dir);
	return probe_with(".", NULL, NULL, path);
}

/* All that git and we both know about the repository around `dir`. */
static struct answer same_as_git(const char *dir)
{
	struct answer answer = probe(dir);

	if (answer.rc)
		fail_msg("%s: %s", dir, answer.error);
	assert_string_equal(answer.worktree, ask(dir, "git rev-parse --show-toplevel"));
	assert_string_equal(answer.gitdir, ask(dir, "git rev-parse --absolute-git-dir"));
	assert_string_equal(answer.commondir,
			    ask(dir, "realpath $(git rev-parse --git-common-dir)"));
	assert_string_equal(answer.head, ask(dir, "git rev-parse -q --verify HEAD"));
	assert_string_equal(answer.branch, ask(dir, "git branch --show-current"));
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
	run("ln -s r/sub link");
	same_as_git("link");
	assert_int_equal(same_as_git("link/deep").sha256, false);
}

static void test_repo_not_found(void **state)
{
	struct answer answer;

	(void)state;
	run("mkdir plain; mkdir -p hollow/.git/hooks hollow/x");
	answer = probe("plain");
	assert_int_equal(answer.rc, CKPT_ENOTFOUND);
	assert_int_equal(probe("hollow/x").rc, CKPT_ENOTFOUND);
	refused("hollow/.git/hooks", "inside of a .git directory");
	/* A ".git" that is nothing does not hide the repository around it. */
	run("mkdir -p r/hollow/.git");
	same_as_git("r/hollow");
}

static void test_repo_bare_and_inside_are_refused(void **state)
{
	(void)state;
	run("git init --bare b.git; git clone --bare r c.git");
	refused("b.git", "this is a bare repository");
	refused("b.git/refs/heads", "this is a bare repository");
	refused("c.git/objects", "this is a bare repository");
	refused("r/.git", "inside of a .git directory");
	refused("r/.git/refs/heads", "inside of a .git directory");
	run("git init dotbare; git -C dotbare config core.bare true; mkdir dotbare/x");
	refused("dotbare", "this is a bare repository");
	refused("dotbare/x", "this is a bare repository");
}

static void test_repo_linked_worktree(void **state)
{
	struct answer answer;

	(void)state;
	run("git -C r worktree add -b side ../wt; mkdir wt/in");
	answer = same_as_git("wt/in");
	assert_string_equal(answer.branch, "side");
	assert_string_not_equal(answer.gitdir, answer.commondir);
	refused("r/.git/worktrees/wt", "inside of a .git directory");
	/* The main repository may be bare, its linked worktrees are not. */
	run("git clone --bare r hub.git; git -C hub.git worktree add ../hubwt main");
	same_as_git("hubwt");
	refused("hub.git/worktrees/hubwt", "inside of the git directory");
	run("git -C hub.git config extensions.worktreeConfig true;"
	    "git -C hub.git config --worktree core.bare true;"
	    "git -C hub.git config --unset core.bare");
	same_as_git("hubwt");
	refused("hub.git", "this is a bare repository");
}

static void test_repo_git_files(void **state)
{
	struct answer answer;
	char path[1024];

	(void)state;
	run("git init --separate-git-dir=apart sep; git -C sep commit --allow-empty -m x");
	same_as_git("sep");
	refused("apart/hooks", "inside of the git directory");
	run("git init super; git -C super submodule add \"$PWD/r\" sm; git -C super commit -m sm");
	answer = same_as_git("super/sm/sub");
	snprintf(path, sizeof(path), "%s/super/.git/modules/sm", root);
	assert_string_equal(answer.gitdir, path);
	refused("super/.git/modules/sm", "inside of a .git directory");
	/* One that leads nowhere is said, as git does, instead of taking the project around it. */
	run("mkdir r/lost; echo 'gitdir: ../gone' >r/lost/.git");
	refused("r/lost", "lost/.git' does not lead to a git repository");
	run("echo nonsense >r/lost/.git");
	refused("r/lost", "does not lead to a git repository");
}

static void test_repo_core_worktree(void **state)
{
	struct answer answer;
	char path[1024];

	(void)state;
	run("git init cw; mkdir -p cw/tree/in; git -C cw config core.worktree ../tree");
	same_as_git("cw/tree/in");
	answer = probe("cw");
	snprintf(path, sizeof(path), "%s/cw", root);
	assert_int_equal(answer.rc, 0);
	assert_string_equal(answer.worktree, path);
	/* The whole directory above as worktree, and a moved config.worktree. */
	run("git init up/cw2; git -C up/cw2 config core.worktree ../..");
	same_as_git("up/cw2");
	run("cd up/cw2; git config extensions.worktreeConfig true; git config --unset core.worktree;"
	    "git config --worktree core.worktree ../..");
	snprintf(path, sizeof(path), "%s/up", root);
	assert_string_equal(same_as_git("up/cw2").worktree, path);
}

static void test_repo_environment(void **state)
{
	struct answer answer;
	char gitdir[1024], tree[1024];

	(void)state;
	run("mkdir -p elsewhere/in; printf '%%s\\n' \"gitdir: $PWD/r/.git\" >pointer");
	snprintf(gitdir, sizeof(gitdir), "%s/r/.git", root);
	snprintf(tree, sizeof(tree), "%s/elsewhere", root);
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
	char path[1024];

	(void)state;
	run("git init nest; git -C nest commit --allow-empty -m x; git init nest/inner;"
	    "git -C nest submodule add \"$PWD/r\" sm; git init --object-format=sha256 nest/s256;"
	    "mkdir -p nest/none nest/empty/.git nest/bad; echo x >nest/bad/.git;"
	    "mkdir -p nest/fifo; cp -a r/.git nest/fifo; rm nest/fifo/.git/HEAD;"
	    "mkfifo nest/fifo/.git/HEAD; git init nest/badconf; echo '[[[' >>nest/badconf/.git/config");
	answer = probe_at("nest/inner");
	snprintf(path, sizeof(path), "%s/nest/inner", root);
	assert_int_equal(answer.rc, 0);
	assert_string_equal(answer.worktree, path);
	answer = probe_at("nest/sm");
	snprintf(path, sizeof(path), "%s/nest/.git/modules/sm", root);
	assert_string_equal(answer.gitdir, path);
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
	run("git init unborn");
	answer = same_as_git("unborn");
	assert_string_equal(answer.head, "");
	assert_string_equal(answer.branch, "main");
	run("git init --object-format=sha256 s256; git -C s256 commit --allow-empty -m x");
	answer = same_as_git("s256");
	assert_true(answer.sha256);
	assert_int_equal(strlen(answer.head), 64);
	run("git clone r h; cd h; git checkout -b feature/one; git branch feature/onetwo HEAD~1;"
	    "git tag -a -m t feature/one");
	assert_string_equal(same_as_git("h").branch, "feature/one");
	run("cd h; git pack-refs --all; test ! -e .git/refs/heads/feature/one");
	assert_string_equal(same_as_git("h").branch, "feature/one");
	run("cd h; git checkout feature/onetwo");
	same_as_git("h");
	run("cd h; git checkout --detach");
	answer = same_as_git("h");
	assert_string_equal(answer.branch, "");
	assert_int_equal(strlen(answer.head), 40);
	run("cd h; rm .git/HEAD; ln -s refs/heads/main .git/HEAD");
	assert_string_equal(same_as_git("h").branch, "main");
	/* HEAD -> alias -> main: the branch is what HEAD names. */
	run("cd h; git symbolic-ref refs/heads/alias refs/heads/main;"
	    "rm .git/HEAD; echo 'ref: refs/heads/alias' >.git/HEAD");
	answer = probe("h");
	assert_string_equal(answer.head, ask("h", "git rev-parse main"));
	assert_string_equal(answer.branch, "alias");
}

/* The installed git may be too old for reftable, so one that answers is put in its place. */
static void test_repo_reftable_asks_git(void **state)
{
	char *path = strdup(getenv("PATH")), changed[4096];
	struct answer answer;

	(void)state;
	run("git init rt; echo 'ref: refs/heads/.invalid' >rt/.git/HEAD; mkdir bin;"
	    "printf '#!/bin/sh\\ncase \"$*\" in *--git-dir=*/rt/.git*symbolic-ref*HEAD) echo"
	    " refs/heads/tables;; *core.fsmonitor=false*rev-parse*--verify*) echo"
	    " 1111111111111111111111111111111111111111;; *) exit 1;; esac\\n' >bin/git;"
	    "chmod +x bin/git");
	snprintf(changed, sizeof(changed), "%s/bin:%s", root, path);
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
	run("git clone r op; cd op; git checkout -b other HEAD~1; echo other >f; git commit -am other;"
	    "echo more >g; git add g; git commit -m more; git checkout main");
	run("cd op; ! git merge other");
	operation("op", "merge");
	run("cd op; git merge --abort; ! git cherry-pick other~1 other");
	operation("op", "cherry-pick");
	run("cd op; echo x >f; git add f; git commit -m picked; test ! -e .git/CHERRY_PICK_HEAD");
	operation("op", "cherry-pick");
	run("cd op; git cherry-pick --abort || git cherry-pick --quit; git reset --hard origin/main;"
	    "! git revert HEAD~1");
	operation("op", "revert");
	run("cd op; git revert --abort; git bisect start; git bisect bad; git bisect good HEAD~2");
	operation("op", "bisect");
	run("cd op; git merge --no-ff --no-commit other");
	operation("op", "merge");
	run("cd op; git merge --abort; git bisect reset; ! git rebase other");
	operation("op", "rebase");
	assert_string_equal(probe("op").branch, "");
	run("cd op; git rebase --abort; ! git rebase --apply other");
	operation("op", "rebase");
	run("cd op; git rebase --abort; git format-patch -1 --stdout other~1 >../patch;"
	    "! git am ../patch");
	operation("op", "am");
	run("cd op; git am --abort");
	operation("op", "");
	/* Of a linked worktree its own. */
	run("cd op; git worktree add ../opwt -b third; cd ../opwt; ! git merge other");
	operation("opwt", "merge");
	operation("op", "");
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char pattern[400], *real;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/ckpt-repo-XXXXXX", tmp ? tmp : "/tmp");
	real = mkdtemp(pattern) ? realpath(pattern, NULL) : NULL;
	if (!real)
		return -1;
	snprintf(root, sizeof(root), "%s", real);
	free(real);
	env_scrub();
	setenv("HOME", root, 1);
	setenv("XDG_CONFIG_HOME", root, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CEILING_DIRECTORIES", root, 1);
	setenv("GIT_EDITOR", "true", 1);
	run("printf '[user]\\nname=a\\nemail=a@b\\n[init]\\ndefaultBranch=main\\n"
	    "[protocol \"file\"]\\nallow=always\\n[advice]\\ndetachedHead=false\\n' >.gitconfig;"
	    "mkdir plain2; git init r; mkdir -p r/sub/deep; cd r;"
	    "for i in 1 2 3; do echo $i >f; echo $i >sub/f; git add .; git commit -m $i; done");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fs_remove_tree(AT_FDCWD, root);
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
		cmocka_unit_test(test_repo_environment),
		cmocka_unit_test(test_repo_open_at),
		cmocka_unit_test(test_repo_head),
		cmocka_unit_test(test_repo_reftable_asks_git),
		cmocka_unit_test(test_repo_operations),
	};

	return cmocka_run_group_tests_name("repo", tests, setup, teardown);
}
