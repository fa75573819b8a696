/* SPDX-License-Identifier: MIT */
/* Indexes that git makes, compared with what `git ls-files` says, and damaged ones. */
#include "git/gitindex.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fs.h"

#include "unit.h"

static char *here(const char *suffix)
{
	char *cwd = getcwd(NULL, 0), *path = xstrfmt("%s%s", cwd, suffix);

	free(cwd);
	return path;
}

static int open_here(struct gitindex **out, bool sha256)
{
	char *worktree = here(""), *gitdir = here("/.git");
	int err = gitindex_open(out, worktree, gitdir, sha256);

	free(worktree);
	free(gitdir);
	return err;
}

/* A conflict counts once. */
static size_t count_paths(const struct gitindex *index)
{
	size_t nr = 0;

	for (size_t i = 0; i < index->nr; i++)
		nr += !i || strcmp(index->entries[i - 1].path, index->entries[i].path) != 0;
	return nr;
}

/* Everything about the files of the index that a write would change. */
static void fingerprint(struct strbuf *out)
{
	ask(out, "cd .git; stat -c '%%n %%i %%s %%y %%z' index sharedindex.* 2>/dev/null | sort;"
		 "cksum <index; ls -a");
}

/* Both ways: all that git lists is found, and nothing else is counted. */
static void assert_like_git(bool sha256)
{
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT, list = STRBUF_INIT;
	struct gitindex *index = NULL;
	size_t count = 0;

	fingerprint(&before);
	if (open_here(&index, sha256))
		fail_msg("%s", ckpt_error_last());
	fingerprint(&after);
	assert_string_equal(before.buf, after.buf);

	ask(&list, "git ls-files -z --deduplicate");
	for (char *p = list.buf; p < list.buf + list.len; p += strlen(p) + 1, count++) {
		char *changed = xstrfmt("%s~", p), *slash;

		assert_true(gitindex_has(index, p));
		assert_false(gitindex_has(index, changed));
		assert_false(gitindex_has_below(index, changed));
		changed[strlen(p) - 1] = '\0';
		/* All names of these tests are longer than their directory by two. */
		assert_false(gitindex_has(index, changed));
		for (slash = strrchr(changed, '/'); slash; slash = strrchr(changed, '/')) {
			*slash = '\0';
			assert_true(gitindex_has_below(index, changed));
			assert_false(gitindex_has(index, changed));
		}
		free(changed);
	}
	assert_int_equal(count_paths(index), count);
	assert_int_equal(gitindex_has_below(index, ""), count > 0);
	assert_false(gitindex_has(index, ""));
	gitindex_close(index);
	strbuf_release(&before);
	strbuf_release(&after);
	strbuf_release(&list);
}

static void make_repo(const char *init_options)
{
	static int nr;

	sh("git init -q %s '%s'", init_options, in_scratch("r%d", ++nr));
	assert_int_equal(chdir(in_scratch("r%d", nr)), 0);
	/* "ab" next to "ab/" and "ab.c": where sorting by components would go wrong. */
	sh("mkdir -p d.1/e2 ab.d ab d-1 \"$(printf 'n\\303\\251 x')\" &&"
	   "for f in f1 d.1/e2/g3 d.1/e2/g4 d.1/h5 ab.d/c1 ab/c2 ab/c3 ab.c d-1/k1 "
	   "\"$(printf 'n\\303\\251 x/y1')\" zz; do echo \"$f\" >\"$f\"; done &&"
	   "git add . && git commit -q -m one");
}

static unsigned version_here(void)
{
	struct strbuf text = STRBUF_INIT;
	unsigned version;

	assert_int_equal(fs_read_file(&text, AT_FDCWD, ".git/index"), 0);
	version = (unsigned char)text.buf[7];
	strbuf_release(&text);
	return version;
}

static void test_gitindex_versions(void **state)
{
	(void)state;
	make_repo("");
	assert_int_equal(version_here(), 2);
	assert_like_git(false);

	sh("echo >new1 && git add -N new1 && git update-index --skip-worktree d.1/h5");
	assert_int_equal(version_here(), 3);
	assert_like_git(false);

	sh("git update-index --index-version 4");
	assert_int_equal(version_here(), 4);
	assert_like_git(false);

	sh("git rm -q -r --cached . && git update-index --index-version 2");
	assert_like_git(false);
}

static void test_gitindex_sha256(void **state)
{
	struct gitindex *index = NULL;

	(void)state;
	make_repo("--object-format=sha256");
	assert_like_git(true);
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);
	assert_null(index);
	sh("echo >new1 && git add -N new1");
	assert_like_git(true);
	sh("git update-index --index-version 4");
	assert_like_git(true);
	sh("git update-index --split-index && git rm -q --cached ab/c2 f1 &&"
	   "echo x >>zz && echo >q1 && git add zz q1");
	assert_like_git(true);
}

static void test_gitindex_long_names(void **state)
{
	struct strbuf name = STRBUF_INIT;

	(void)state;
	make_repo("");
	/* Around the length that the field in an entry can hold. */
	for (size_t len = 4080; len < 4100; len++) {
		strbuf_reset(&name);
		for (size_t i = 0; i < len; i++)
			strbuf_addch(&name, i % 100 == 99 ? '/' : 'l');
		strbuf_addf(&name, "x%zu", len);
		sh("git update-index --add --cacheinfo 100644,$(git rev-parse :f1),%s", name.buf);
	}
	assert_like_git(false);
	sh("git update-index --index-version 4");
	assert_like_git(false);
	strbuf_release(&name);
}

static void test_gitindex_no_index(void **state)
{
	struct gitindex *index = NULL;

	(void)state;
	make_repo("");
	unlink(".git/index");
	assert_int_equal(open_here(&index, false), 0);
	assert_int_equal(count_paths(index), 0);
	assert_false(gitindex_has(index, "f1"));
	assert_false(gitindex_has_below(index, ""));
	gitindex_close(index);
	gitindex_close(NULL);
}

static void test_gitindex_split(void **state)
{
	(void)state;
	make_repo("");
	sh("git config splitIndex.maxPercentChange 100 && git update-index --split-index");
	assert_like_git(false);
	sh("echo >n1 && echo >ab/n2 && git add n1 ab/n2");
	assert_like_git(false);
	sh("echo more >>f1 && echo more >>ab.c && git add f1 ab.c");
	assert_like_git(false);
	sh("git rm -q --cached zz d.1/e2/g3 n1 ab.d/c1");
	assert_like_git(false);
	sh("git add -f zz");
	assert_like_git(false);
	sh("git update-index --index-version 4 && echo more >>ab/c3 && git add ab/c3");
	assert_like_git(false);
	/* Long runs, which a bitmap has as numbers. */
	sh("mkdir many && cd many && seq -f 'm%%g' 1000 2999 | xargs touch &&"
	   "git add . && git update-index --no-split-index && git update-index --split-index &&"
	   "seq -f 'm%%g' 1100 2500 | xargs git rm -q --cached &&"
	   "for i in 1000 1003 2700; do echo x >m$i; done && git add m1000 m1003 m2700");
	assert_like_git(false);
	sh("ls .git | grep -q sharedindex");
}

static void test_gitindex_split_without_shared(void **state)
{
	struct gitindex *index = NULL;

	(void)state;
	make_repo("");
	sh("git update-index --split-index && cp .git/sharedindex.* kept && rm .git/sharedindex.*");
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);
	assert_null(index);
	/* A damaged one, then one that would block. */
	sh("s=.git/sharedindex.$(tail -c 20 kept | od -An -v -tx1 | tr -d ' \\n'); "
	   "head -c 100 kept >$s");
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);
	sh("rm .git/sharedindex.*; mkfifo .git/sharedindex.$(tail -c 20 kept | od -An -v -tx1 | tr -d ' \\n')");
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);
	assert_null(index);
}

static void test_gitindex_sparse(void **state)
{
	struct gitindex *index = NULL;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	make_repo("");
	/* None of this may run when git is asked. */
	sh("git sparse-checkout init --cone --sparse-index && git sparse-checkout set ab &&"
	   "printf '#!/bin/sh\\ntouch %%s/ran\\n' \"$PWD\" >.git/evil &&"
	   "chmod +x .git/evil && cp .git/evil .git/hooks/post-index-change &&"
	   "git config core.fsmonitor \"$PWD/.git/evil\"");
	ask(&text, "git -c core.fsmonitor=false ls-files --sparse");
	assert_non_null(strstr(text.buf, "d.1/\n"));
	unlink("ran");
	assert_int_equal(open_here(&index, false), 0);
	assert_true(gitindex_has(index, "d.1/e2/g3"));
	assert_true(gitindex_has_below(index, "d.1/e2"));
	assert_false(gitindex_has(index, "d.1/"));
	assert_int_equal(count_paths(index), 11);
	gitindex_close(index);
	assert_int_equal(access("ran", F_OK), -1);
	sh("git config --unset core.fsmonitor");
	assert_like_git(false);

	/* Without the trees git says too little and is content. What was read is read again. */
	sh("rm -rf .git/objects/??; cp .git/index index && mv index .git/index");
	index = NULL;
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);
	assert_null(index);
	strbuf_release(&text);
}

static void test_gitindex_conflict_counts_once(void **state)
{
	struct strbuf text = STRBUF_INIT;

	(void)state;
	make_repo("");
	sh("git checkout -q -b other && echo o >f1 && echo o >ab/c2 && git rm -q ab/c3 &&"
	   "git commit -q -a -m other && git checkout -q - && echo m >f1 && echo m >ab/c2 &&"
	   "echo m >ab/c3 && git commit -q -a -m mine; git merge -q other || :");
	ask(&text, "git ls-files -u | wc -l");
	assert_int_equal(atoi(text.buf), 8);
	assert_like_git(false);
	sh("git update-index --index-version 4");
	assert_like_git(false);
	sh("git update-index --split-index");
	assert_like_git(false);
	strbuf_release(&text);
}

static void test_gitindex_submodule(void **state)
{
	static const char *const ways[] = {
		":", "git update-index --index-version 4", "git update-index --split-index",
	};

	(void)state;
	make_repo("");
	sh("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),ab/sub1");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct gitindex *index = NULL;

		sh("%s", ways[i]);
		assert_like_git(false);
		assert_int_equal(open_here(&index, false), 0);
		assert_true(gitindex_has(index, "ab/sub1"));
		assert_true(gitindex_has_below(index, "ab/sub1"));
		assert_false(gitindex_has_below(index, "ab/c2"));
		assert_false(gitindex_has_below(index, "a"));
		assert_false(gitindex_has_below(index, "ab/su"));
		gitindex_close(index);
	}
}

/* ---- damage ---- */

/* It may be read or refused, but never crash. Gives the number of entries, or -1. */
static long open_damaged(bool sha256)
{
	struct gitindex *index = NULL;
	int err = open_here(&index, sha256);
	long count;

	if (err) {
		assert_int_equal(err, CKPT_ECORRUPT);
		assert_null(index);
		assert_true(strlen(ckpt_error_last()) > 10);
		return -1;
	}
	gitindex_has(index, "d.1/e2/g3");
	gitindex_has_below(index, "d.1/e2");
	count = (long)count_paths(index);
	gitindex_close(index);
	return count;
}

static void damage(const char *file, bool sha256)
{
	struct strbuf good = STRBUF_INIT, bad = STRBUF_INIT;
	long count = open_damaged(sha256);

	assert_true(count > 0);
	assert_int_equal(fs_read_file(&good, AT_FDCWD, file), 0);
	for (size_t len = 0; len < good.len; len++) {
		long left;

		put_bytes(file, good.buf, len);
		left = open_damaged(sha256);
		/* Cut off between extensions it looks whole, but no entry may be missing. */
		assert_true(left == -1 || left == count);
	}
	for (int round = 0; round < 800; round++) {
		strbuf_reset(&bad);
		strbuf_add(&bad, good.buf, good.len);
		for (int n = 0; n <= round % 4; n++)
			bad.buf[rnd((unsigned)bad.len)] ^= (char)(1 << rnd(8));
		put_bytes(file, bad.buf, bad.len);
		open_damaged(sha256);
	}
	put_bytes(file, good.buf, good.len);
	assert_int_equal(open_damaged(sha256), count);
	strbuf_release(&good);
	strbuf_release(&bad);
}

static void test_gitindex_damaged(void **state)
{
	(void)state;
	make_repo("");
	sh("git rm -q -r --cached ab.d d-1 && echo >new1 && git add -N new1");
	damage(".git/index", false);
	sh("git update-index --index-version 4");
	damage(".git/index", false);
}

static void test_gitindex_damaged_sha256(void **state)
{
	(void)state;
	make_repo("--object-format=sha256");
	sh("git rm -q -r --cached ab.d d-1 d.1");
	damage(".git/index", true);
}

/* A small file must not make us ask for much memory. */
static void test_gitindex_hostile_sizes(void **state)
{
	static const char many[] = "DIRC\0\0\0\2\xff\xff\xff\xff";
	struct strbuf text = STRBUF_INIT;
	struct gitindex *index = NULL;

	(void)state;
	make_repo("");
	strbuf_add(&text, many, sizeof(many) - 1);
	for (size_t i = 0; i < 1000; i++)
		strbuf_addch(&text, 0);
	put_bytes(".git/index", text.buf, text.len);
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);

	/* Version 4: one name of a megabyte, and ten thousand that repeat it. */
	strbuf_reset(&text);
	strbuf_add(&text, "DIRC\0\0\0\4\0\0\x27\x11", 12);
	for (size_t i = 0; i <= 10000; i++) {
		for (size_t b = 0; b < 60; b++)
			strbuf_addch(&text, 0);
		strbuf_add(&text, "\x0f\xff\0", 3);
		for (size_t b = 0; b < (i ? 1 : 1000000); b++)
			strbuf_addch(&text, 'n');
		strbuf_addch(&text, 0);
	}
	for (size_t b = 0; b < 20; b++)
		strbuf_addch(&text, 0);
	put_bytes(".git/index", text.buf, text.len);
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);
	assert_non_null(strstr(ckpt_error_last(), "too long"));

	/* Something that would block. */
	sh("rm .git/index && mkfifo .git/index");
	assert_int_equal(open_here(&index, false), CKPT_ECORRUPT);
	assert_null(index);
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gitindex_versions),
		cmocka_unit_test(test_gitindex_sha256),
		cmocka_unit_test(test_gitindex_long_names),
		cmocka_unit_test(test_gitindex_no_index),
		cmocka_unit_test(test_gitindex_split),
		cmocka_unit_test(test_gitindex_split_without_shared),
		cmocka_unit_test(test_gitindex_sparse),
		cmocka_unit_test(test_gitindex_conflict_counts_once),
		cmocka_unit_test(test_gitindex_submodule),
		cmocka_unit_test(test_gitindex_damaged),
		cmocka_unit_test(test_gitindex_damaged_sha256),
		cmocka_unit_test(test_gitindex_hostile_sizes),
	};

	return cmocka_run_group_tests_name("gitindex", tests, unit_setup, unit_teardown);
}
