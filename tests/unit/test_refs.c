/* SPDX-License-Identifier: MIT */
#include "store/refs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "store/keepers.h"
#include "unit.h"

#include "refstore.h"

static void test_refs_delete_takes_ids_alone(void **state)
{
	struct ref_list refs;

	(void)state;
	assert_int_equal(refs_create(store, nth_id(1), &commit), 0);
	assert_int_not_equal(refs_delete(store, ""), 0);
	assert_int_not_equal(refs_delete(store, "."), 0);
	assert_int_not_equal(refs_delete(store, "../checkpoints"), 0);
	assert_int_equal(refs_list(&refs, store), 0);
	assert_int_equal(refs.nr, 1);
	refs_release(&refs);
}

static void test_refs_valid_id(void **state)
{
	static const char good[] = "chk_20260930_123456_0af9be";

	(void)state;
	assert_true(refs_valid_id(good));
	assert_true(refs_valid_id("chk_00000000_000000_000000"));
	assert_false(refs_valid_id(""));
	/* Every other length, and every character that does not belong. */
	for (size_t len = 0; len < strlen(good); len++) {
		char *cut = xmemdupz(good, len);

		assert_false(refs_valid_id(cut));
		free(cut);
	}
	assert_false(refs_valid_id("chk_20260930_123456_0af9be0"));
	assert_false(refs_valid_id("chk_20260930_123456_0af9be.lock"));
	for (size_t at = 0; at < strlen(good); at++)
		for (int c = 1; c < 256; c++) {
			bool digit = c >= '0' && c <= '9', hex = digit || (c >= 'a' && c <= 'f'),
			     expect;
			char id[32];

			strcpy(id, good);
			id[at] = (char)c;
			expect = good[at] == '_' || at < 3 ? c == good[at] : at >= 20 ? hex : digit;
			if (refs_valid_id(id) != expect)
				fail_msg("'%s'", id);
		}
}

static void make_id(char out[CKPT_ID_SIZE], unsigned n)
{
	snprintf(out, CKPT_ID_SIZE, "chk_%08u_%06u_%06x", 20260101 + n % 28, n % 240000,
		 n & 0xffffff);
}

/* What we list is what git lists, loose or packed, in the order of ids. */
static void check_list(void)
{
	struct strbuf expect = STRBUF_INIT, got = STRBUF_INIT;
	struct ref_list list;

	ask(&expect,
	    "git --git-dir='%s' for-each-ref --format='%%(objectname) %%(refname:lstrip=2)' "
	    "refs/checkpoints",
	    store->path);
	assert_int_equal(refs_list(&list, store), 0);
	for (size_t i = 0; i < list.nr; i++) {
		char hex[OID_HEX + 1];

		strbuf_addf(&got, "%s %s\n", oid_hex(hex, &list.items[i].commit), list.items[i].id);
		if (i)
			assert_true(strcmp(list.items[i - 1].id, list.items[i].id) < 0);
	}
	assert_string_equal(got.buf, expect.buf);
	refs_release(&list);
	strbuf_release(&expect);
	strbuf_release(&got);
}

static void test_refs_list_equals_git(void **state)
{
	(void)state;
	check_list();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 40; i++) {
			char id[CKPT_ID_SIZE];

			make_id(id, rnd(1000000));
			assert_int_equal(refs_create(store, id, &commit), 0);
		}
		check_list();
		if (round < 2) {
			sh("git --git-dir='%s' pack-refs --all", store->path);
			check_list();
		}
	}
	sh("test -s '%s/packed-refs'; test -z \"$(find '%s' -name 'tmp_ckpt_*')\"", store->path,
	   store->path);
}

static void test_refs_loose_ones_win_over_packed(void **state)
{
	struct oid other = { { 1, 2, 3 } };
	struct ref_list list;

	(void)state;
	assert_int_equal(refs_create(store, "chk_20260930_123456_0af9be", &commit), 0);
	sh("git --git-dir='%s' pack-refs --all", store->path);
	assert_int_equal(refs_create(store, "chk_20260930_123456_0af9be", &other), 0);
	assert_int_equal(refs_list(&list, store), 0);
	assert_int_equal(list.nr, 1);
	assert_true(oid_equal(&list.items[0].commit, &other));
	refs_release(&list);
}

/* A damaged one is listed with a zero commit and hides no other. */
static void test_refs_damage_hides_nothing_else(void **state)
{
	static const char *const harm[] = {
		": >$r",
		"printf 'garbage' >$r",
		"head -c 41 /dev/zero >$r",
		"rm $r; mkdir $r",
		"rm $r; mkfifo $r",
		"rm $r; ln -s nowhere $r; false",
		"printf 'ref: refs/x\\n' >$r",
		"printf '%.39s' $(cat $r) >$r; true",
	};
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(harm); i++) {
		no_refs(state);
		assert_int_equal(refs_create(store, "chk_20260101_000000_000001", &commit), 0);
		assert_int_equal(refs_create(store, "chk_20260101_000000_000002", &commit), 0);
		assert_int_equal(refs_create(store, "chk_20260101_000000_000003", &commit), 0);
		sh("r='%s/refs/checkpoints/chk_20260101_000000_000002'; { %s; } || :", store->path,
		   harm[i]);
		fflush(NULL);
		pid = fork();
		if (!pid) {
			struct ref_list list;
			bool good = !refs_list(&list, store);

			good = good && list.items[0].id[25] == '1' &&
			       list.items[list.nr - 1].id[25] == '3' &&
			       oid_equal(&list.items[0].commit, &commit) &&
			       oid_equal(&list.items[list.nr - 1].commit, &commit);
			/* That it is damaged shows, unless it is gone. */
			if (good && list.nr == 3)
				good = oid_is_zero(&list.items[1].commit);
			_exit(good && list.nr >= 2 ? 0 : 1 + (int)i);
		}
		expect_exit(pid, 10);
	}
}

static void test_refs_other_names_are_passed_over(void **state)
{
	struct ref_list list;

	(void)state;
	assert_int_equal(refs_create(store, "chk_20260101_000000_000001", &commit), 0);
	sh("cd '%s/refs/checkpoints'; for n in a chk_ chk_20260101_000000_00000g "
	   "chk_20260101_000000_000001.lock tmp_ckpt_1; do cp chk_20260101_000000_000001 $n; done; "
	   "mkdir -p deeper; cp a deeper/chk_20260101_000000_000009; cd ../..; "
	   "printf '# pack-refs with: peeled\\n\\nnonsense\\n^%%040d\\n%%040d refs/heads/x\\n"
	   "%%040d refs/checkpoints/zzz\\nabc refs/checkpoints/chk_20260101_000000_000007\\n' 1 1 "
	   "1 >packed-refs",
	   store->path);
	assert_int_equal(refs_list(&list, store), 0);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.items[0].id, "chk_20260101_000000_000001");
	assert_true(oid_is_zero(&list.items[1].commit));
	refs_release(&list);
	/* None at all is an empty list. */
	sh("cd '%s'; rm -rf refs/checkpoints packed-refs", store->path);
	assert_int_equal(refs_list(&list, store), 0);
	assert_int_equal(list.nr, 0);
	refs_release(&list);
}

static void test_refs_latest_is_where_git_log_begins(void **state)
{
	struct strbuf out = STRBUF_INIT;
	char hex[OID_HEX + 1];

	(void)state;
	refs_set_latest(store, &commit);
	ask(&out, "git --git-dir='%s' rev-parse HEAD", store->path);
	strbuf_trim(&out);
	assert_string_equal(out.buf, oid_hex(hex, &commit));
	/* It may fail; the list does not. */
	sh("rm -rf '%s/refs/heads'", store->path);
	refs_set_latest(store, &commit);
	strbuf_release(&out);
}

static void test_refs_create_fails_with_a_sentence(void **state)
{
	(void)state;
	sh("rm -rf '%s/refs/checkpoints'", store->path);
	assert_int_not_equal(refs_create(store, "chk_20260101_000000_000001", &commit), 0);
	assert_non_null(strstr(ckpt_error_last(), "chk_20260101_000000_000001"));
	sh("test -z \"$(find '%s' -name 'tmp_ckpt_*')\"", store->path);
}

/* Loose, packed, or both: gone for us and for git, and all others as they were. */
static void test_refs_delete(void **state)
{
	char ids[30][CKPT_ID_SIZE];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
		make_id(ids[i], i * 31);
		assert_int_equal(refs_create(store, ids[i], &commit), 0);
		if (i == 9 || i == 19)
			sh("git --git-dir='%s' pack-refs --all", store->path);
	}
	assert_int_equal(refs_create(store, ids[3], &commit), 0); /* packed and loose */
	for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
		assert_true(refs_exist(store, ids[i]));
		assert_int_equal(refs_delete(store, ids[i]), 0);
		assert_false(refs_exist(store, ids[i]));
		assert_int_equal(count_refs(), ARRAY_SIZE(ids) - 1 - i);
		check_list();
	}
	/* Once more: not a failure. */
	assert_int_equal(refs_delete(store, ids[0]), 0);
	sh("cd '%s'; git --git-dir=. fsck --strict; test ! -e packed-refs.lock; "
	   "test -z \"$(find . -name 'tmp_ckpt_*')\"",
	   store->path);
}

/* --- keepers --- */

static const struct keepers *read_keepers(void)
{
	const struct keepers *keepers;

	assert_int_equal(keepers_read(&keepers, store), 0);
	return keepers;
}

static bool is_needed(const char *id)
{
	struct ref_item ref = { .commit = { { 9 } } };

	strcpy(ref.id, id);
	return keepers_need(read_keepers(), &ref);
}

static void pack_all(void)
{
	sh("git --git-dir='%s' pack-refs --all", store->path);
}

static void test_keepers_add_and_remove(void **state)
{
	static const char id[] = "chk_20260101_000000_000001";
	const struct ref_item ref = { "chk_20260101_000000_000001", commit };

	(void)state;
	for (int packed = 0; packed < 2; packed++)
		for (int who = KEEPER_PIN; who < KEEPER_PROCESS; who++) {
			const char *name = who == KEEPER_NAME ? "a-name" : id;
			struct oid oid;

			assert_false(keepers_need(read_keepers(), &ref));
			assert_int_equal(keepers_add(store, who, name, &commit), 0);
			if (packed)
				pack_all();
			assert_true(keepers_need(read_keepers(), &ref));
			assert_true(keepers_find(&oid, store, who, name) && oid_equal(&oid, &commit));
			assert_int_equal(keepers_has(read_keepers(), who, id), who != KEEPER_NAME);
			assert_false(is_needed("chk_20260101_000000_000002"));
			sh("git --git-dir='%s' for-each-ref refs/keep | grep -q %s", store->path, name);
			/* They go with the checkpoint, or on their own. */
			assert_int_equal(packed ? keepers_forget(store, &ref) :
						  keepers_remove(store, who, name), 0);
			assert_false(keepers_need(read_keepers(), &ref));
			assert_false(keepers_find(&oid, store, who, name));
		}
	assert_int_equal(keepers_remove(store, KEEPER_PIN, id), 0);
}

static void test_keepers_of_others_count(void **state)
{
	(void)state;
	sh("git --git-dir='%s' update-ref refs/keep/me/chk_20260101_000000_000001 "
	   "refs/checkpoints/chk_20260101_000000_000002",
	   store->path);
	assert_true(is_needed("chk_20260101_000000_000001"));
}

static int with_three(void **state)
{
	no_refs(state);
	sh("rm -rf '%s/refs/keep/'*", store->path);
	for (int i = 1; i <= 3; i++)
		if (refs_create(store, nth_id(i), &commit))
			return -1;
	return 0;
}

static void expect_set(enum keeper who, const char *const *ids, size_t nr)
{
	for (int i = 1; i <= 4; i++) {
		bool is = false;

		for (size_t j = 0; j < nr; j++)
			is = is || !strcmp(ids[j], nth_id(i));
		if (keepers_has(read_keepers(), who, nth_id(i)) != is)
			sh("find %s/refs; cat %s/packed-refs; exit 1", store->path, store->path);
	}
}

static void test_keepers_set(void **state)
{
	const char *first[] = { "chk_20260101_000000_000001", "chk_20260101_000000_000002" },
		   *second[] = { "chk_20260101_000000_000002", "chk_20260101_000000_000003" },
		   *all[] = { first[0], first[1], second[1] };
	struct strlist one = STRLIST_INIT, other = STRLIST_INIT;

	for (int packed = 0; packed < 2; packed++) {
		with_three(state);
		for (size_t i = 0; i < 2; i++) {
			strlist_add(&one, first[i]);
			strlist_add(&other, second[i]);
		}
		/* What does not exist cannot be kept, and harms nothing. */
		strlist_add(&one, nth_id(4));
		strlist_add(&one, "");
		if (packed)
			pack_all();
		assert_int_equal(keepers_set(store, KEEPER_UNDO, &one, true), 0);
		expect_set(KEEPER_UNDO, first, 2);
		assert_int_equal(keepers_set(store, KEEPER_UNDO, &other, false), 0);
		expect_set(KEEPER_UNDO, all, 3);
		assert_int_equal(keepers_set(store, KEEPER_UNDO, &other, true), 0);
		expect_set(KEEPER_UNDO, second, 2);
		expect_set(KEEPER_JOURNAL, NULL, 0);
		strlist_release(&one);
		assert_int_equal(keepers_set(store, KEEPER_UNDO, &one, true), 0);
		expect_set(KEEPER_UNDO, NULL, 0);
		strlist_release(&other);
		assert_int_equal(count_refs(), 3);
		sh("git --git-dir='%s' fsck --strict", store->path);
	}
}

/* What an interrupted deletion leaves; of one that lost its ref the pin stays. */
static void test_keepers_sweep(void **state)
{
	static const char there[] = "chk_20260101_000000_000001", gone[] = "chk_20260101_000000_000009",
			  lost[] = "chk_20260101_000000_000008", composed[] = "cmp_20260101_000000_000007";
	struct ref_item item = { 0 };
	const struct ref_list list = { .items = &item, .nr = 1 };

	strcpy(item.id, lost);
	for (int packed = 0; packed < 2; packed++) {
		with_three(state);
		assert_int_equal(keepers_add(store, KEEPER_PIN, there, &commit), 0);
		assert_int_equal(keepers_add(store, KEEPER_PIN, gone, &commit), 0);
		assert_int_equal(keepers_add(store, KEEPER_FLOW, gone, &commit), 0);
		assert_int_equal(keepers_add(store, KEEPER_PIN, lost, &commit), 0);
		assert_int_equal(keepers_add(store, KEEPER_UNDO, composed, &commit), 0);
		if (packed)
			pack_all();
		assert_int_equal(keepers_sweep(store, &list), 0);
		assert_true(is_needed(there) && is_needed(lost) && is_needed(composed));
		assert_false(is_needed(gone));
	}
}

static void test_keepers_of_a_process_end_with_it(void **state)
{
	static const struct ref_list none;
	struct keepers_hold hold;
	const char *id = nth_id(1);
	pid_t pid;

	(void)state;
	assert_int_equal(keepers_hold(&hold, store, nth_id(4)), CKPT_ENOTFOUND);
	keepers_let_go(&hold);
	assert_int_equal(keepers_hold(&hold, store, id), 0);
	assert_true(is_needed(id));
	assert_int_equal(keepers_sweep(store, &none), 0);
	assert_true(is_needed(id));
	sh("git --git-dir='%s' fsck --strict; git --git-dir='%s' for-each-ref refs/keep/process | grep -q %s",
	   store->path, store->path, id);
	keepers_let_go(&hold);
	assert_false(is_needed(id));
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(keepers_hold(&hold, store, id) ? 1 : 0);
	expect_exit(pid, 10);
	assert_true(is_needed(id));
	assert_int_equal(keepers_sweep(store, &none), 0);
	assert_false(is_needed(id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refs_valid_id),
		cmocka_unit_test_setup(test_refs_delete_takes_ids_alone, no_refs),
		cmocka_unit_test_setup(test_refs_list_equals_git, no_refs),
		cmocka_unit_test_setup(test_refs_loose_ones_win_over_packed, no_refs),
		cmocka_unit_test_setup(test_refs_damage_hides_nothing_else, no_refs),
		cmocka_unit_test_setup(test_refs_other_names_are_passed_over, no_refs),
		cmocka_unit_test_setup(test_refs_latest_is_where_git_log_begins, no_refs),
		cmocka_unit_test_setup(test_refs_create_fails_with_a_sentence, no_refs),
		cmocka_unit_test_setup(test_refs_delete, no_refs),
		cmocka_unit_test_setup(test_keepers_add_and_remove, no_refs),
		cmocka_unit_test_setup(test_keepers_of_others_count, with_three),
		cmocka_unit_test_setup(test_keepers_set, with_three),
		cmocka_unit_test_setup(test_keepers_sweep, with_three),
		cmocka_unit_test_setup(test_keepers_of_a_process_end_with_it, with_three),
	};

	return cmocka_run_group_tests_name("refs", tests, refstore_setup, refstore_teardown);
}
