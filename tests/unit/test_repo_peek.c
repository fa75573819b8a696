/* SPDX-License-Identifier: MIT */
#include "git/repo.h"

#include "unit.h"

static char *real;
static int rootfd;

static void same(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

/* What a peek says must be what a closer look says. */
static bool peek(const char *path)
{
	struct repo_state fast, slow;
	char *dir = xstrfmt("%s/%s", real, path);
	bool known = repo_peek(&fast, rootfd, path);
	struct repo *repo;

	if (known) {
		assert_int_equal(repo_open_at(&repo, dir), 0);
		assert_int_equal(repo_read_state(&slow, repo), 0);
		assert_non_null(fast.head);
		same(fast.head, slow.head);
		same(fast.branch, slow.branch);
		same(fast.ref, slow.ref);
		same(fast.operation, slow.operation);
		repo_state_release(&slow);
		repo_free(repo);
	} else {
		assert_null(fast.head);
	}
	repo_state_release(&fast);
	free(dir);
	return known;
}

static void make(const char *dir)
{
	sh("git init -q %s && cd %s && git config user.name x && git config user.email x@y &&"
	   " echo 1 >a && git add a && git commit -q -m 1 && echo 2 >a && git commit -q -a -m 2",
	   dir, dir);
}

static void test_peek_where_it_is_plain(void **state)
{
	(void)state;
	make("plain");
	assert_true(peek("plain"));
	sh("git -C plain pack-refs --all");
	assert_true(peek("plain"));
	sh("sed -i /^#/d plain/.git/packed-refs");
	assert_true(peek("plain"));
	/* a name that is the beginning or the end of another */
	sh("cd plain && git branch a/b HEAD~1 && git branch b HEAD && git branch bb HEAD~1 &&"
	   " git checkout -q b && git pack-refs --all");
	assert_true(peek("plain"));
	sh("git -C plain checkout -q --detach");
	assert_true(peek("plain"));
	sh("mkdir -p deep/er && git -c protocol.file.allow=always clone -q plain deep/er/clone");
	assert_true(peek("deep/er/clone"));
	sh("git init -q super && cd super &&"
	   " git -c protocol.file.allow=always submodule --quiet add ../plain sub");
	assert_true(peek("super/sub"));
	sh("git init -q --separate-git-dir=\"$PWD/elsewhere\" separate && cd separate &&"
	   " git -c user.name=x -c user.email=x@y commit -q --allow-empty -m 1");
	assert_true(peek("separate"));
}

/* Each ref, and names between them that there are not, as git has them. */
static void compare_refs(const struct repo *repo, const char *refs)
{
	char *all = xstrdup(refs), *line, *rest = NULL;

	for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *name = strchr(line, ' '), *longer = xstrfmt("%s0none", name + 1);
		char *id = repo_ref(repo, name + 1), *none = repo_ref(repo, longer);

		*name = '\0';
		same(id, line);
		same(none, NULL);
		free(longer);
		free(none);
		free(id);
	}
	free(all);
}

static void test_packed_refs_of_any_size(void **state)
{
	struct strbuf refs = STRBUF_INIT;
	struct repo *repo;
	char *dir = xstrfmt("%s/many", real);

	(void)state;
	make("many");
	sh("cd many && git tag -a -m x annotated && a=$(git rev-parse HEAD) b=$(git rev-parse HEAD~1) "
	   "c=$(git rev-parse annotated) && perl -e 'srand $ARGV[0]; for (1 .. 6000) {"
	   " my $name = join \"/\", map { join \"\", map { chr 97 + int rand 3 } 0 .. rand 20 } 0 .. rand 4;"
	   " print \"create refs/tags/t$_-$name $ARGV[1 + int rand 3]\\n\" }' %u $a $b $c |"
	   " git update-ref --stdin && git pack-refs --all", rnd(1000000));
	ask(&refs, "git -C many for-each-ref --format='%%(objectname) %%(refname)'");
	assert_int_equal(repo_open_at(&repo, dir), 0);
	compare_refs(repo, refs.buf);
	sh("cp many/.git/packed-refs sorted && sed -i '/^#/d' many/.git/packed-refs");
	compare_refs(repo, refs.buf);
	/* sparse, or without an end of line: it takes no time, whatever comes of it */
	sh("cp sorted many/.git/packed-refs && truncate -s 200G many/.git/packed-refs");
	assert_null(repo_ref(repo, "refs/tags/none"));
	sh("truncate -s 0 many/.git/packed-refs && truncate -s 200G many/.git/packed-refs");
	assert_null(repo_ref(repo, "refs/tags/annotated"));
	repo_free(repo);
	strbuf_release(&refs);
	free(dir);
}

static void test_peek_leaves_the_rest(void **state)
{
	static const char *const special[] = {
		"cd %s && git checkout -q --orphan unborn",
		"cd %s && git checkout -q -b side HEAD~1 && echo 3 >a && git commit -q -a -m 3 &&"
		" ! git merge -q - >/dev/null",
		"cd %s && git bisect start -q HEAD HEAD~1 >/dev/null",
		"cd %s && git symbolic-ref HEAD refs/odd/x",
		"cd %s && git symbolic-ref refs/heads/alias refs/heads/$(git branch "
		"--show-current) &&"
		" git symbolic-ref HEAD refs/heads/alias",
		"cd %s && rm .git/HEAD",
		"cd %s && rm .git/HEAD && mkfifo .git/HEAD",
		"cd %s && mv .git/HEAD .git/head && ln -s head .git/HEAD",
		"cd %s && truncate -s 1G .git/HEAD",
		"cd %s && echo garbage >.git/HEAD",
		"cd %s && rm -r .git/objects",
		"cd %s && rm -rf .git",
		"cd %s && rm -rf .git && echo gitdir: /nowhere >.git",
		"cd %s && mv .git other && ln -s other .git",
		"mkdir main && mv %s main/r && git -C main/r worktree add -q --detach ../../%s",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(special); i++) {
		char *dir = xstrfmt("special-%zu", i);

		make(dir);
		assert_true(peek(dir));
		if (i + 1 == ARRAY_SIZE(special))
			sh(special[i], dir, dir);
		else
			sh(special[i], dir);
		if (peek(dir))
			fail_msg("'%s' was not left", special[i]);
		free(dir);
	}
	assert_false(peek("nothing"));
	assert_false(peek("."));
}

static int setup(void **state)
{
	int rc = unit_setup(state);

	real = realpath(".", NULL);
	rootfd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return rc;
}

static int teardown(void **state)
{
	close(rootfd);
	free(real);
	return unit_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peek_where_it_is_plain),
		cmocka_unit_test(test_packed_refs_of_any_size),
		cmocka_unit_test(test_peek_leaves_the_rest),
	};

	return cmocka_run_group_tests_name("repo_peek", tests, setup, teardown);
}
