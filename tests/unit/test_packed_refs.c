/* SPDX-License-Identifier: MIT */
/* Refs in packed-refs: what git wrote, what we write, and what a bad disk leaves. */
#include "store/refs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"

#include "refstore.h"

/* Lines that say the same twice, or contradict each other: one counts, always the same one. */
static void test_refs_packed_twice_are_one(void **state)
{
	struct ref_list list;

	(void)state;
	sh("cd '%s'; n=refs/checkpoints/chk_20260101_000000_000001; "
	   "printf '%%040d %%s\n' 2 $n 1 $n 2 $n 3 ${n%%%%1}2 >packed-refs; echo \"abc $n\" >>packed-refs",
	   store->path);
	assert_int_equal(refs_list(&list, store), 0);
	assert_int_equal(list.nr, 2);
	assert_int_equal(list.items[0].commit.id[OID_SIZE - 1], 2);
	assert_int_equal(list.items[1].commit.id[OID_SIZE - 1], 3);
	refs_release(&list);
}

/* What follows a NUL, which a bad disk may leave, is still read. */
static void test_refs_packed_after_a_nul_are_seen(void **state)
{
	struct ref_list list;

	(void)state;
	sh("cd '%s'; n=refs/checkpoints/chk_20260101_000000_00000; "
	   "{ printf '%%040d %%s\n' 1 ${n}1; printf 'a\\0b\n'; printf '%%040d %%s\n' 2 ${n}2; } >packed-refs",
	   store->path);
	assert_int_equal(refs_list(&list, store), 0);
	assert_int_equal(list.nr, 2);
	refs_release(&list);
}

/* Bytes of any kind in packed-refs are borne. */
static void test_refs_packed_refs_of_any_bytes(void **state)
{
	struct strbuf text = STRBUF_INIT;
	char path[2 * PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/packed-refs", store->path);
	for (int i = 0; i < 5; i++)
		strbuf_addf(&text, "%040d refs/checkpoints/chk_20260101_000000_00000%d\n", i, i);
	for (int round = 0; round < 400; round++) {
		char *copy = xmemdupz(text.buf, text.len);
		struct ref_list list;

		for (unsigned n = rnd(10); n; n--)
			copy[rnd((unsigned)text.len)] = rnd(3) ? (char)rnd(256) : "\n \0"[rnd(3)];
		put_bytes(path, copy, rnd(2) ? text.len : rnd((unsigned)text.len));
		assert_int_equal(refs_list(&list, store), 0);
		for (size_t i = 0; i < list.nr; i++) {
			assert_true(refs_valid_id(list.items[i].id));
			assert_true(!i || strcmp(list.items[i - 1].id, list.items[i].id) < 0);
		}
		refs_release(&list);
		free(copy);
	}
	strbuf_release(&text);
}

/* want[i]: 1: the i-th id is loose, 2: only packed, 0: neither. */
static void assert_merged(const struct ref_list *list, const unsigned char *want, int nr)
{
	size_t at = 0;

	for (int i = 0; i < nr; i++) {
		if (!want[i])
			continue;
		assert_string_equal(list->items[at].id, nth_id(i));
		assert_int_equal(list->items[at].commit.id[0], i + 1);
		assert_int_equal(list->items[at++].commit.id[1], want[i]);
	}
}

/* Whatever is loose, packed, or both: each id once, by id, and the loose one counts. */
static void test_refs_list_merges(void **state)
{
	struct strbuf text = STRBUF_INIT;
	char path[2 * PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/packed-refs", store->path);
	for (int round = 0; round < 60; round++) {
		unsigned char want[40];
		struct ref_list list;
		size_t nr = 0;

		sh("rm -rf '%s/refs/checkpoints'; mkdir '%s/refs/checkpoints'", store->path,
		   store->path);
		strbuf_reset(&text);
		for (int i = 0; i < 40; i++) {
			bool loose = rnd(3) == 0, packed = rnd(3) > 0;
			struct oid one = { { (unsigned char)(i + 1), 1 } };

			want[i] = loose ? 1 : packed ? 2 : 0;
			nr += want[i] != 0;
			if (loose)
				assert_int_equal(refs_create(store, nth_id(i), &one), 0);
			if (packed)
				strbuf_addf(&text, "%02x02%036d refs/checkpoints/%s\n", i + 1, 0,
					    nth_id(i));
		}
		put_bytes(path, text.buf, text.len);
		/* The second time from what is known. */
		for (int again = 0; again < 2; again++) {
			assert_int_equal(refs_list(&list, store), 0);
			assert_int_equal(list.nr, nr);
			assert_merged(&list, want, 40);
			refs_release(&list);
		}
	}
	sh("rm -f '%s'; rm -rf '%s/refs/checkpoints'; mkdir '%s/refs/checkpoints'", path,
	   store->path, store->path);
	strbuf_release(&text);
}

/* A peeled line belongs to the line before it. */
static void test_refs_delete_from_odd_packed_refs(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	sh("cd '%s'; c=%s; p=refs/checkpoints/chk_20260101_000000_00000; "
	   "printf '# pack-refs with: peeled fully-peeled sorted \n%%s %%s1\n%%s %%s2\n^%%s\n"
	   "%%s %%s3\n%%s x%%s2\n%%s %%s22\n%%s %%s2' $c $p $c $p $c $c $p $c $p $c $p $c $p >packed-refs",
	   store->path, "1111111111111111111111111111111111111111");
	assert_int_equal(refs_delete(store, "chk_20260101_000000_000002"), 0);
	ask(&out, "sed 's/.* //' '%s/packed-refs'", store->path);
	assert_null(strstr(out.buf, "\nrefs/checkpoints/chk_20260101_000000_000002\n"));
	assert_null(strstr(out.buf, "^"));
	assert_non_null(strstr(out.buf, "000001\n"));
	assert_non_null(strstr(out.buf, "000003\n"));
	assert_non_null(strstr(out.buf, "\nxrefs/checkpoints/chk_20260101_000000_000002\n"));
	assert_non_null(strstr(out.buf, "\nrefs/checkpoints/chk_20260101_000000_0000022\n"));
	strbuf_release(&out);
}

/* One that cannot be read may have anything in it: it is not rewritten. */
static void test_refs_unreadable_packed_refs_stay(void **state)
{
	static const char id[] = "chk_20260101_000000_000001";
	struct ref_list refs;

	(void)state;
	sh("cd '%s'; rm -f packed-refs; mkdir packed-refs", store->path);
	for (int i = 0; i < 200; i++)
		assert_int_equal(refs_create(store, nth_id(i), &commit), 0);
	assert_int_equal(refs_list(&refs, store), 0);
	refs_pack(store, refs.loose);
	refs_release(&refs);
	assert_int_equal(refs_list(&refs, store), 0);
	assert_int_equal(refs.nr, 200);
	assert_int_equal(refs.loose, 200);
	refs_release(&refs);
	assert_int_equal(refs_delete(store, id), 0);
	sh("cd '%s'; test -d packed-refs; test ! -e packed-refs.lock; rmdir packed-refs", store->path);
}

/* Packed by us, git sees the same refs; a damaged one, and what came since, stay as they are. */
static void test_refs_pack(void **state)
{
	struct ref_list before, after;
	struct strbuf ours = STRBUF_INIT, gits = STRBUF_INIT;
	struct strlist ids = STRLIST_INIT;

	(void)state;
	for (int i = 0; i < 150; i++)
		assert_int_equal(refs_create(store, nth_id(i), &commit), 0);
	/* A tag has a line of its own after it. */
	sh("cd '%s'; git --git-dir=. -c user.name=A -c user.email=a@b tag -a -m x heavy refs/checkpoints/%s; "
	   "git --git-dir=. pack-refs --all; grep -q '^^' packed-refs",
	   store->path, nth_id(0));
	for (int i = 150; i < 300; i++)
		assert_int_equal(refs_create(store, nth_id(i), &commit), 0);
	ask(&gits, "git --git-dir='%s' for-each-ref", store->path);
	sh("cd '%s'; : >refs/checkpoints/%s", store->path, nth_id(300));
	assert_int_equal(refs_list(&before, store), 0);
	assert_int_equal(before.nr, 301);
	assert_int_equal(before.loose, 151);
	refs_pack(store, before.loose);
	assert_int_equal(refs_list(&after, store), 0);
	assert_int_equal(after.nr, 301);
	assert_int_equal(after.loose, 1);
	assert_memory_equal(before.items, after.items, 301 * sizeof(*before.items));
	sh("cd '%s'; test \"$(ls refs/checkpoints)\" = %s; rm refs/checkpoints/%s; "
	   "test ! -e packed-refs.lock; grep -A1 refs/tags/heavy packed-refs | grep -q '^^'",
	   store->path, nth_id(300), nth_id(300));
	ask(&ours, "git --git-dir='%s' for-each-ref", store->path);
	assert_string_equal(ours.buf, gits.buf);
	/* Few are left as they are. */
	refs_release(&after);
	assert_int_equal(refs_create(store, nth_id(300), &commit), 0);
	assert_int_equal(refs_list(&after, store), 0);
	refs_pack(store, after.loose);
	sh("test -s '%s/refs/checkpoints/%s'", store->path, nth_id(300));
	/* Many are taken out at once, loose ones are not touched by that. */
	for (int i = 10; i < 301; i++)
		strlist_add(&ids, nth_id(i));
	assert_int_equal(refs_unpack(store, &ids), 0);
	refs_release(&after);
	assert_int_equal(refs_list(&after, store), 0);
	assert_int_equal(after.nr, 11);
	assert_string_equal(after.items[10].id, nth_id(300));
	sh("cd '%s'; git --git-dir=. fsck --strict; git --git-dir=. tag -d heavy", store->path);
	strlist_release(&ids);
	refs_release(&before);
	refs_release(&after);
	strbuf_release(&ours);
	strbuf_release(&gits);
}

static void test_refs_delete_respects_gits_lock(void **state)
{
	static const char id[] = "chk_20260101_000000_000001", other[] = "chk_20260101_000000_000002";

	(void)state;
	assert_int_equal(refs_create(store, id, &commit), 0);
	assert_int_equal(refs_create(store, other, &commit), 0);
	sh("cd '%s'; git --git-dir=. pack-refs --all; : >packed-refs.lock", store->path);
	assert_int_equal(refs_delete(store, id), CKPT_ELOCKED);
	assert_non_null(strstr(ckpt_error_last(), "packed-refs.lock"));
	assert_true(refs_exist(store, id));
	sh("cd '%s'; test -e packed-refs.lock; test ! -s packed-refs.lock; "
	   "test -z \"$(find . -name 'tmp_ckpt_*')\"",
	   store->path);
	/* One that is not packed needs no lock. */
	assert_int_equal(refs_create(store, "chk_20260101_000000_000003", &commit), 0);
	assert_int_equal(refs_delete(store, "chk_20260101_000000_000003"), 0);
	/* Given back soon: it is waited for. */
	sh("(sleep 0.2; rm '%s/packed-refs.lock') >/dev/null 2>&1 &", store->path);
	assert_int_equal(refs_delete(store, id), 0);
	/* One of ours is that of a dead process: nobody else can hold the store's lock. */
	sh("echo git-checkpoint >'%s/packed-refs.lock'", store->path);
	assert_int_equal(refs_delete(store, other), 0);
	assert_int_equal(count_refs(), 0);
	sh("test ! -e '%s/packed-refs.lock'", store->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_refs_packed_twice_are_one, no_refs),
		cmocka_unit_test_setup(test_refs_packed_after_a_nul_are_seen, no_refs),
		cmocka_unit_test_setup(test_refs_packed_refs_of_any_bytes, no_refs),
		cmocka_unit_test_setup(test_refs_list_merges, no_refs),
		cmocka_unit_test_setup(test_refs_delete_from_odd_packed_refs, no_refs),
		cmocka_unit_test_setup(test_refs_unreadable_packed_refs_stay, no_refs),
		cmocka_unit_test_setup(test_refs_pack, no_refs),
		cmocka_unit_test_setup(test_refs_delete_respects_gits_lock, no_refs),
	};

	return cmocka_run_group_tests_name("packed refs", tests, refstore_setup, refstore_teardown);
}
