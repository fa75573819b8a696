/* SPDX-License-Identifier: MIT */
#include "record/identity.h"

#include "base/error.h"
#include "base/fs.h"
#include "unit.h"
#include "git/repo.h"

#include "recordgen.h"

#define ROOT_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ROOT_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* ---- what two of them are to each other ---- */

static void test_compare(void **state)
{
	static const struct {
		struct identity recorded, now;
		enum identity_relation relation;
		bool is;
	} rows[] = {
		/* nothing changed; also where times of birth are not kept */
		{ { 1, 2, 3, ROOT_A }, { 1, 2, 3, ROOT_A }, IDENTITY_SAME, true },
		{ { 1, 2, 0, "none" }, { 1, 2, 0, "none" }, IDENTITY_SAME, true },
		{ { 1, 2, 0, "none" }, { 1, 2, 3, "none" }, IDENTITY_SAME, true },
		/* the history changed, the directory did not: an orphan branch, a first commit */
		{ { 1, 2, 3, ROOT_A }, { 1, 2, 3, ROOT_B }, IDENTITY_SAME, true },
		{ { 1, 2, 3, "none" }, { 1, 2, 3, ROOT_B }, IDENTITY_SAME, true },
		/* plugged in again: another device */
		{ { 1, 2, 3, ROOT_A }, { 9, 2, 3, ROOT_A }, IDENTITY_SAME, true },
		{ { 1, 2, 3, "none" }, { 9, 2, 3, "none" }, IDENTITY_SAME, true },
		{ { 1, 2, 0, ROOT_A }, { 9, 2, 0, ROOT_A }, IDENTITY_SAME, false },
		{ { 1, 2, 0, "none" }, { 9, 2, 0, "none" }, IDENTITY_SAME, false },
		{ { 1, 2, 0, ROOT_A }, { 9, 2, 0, ROOT_B }, IDENTITY_OTHER, false },
		{ { 1, 2, 0, ROOT_A }, { 9, 2, 0, "none" }, IDENTITY_ANEW, false },
		/* created again: another inode, or the number was used again */
		{ { 1, 2, 3, ROOT_A }, { 1, 5, 6, ROOT_A }, IDENTITY_ANEW, false },
		{ { 1, 2, 3, ROOT_A }, { 1, 2, 6, ROOT_A }, IDENTITY_ANEW, false },
		{ { 1, 2, 3, ROOT_A }, { 1, 5, 3, ROOT_A }, IDENTITY_ANEW, false },
		{ { 1, 2, 3, ROOT_A }, { 1, 5, 6, "unknown" }, IDENTITY_ANEW, false },
		{ { 1, 2, 3, "none" }, { 1, 5, 6, "none" }, IDENTITY_ANEW, false },
		{ { 1, 2, 3, ROOT_A }, { 1, 5, 6, ROOT_B }, IDENTITY_OTHER, false },
		{ { 1, 2, 3, ROOT_A }, { 1, 2, 6, ROOT_B }, IDENTITY_OTHER, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (identity_compare(&rows[i].recorded, &rows[i].now) != rows[i].relation ||
		    identity_is(&rows[i].recorded, &rows[i].now) != rows[i].is)
			fail_msg("row %zu", i);
	}
}

static void test_same_project(void **state)
{
	struct identity a = { 1, 2, 3, ROOT_A }, b = { 4, 5, 6, ROOT_A }, c = { 1, 2, 3, ROOT_B },
			none = { 1, 2, 3, "none" }, unknown = { 1, 2, 3, "unknown" };

	(void)state;
	assert_true(identity_same_project(&a, &b));
	assert_false(identity_same_project(&a, &c));
	assert_false(identity_same_project(&none, &none));
	assert_false(identity_same_project(&unknown, &unknown));
}

/* ---- of directories ---- */

static void test_of_a_directory(void **state)
{
	struct identity one, two;
	struct stat st;

	(void)state;
	sh("mkdir of; echo x >file; ln -s of link");
	assert_int_equal(identity_of(&one, in_scratch("of")), 0);
	assert_int_equal(stat(in_scratch("of"), &st), 0);
	assert_int_equal(one.device, st.st_dev);
	assert_int_equal(one.inode, st.st_ino);
	assert_int_equal(identity_of(&two, in_scratch("link")), 0);
	assert_true(identity_is(&one, &two));
	assert_int_equal(identity_of(&two, in_scratch("nothing")), CKPT_ENOTFOUND);
	assert_int_equal(identity_of(&two, in_scratch("file")), CKPT_ENOTFOUND);
	sh("mv of moved");
	assert_false(identity_is_at(&one, in_scratch("of")));
	assert_true(identity_is_at(&one, in_scratch("moved")));
	/* changes in it do not matter */
	sh("touch moved/x; chmod 700 moved; touch -d 2001-01-01 moved");
	assert_true(identity_is_at(&one, in_scratch("moved")));
	/* the number is used again, on most file systems at once */
	sh("rm -r moved; mkdir moved");
	assert_false(one.born && identity_is_at(&one, in_scratch("moved")));
}

static void root_of(char out[IDENTITY_ROOT_SIZE], const char *dir)
{
	struct repo *repo = NULL;
	struct identity identity;

	assert_int_equal(identity_of(&identity, dir), 0);
	assert_int_equal(repo_open_at(&repo, dir), 0);
	identity_find_root(&identity, repo);
	strcpy(out, identity.root);
	repo_free(repo);
}

static void expect_root(const char *name, const char *expected)
{
	struct strbuf answer = STRBUF_INIT;
	char root[IDENTITY_ROOT_SIZE];

	root_of(root, in_scratch("%s", name));
	if (!expected) {
		ask(&answer, "git -C '%s' rev-list --first-parent HEAD | tail -n 1", name);
		strbuf_trim(&answer);
		expected = answer.buf;
	}
	assert_string_equal(root, expected);
	strbuf_release(&answer);
}

static void test_root_commit(void **state)
{
	struct identity plain = { 0 };

	(void)state;
	identity_find_root(&plain, NULL);
	assert_string_equal(plain.root, "none");
	sh("git init -q -b main r");
	expect_root("r", "none");
	sh("cd r; git commit -q --allow-empty -m one");
	expect_root("r", NULL);
	sh("cd r; for i in 2 3 4 5; do git commit -q --allow-empty -m $i; done\n"
	   "git checkout -q --orphan side; git commit -q --allow-empty -m s; git checkout -q main");
	expect_root("r", NULL);
	sh("cd r; git merge -q --allow-unrelated-histories -m merged side; git pack-refs --all");
	expect_root("r", NULL);
	sh("cd r; git gc -q");
	expect_root("r", NULL);
	sh("git clone -q r clone; git -C r worktree add -q ../linked");
	expect_root("clone", NULL);
	expect_root("linked", NULL);
	/* its root is not the project's */
	sh("git clone -q --depth 1 \"file://$PWD/r\" shallow");
	expect_root("shallow", "unknown");
	sh("git init -q --object-format=sha256 long; git -C long commit -q --allow-empty -m x");
	expect_root("long", NULL);
	sh("cp -r clone damaged; rm -rf damaged/.git/objects; mkdir damaged/.git/objects");
	expect_root("damaged", "unknown");
}

/* ---- what is recorded ---- */

static void put(struct store *store, const char *text)
{
	assert_int_equal(store_lock(store, 1), 0);
	assert_int_equal(state_set(store, "identity", json_loads(text, JSON_DECODE_ANY, NULL)), 0);
	store_unlock(store);
}

static void test_written_and_read(void **state)
{
	static const char *const bad[] = {
		"[]",
		"\"x\"",
		"{\"device\":1}",
		"{\"device\":1,\"inode\":2,\"born\":3}",
		"{\"device\":1,\"inode\":2,\"born\":3,\"root\":\"\"}",
		"{\"device\":1,\"inode\":2,\"born\":3,\"root\":\"abc\"}",
		"{\"device\":1,\"inode\":2,\"born\":3,\"root\":\"" ROOT_A ROOT_A "\"}",
		"{\"device\":1,\"inode\":2,\"born\":3,\"root\":4}",
		"{\"device\":\"x\",\"inode\":2,\"born\":3,\"root\":\"none\"}",
	};
	struct store *store = recordgen_store("written");
	struct identity in = { UINT64_MAX, UINT64_MAX - 1, -5, ROOT_A }, out;

	(void)state;
	assert_int_equal(identity_read(&out, store->dirfd), CKPT_ENOTFOUND);
	assert_int_equal(identity_write(&in, store), 0);
	assert_int_equal(identity_read(&out, store->dirfd), 0);
	assert_int_equal(out.device, in.device);
	assert_int_equal(out.inode, in.inode);
	assert_int_equal(out.born, in.born);
	assert_string_equal(out.root, in.root);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(store, bad[i]);
		if (identity_read(&out, store->dirfd) != CKPT_ENOTFOUND)
			fail_msg("taken: %s", bad[i]);
	}
	store_close(store);
}

/* ---- what is said ---- */

static size_t check(struct store *store, struct repo *repo, const struct ref_list *refs, bool record,
		    const char *part)
{
	struct strlist warnings = STRLIST_INIT;
	size_t nr;

	identity_check(&warnings, store, repo, refs, record);
	nr = warnings.nr;
	if (nr && (!part || !strstr(warnings.items[0], part)))
		fail_msg("%s", warnings.items[0]);
	strlist_release(&warnings);
	return nr;
}

static void test_said_once(void **state)
{
	struct ref_item items[] = { { .id = "chk_20200101_000000_000001" },
				    { .id = "chk_20200101_000000_000002" },
				    { .id = "chk_29990101_000000_000003" } };
	struct ref_list refs = { .items = items, .nr = 3 }, none = { 0 };
	struct store *store = recordgen_store("said");
	struct identity recorded;

	(void)state;
	/* not recorded yet: nothing to say; only looking writes nothing */
	assert_int_equal(check(store, NULL, &refs, false, NULL), 0);
	assert_int_equal(identity_read(&recorded, store->dirfd), CKPT_ENOTFOUND);
	assert_int_equal(check(store, NULL, &refs, true, NULL), 0);
	assert_int_equal(identity_read(&recorded, store->dirfd), 0);
	assert_string_equal(recorded.root, "none");
	assert_int_equal(check(store, NULL, &refs, true, NULL), 0);
	sh("mv said kept; mkdir said");
	/* looking says it again and again, recording once; the newest from before is named */
	assert_int_equal(check(store, NULL, &refs, false, "after 'chk_20200101_000000_000002';"), 1);
	assert_int_equal(check(store, NULL, &refs, false, "after 'chk_20200101_000000_000002';"), 1);
	assert_int_equal(check(store, NULL, &refs, true, "after 'chk_20200101_000000_000002';"), 1);
	assert_int_equal(check(store, NULL, &refs, true, NULL), 0);
	/* of nothing nothing is said */
	sh("rm -r said; mkdir said");
	assert_int_equal(check(store, NULL, &none, true, NULL), 0);
	assert_int_equal(check(store, NULL, &refs, true, NULL), 0);
	store_close(store);
}

static size_t check_git(struct store *store, const struct ref_list *refs, const char *part)
{
	struct repo *repo = NULL;
	size_t nr;

	assert_int_equal(repo_open_at(&repo, store->worktree), 0);
	nr = check(store, repo, refs, true, part);
	repo_free(repo);
	return nr;
}

static void test_projects(void **state)
{
	struct ref_item item = { .id = "chk_20200101_000000_000001" };
	struct ref_list refs = { .items = &item, .nr = 1 };
	struct store *store = recordgen_store("project");
	struct identity recorded;
	char root[IDENTITY_ROOT_SIZE];

	(void)state;
	sh("cd project; git init -q");
	assert_int_equal(check_git(store, &refs, NULL), 0);
	/* the first commit comes later */
	sh("cd project; git commit -q --allow-empty -m first");
	assert_int_equal(check_git(store, &refs, NULL), 0);
	assert_int_equal(identity_read(&recorded, store->dirfd), 0);
	root_of(root, store->worktree);
	assert_string_equal(recorded.root, root);
	/* cloned again */
	sh("git clone -q project again; rm -rf project; mv again project");
	assert_int_equal(check_git(store, &refs, "created after 'chk_20200101_000000_000001';"), 1);
	assert_int_equal(check_git(store, &refs, NULL), 0);
	/* another history in the same directory is a matter of the user's */
	sh("cd project; git checkout -q --orphan o; git commit -q --allow-empty -m o");
	assert_int_equal(check_git(store, &refs, NULL), 0);
	sh("rm -rf project; git init -q project; git -C project commit -q --allow-empty -m other");
	assert_int_equal(check_git(store, &refs, "another project"), 1);
	assert_int_equal(check_git(store, &refs, NULL), 0);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare),	       cmocka_unit_test(test_same_project),
		cmocka_unit_test(test_of_a_directory), cmocka_unit_test(test_root_commit),
		cmocka_unit_test(test_written_and_read), cmocka_unit_test(test_said_once),
		cmocka_unit_test(test_projects),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
