/* SPDX-License-Identifier: MIT */
#include "store/reach.h"

#include "base/error.h"
#include "store/packs.h"
#include "store/refs.h"
#include "unit.h"

#include "packgen.h"

#include <sys/resource.h>

/*
 * What stock git says is reachable, and from where, against what reach.c finds: in stores whose
 * objects and refs stock git has made.
 */

enum { CHECKPOINTS = 7 };

/* The objects of the store are made by git in a worktree of its own. */
static void git(struct store *store, const char *script)
{
	sh("export GIT_DIR='%s' GIT_WORK_TREE=%s/made; mkdir -p made; cd made; %s", store->path, scratch,
	   script);
}

static const char *id_of(unsigned n)
{
	static char id[CKPT_ID_SIZE];

	snprintf(id, sizeof(id), "chk_20260101_0000%02u_abcdef", n % 100);
	return id;
}

/*
 * Checkpoints as refs to commits that share subtrees, with a parent that has a tree of its own, as
 * the records have it: "made0" in several packs, "made1" in loose objects, "made2" in one pack with
 * deltas.
 */
static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("for d in 0 1 2 3 4; do mkdir -p m/d$d/e0/f m/d$d/e1/f m/d$d/e2/f; done; git init -q made0; "
	   "cd m; export GIT_DIR=../made0/.git GIT_WORK_TREE=.; n=0; while test $n -lt %d; do i=0; "
	   "while test $i -lt 12; do d=$(((i * 7 + n) %% 5)); "
	   "echo \"$i $((n %% (i + 1)))\" >d$d/e$((i %% 3))/f/$i; printf '%%0999d %%d' $i $((n * i)) >d$d/s$i; "
	   "i=$((i + 1)); done; cp -r d2 \"copy $n\"; ln -sf a$n link; "
	   "git add -A; t=$(git write-tree); m=$(echo $n | git hash-object -w --stdin); "
	   "mt=$(printf '100644 blob %%s\\tmeta\\n' $m | git mktree); p=$(git commit-tree -m meta $mt); "
	   "git update-ref refs/checkpoints/chk_20260101_00000${n}_abcdef $(git commit-tree -p $p -m $n $t); "
	   "n=$((n + 1)); done; unset GIT_DIR GIT_WORK_TREE; cd ..; cp -r made0 made1; cp -r made0 made2; "
	   "git -C made2 repack -adfq; git -C made2 prune-packed; cd made0; "
	   "git rev-list --objects --glob=refs/checkpoints | cut -c1-40 | split -n r/4 - ../part.; "
	   "for p in ../part.*; do git pack-objects -q --window=0 .git/objects/pack/pack <$p >/dev/null; done; "
	   "git prune-packed -q; test $(ls .git/objects/pack/*.idx | wc -l) = 4",
	   CHECKPOINTS);
	return 0;
}

static void fill(struct store *store, unsigned kind)
{
	sh("rm -rf made; cp -r made%u/.git/objects made%u/.git/refs '%s'", kind, kind, store->path);
}

static void commit_of(struct oid *out, struct store *store, unsigned n)
{
	struct strbuf hex = STRBUF_INIT;

	ask(&hex, "git --git-dir='%s' rev-parse refs/checkpoints/%s", store->path, id_of(n));
	assert_true(oid_parse(out, hex.buf));
	strbuf_release(&hex);
}

static void add_checkpoints(struct reach *reach, struct store *store)
{
	struct ref_list refs;

	assert_int_equal(refs_list(&refs, store), 0);
	for (size_t i = 0; i < refs.nr; i++)
		assert_int_equal(reach_add(reach, &refs.items[i].commit, (uint32_t)i), 0);
	refs_release(&refs);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The set, as sorted lines of hex, in a file. */
static void put_set(const struct reach *reach, const char *path)
{
	struct strbuf out = STRBUF_INIT;
	char **lines = xcalloc(reach_count(reach) + 1, sizeof(*lines)), hex[OID_HEX + 1];
	const char *name;

	for (size_t i = 0; i < reach_count(reach); i++) {
		const struct oid *oid = reach_at(reach, i, &name);

		assert_true(reach_has(reach, oid));
		assert_non_null(name);
		lines[i] = xstrdup(oid_hex(hex, oid));
	}
	qsort(lines, reach_count(reach), sizeof(*lines), by_name);
	for (size_t i = 0; i < reach_count(reach); i++) {
		strbuf_addf(&out, "%s\n", lines[i]);
		free(lines[i]);
	}
	put_bytes(path, out.buf, out.len);
	strbuf_release(&out);
	free(lines);
}

/* All that git finds from all refs and HEADs, and nothing else. */
static void same_as_git(struct store *store)
{
	struct reach *reach;

	store = reopen(store);
	reach = reach_new(store);
	add_checkpoints(reach, store);
	assert_int_equal(reach_add_refs(reach, 100), 0);
	assert_false(reach_damaged(reach));
	put_set(reach, in_scratch("found"));
	sh("git --git-dir='%s' rev-list --objects --all $(git --git-dir='%s' rev-parse -q --verify HEAD) "
	   "| cut -c1-40 | LC_ALL=C sort -u >wanted; test $(wc -l <wanted) -gt 100; diff wanted found",
	   store->path, store->path);
	reach_free(reach);
	store_close(store);
}

static void test_reach_finds_what_git_finds(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 3; kind++) {
		struct store *store = new_store();

		fill(store, kind);
		same_as_git(store);
	}
}

static void test_reach_finds_what_people_made_with_git(void **state)
{
	struct store *store = new_store();

	(void)state;
	fill(store, 0);
	/* A history with a merge, tags of all kinds, a tag of a tag, a tree and a blob, HEAD alone. */
	git(store, "git checkout -q -b mine refs/checkpoints/chk_20260101_000002_abcdef; "
		   "echo 1 >new; git add new; git commit -qm 1; git branch side; "
		   "echo 2 >new; git commit -qam 2; git checkout -q side; echo 3 >other; git add other; "
		   "git commit -qm 3; git merge -q -m merged mine; git tag light; "
		   "git tag -a -m heavy heavy mine; git tag -a -m twice twice heavy; "
		   "git update-ref refs/odd/deep/tree $(git rev-parse mine:d2); "
		   "git update-ref refs/odd/blob $(echo alone | git hash-object -w --stdin); "
		   "git notes add -m note mine; "
		   "git checkout -q --detach; echo 4 >new; git commit -qam 'only HEAD has it'; "
		   "rm $GIT_DIR/index");
	same_as_git(store);
}

static void test_reach_finds_packed_refs(void **state)
{
	struct store *store = new_store();
	char *worktree = xstrdup(store->worktree);

	(void)state;
	fill(store, 1);
	git(store, "git tag -a -m heavy heavy refs/checkpoints/chk_20260101_000001_abcdef; "
		   "git branch mine refs/checkpoints/chk_20260101_000001_abcdef; "
		   "git checkout -q -f mine; echo 5 >five; git add five; git commit -qm five; "
		   "git repack -adq; git prune-packed; git pack-refs --all --prune; "
		   "test -z \"$(find $GIT_DIR/refs -type f)\"; rm $GIT_DIR/index");
	same_as_git(store);
	/* A loose one hides the packed one: its old value is nobody's. */
	assert_int_equal(store_open(&store, worktree), 0);
	assert_int_equal(objects_open(store), 0);
	git(store, "git update-ref refs/heads/mine refs/checkpoints/chk_20260101_000001_abcdef; "
		   "grep refs/heads/mine $GIT_DIR/packed-refs >/dev/null");
	same_as_git(store);
	free(worktree);
}

static void test_reach_finds_linked_worktrees(void **state)
{
	struct store *store = new_store();
	struct strbuf hex = STRBUF_INIT;
	struct reach *reach;
	struct oid oid;

	(void)state;
	fill(store, 1);
	git(store, "git worktree add -q --detach ../linked refs/checkpoints/chk_20260101_000001_abcdef; "
		   "unset GIT_WORK_TREE GIT_DIR; cd ../linked; echo 1 >more; git add more; git commit -qm more");
	ask(&hex, "cd linked; git rev-parse HEAD");
	assert_true(oid_parse(&oid, hex.buf));
	reach = reach_new(store);
	assert_int_equal(reach_add_refs(reach, 0), 0);
	assert_true(reach_has(reach, &oid));
	assert_false(reach_damaged(reach));
	reach_free(reach);
	store_close(store);
	strbuf_release(&hex);
}

/* Of a history that is longer than any stack is deep. */
static void test_reach_follows_long_histories(void **state)
{
	struct store *store = new_store();
	struct rlimit usual, small;
	struct reach *reach;

	(void)state;
	git(store, "seq 10000 | sed 's/.*/commit refs\\/heads\\/long\\ncommitter A <a@b> & +0000\\ndata 0\\n/' "
		   "| git fast-import --quiet");
	store = reopen(store);
	assert_int_equal(getrlimit(RLIMIT_STACK, &usual), 0);
	small = usual;
	small.rlim_cur = 512 * 1024;
	assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
	reach = reach_new(store);
	assert_int_equal(reach_add_refs(reach, 0), 0);
	assert_int_equal(setrlimit(RLIMIT_STACK, &usual), 0);
	assert_int_equal(reach_count(reach), 10001); /* and the empty tree */
	reach_free(reach);
	store_close(store);
}

/* ---- owners ---- */

/* Bytes in packs of the objects in the file `list`, as git lists packs. */
static uint64_t git_bytes(struct store *store, const char *list)
{
	struct strbuf sum = STRBUF_INIT;
	uint64_t bytes;

	ask(&sum,
	    "for i in '%s'/objects/pack/*.idx; do git verify-pack -v $i; done | "
	    "grep '^[0-9a-f]\\{40\\} ' | awk 'NR == FNR { want[$1] = 1; next } "
	    "want[$1] { sum += $4 } END { print sum + 0 }' %s -",
	    store->path, list);
	bytes = strtoull(sum.buf, NULL, 10);
	strbuf_release(&sum);
	return bytes;
}

/* Taken away from the last one on, each gives back what belongs to it. */
static void test_reach_tells_what_each_one_frees(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 3; kind += 2) {
		struct store *store = new_store();
		struct reach *reach;

		fill(store, kind);
		store = reopen(store);
		reach = reach_new(store);
		add_checkpoints(reach, store);
		for (unsigned n = CHECKPOINTS; n--;) {
			uint64_t freed;

			sh("export GIT_DIR='%s'; git rev-list --objects --glob=refs/checkpoints | cut -c1-40 "
			   "| LC_ALL=C sort -u >before; git update-ref -d refs/checkpoints/%s; "
			   "git rev-list --objects --glob=refs/checkpoints | cut -c1-40 | LC_ALL=C sort -u >after; "
			   "LC_ALL=C comm -23 before after >freed",
			   store->path, id_of(n));
			freed = git_bytes(store, "freed");
			assert_true(freed > 0);
			assert_int_equal(reach_bytes(reach, n), freed);
		}
		assert_int_equal(reach_bytes(reach, CHECKPOINTS), 0);
		reach_free(reach);
		store_close(store);
	}
}

static void test_reach_bytes_follow_what_is_added(void **state)
{
	struct store *store = new_store();
	struct reach *reach;
	struct oid commit;
	uint64_t bytes;

	(void)state;
	fill(store, 0);
	store = reopen(store);
	reach = reach_new(store);
	assert_int_equal(reach_bytes(reach, 0), 0);
	commit_of(&commit, store, 0);
	assert_int_equal(reach_add(reach, &commit, 3), 0);
	bytes = reach_bytes(reach, 3);
	assert_true(bytes > 0);
	assert_int_equal(reach_bytes(reach, 0), 0);
	/* A second time it belongs to nobody else. */
	assert_int_equal(reach_add(reach, &commit, 9), 0);
	assert_int_equal(reach_bytes(reach, 9), 0);
	commit_of(&commit, store, 1);
	assert_int_equal(reach_add(reach, &commit, 9), 0);
	assert_true(reach_bytes(reach, 9) > 0);
	assert_int_equal(reach_bytes(reach, 3), bytes);
	reach_free(reach);
	store_close(store);
}

/* ---- trouble ---- */

/* Without one tree or commit: the rest is found, and it is said. */
static void test_reach_passes_over_what_is_missing(void **state)
{
	static const char *const missing[] = { "^{tree}", ":d2", "^1^{tree}", "^1", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		struct store *store = new_store();
		struct strbuf hex = STRBUF_INIT;
		char *ref = xstrfmt("refs/checkpoints/%s", id_of(4));
		struct reach *reach;
		struct oid oid;
		size_t all;

		fill(store, 1);
		reach = reach_new(store);
		add_checkpoints(reach, store);
		all = reach_count(reach);
		reach_free(reach);
		ask(&hex, "git --git-dir='%s' rev-parse '%s%s'", store->path, ref, missing[i]);
		hex.buf[OID_HEX] = '\0';
		assert_true(oid_parse(&oid, hex.buf));
		sh("rm -f '%s'/objects/%.2s/%s", store->path, hex.buf, hex.buf + 2);
		store = reopen(store);
		reach = reach_new(store);
		add_checkpoints(reach, store);
		assert_true(reach_damaged(reach));
		assert_true(reach_has(reach, &oid)); /* needed all the same */
		assert_true(reach_count(reach) <= all && reach_count(reach) > all / 2);
		reach_free(reach);
		store_close(store);
		strbuf_release(&hex);
		free(ref);
	}
}

/* A missing blob leads nowhere: that is for others to find. */
static void test_reach_does_not_look_into_blobs(void **state)
{
	struct store *store = new_store();
	struct reach *reach;

	(void)state;
	fill(store, 1);
	git(store, "o=$(git rev-parse refs/checkpoints/chk_20260101_000003_abcdef:d2/s0); "
		   "rm -f $GIT_DIR/objects/${o%%??????????????????????????????????????}/${o#??}");
	reach = reach_new(store);
	add_checkpoints(reach, store);
	assert_false(reach_damaged(reach));
	reach_free(reach);
	store_close(store);
}

/* Invalid refs may have led anywhere. */
static void test_reach_notices_broken_refs(void **state)
{
	static const char *const broken[] = {
		": >$GIT_DIR/refs/heads/broken",
		"echo nonsense >$GIT_DIR/refs/heads/broken",
		"echo 0123456789012345678901234567890123456789 >$GIT_DIR/refs/heads/broken",
		"mkdir -p $GIT_DIR/refs/x/y; echo 01234567890123456789 >$GIT_DIR/refs/x/y/z",
		"echo 'nonsense refs/heads/x' >$GIT_DIR/packed-refs",
		"mkdir $GIT_DIR/packed-refs",
		"echo nonsense >$GIT_DIR/HEAD",
		"mkdir -p $GIT_DIR/worktrees/a; echo nonsense >$GIT_DIR/worktrees/a/HEAD",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct store *store = new_store();
		struct reach *reach = reach_new(store);

		git(store, broken[i]);
		assert_int_equal(reach_add_refs(reach, 0), 0);
		if (!reach_damaged(reach))
			fail_msg("not noticed: %s", broken[i]);
		reach_free(reach);
		store_close(store);
	}
}

static void test_reach_minds_no_locks_of_git(void **state)
{
	struct store *store = new_store();
	struct reach *reach = reach_new(store);

	(void)state;
	git(store, ": >$GIT_DIR/refs/heads/x.lock; mkdir -p $GIT_DIR/refs/a/b");
	assert_int_equal(reach_add_refs(reach, 0), 0);
	assert_false(reach_damaged(reach));
	reach_free(reach);
	store_close(store);
}

static void test_reach_gives_up_when_told(void **state)
{
	struct store *store = new_store();
	struct reach *reach;
	struct oid commit;

	(void)state;
	fill(store, 0);
	store = reopen(store);
	commit_of(&commit, store, 0);
	reach = reach_new(store);
	reach_limit(reach, -1);
	assert_int_equal(reach_add(reach, &commit, 0), 1);
	reach_free(reach);
	reach = reach_new(store);
	reach_limit(reach, 100);
	assert_int_equal(reach_add(reach, &commit, 0), 0);
	assert_false(reach_damaged(reach));
	reach_free(reach);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach_finds_what_git_finds),
		cmocka_unit_test(test_reach_finds_what_people_made_with_git),
		cmocka_unit_test(test_reach_finds_packed_refs),
		cmocka_unit_test(test_reach_finds_linked_worktrees),
		cmocka_unit_test(test_reach_follows_long_histories),
		cmocka_unit_test(test_reach_tells_what_each_one_frees),
		cmocka_unit_test(test_reach_bytes_follow_what_is_added),
		cmocka_unit_test(test_reach_passes_over_what_is_missing),
		cmocka_unit_test(test_reach_does_not_look_into_blobs),
		cmocka_unit_test(test_reach_notices_broken_refs),
		cmocka_unit_test(test_reach_minds_no_locks_of_git),
		cmocka_unit_test(test_reach_gives_up_when_told),
	};

	return cmocka_run_group_tests_name("reach", tests, setup, unit_teardown);
}
