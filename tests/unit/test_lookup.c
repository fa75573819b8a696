/* SPDX-License-Identifier: MIT */
#include "record/lookup.h"

#include "unit.h"

#include "recordgen.h"

enum { NR = 12 };

static struct store *store;
static struct ckpt_record records[NR];

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	store = recordgen_store("worktree");
	for (int i = 0; i < NR; i++) {
		char id[CKPT_ID_SIZE];

		snprintf(id, sizeof(id), "chk_2026093%u_123456_0%05x", (unsigned)i / 8 % 10,
			 0x1000u * ((unsigned)i & 15));
		recordgen_plain(&records[i], id);
		records[i].step = i % 3 ? -1 : i / 6;
		if (i % 4 == 1) {
			strlist_add(&records[i].scope, "a");
			strlist_add(&records[i].scope, "b/c");
		}
		recordgen_save(store, &records[i]);
	}
	store = recordgen_reopen(store);
	return 0;
}

static int teardown(void **state)
{
	for (int i = 0; i < NR; i++)
		record_release(&records[i]);
	store_close(store);
	return unit_teardown(state);
}

/* `index` is which one is found, or a negative code. */
static void expect(const char *name, int index)
{
	struct ckpt_record found;
	int err = lookup_name(&found, store, name);

	if (index < 0) {
		if (err != index)
			fail_msg("'%s' gives %d, not %d", name, err, index);
		assert_true(strncmp(name, "step:", 5) ? strstr(ckpt_error_last(), name) != NULL
						      : strstr(ckpt_error_last(), "step") != NULL);
		return;
	}
	if (err)
		fail_msg("'%s': %s", name, ckpt_error_last());
	if (strcmp(found.id, records[index].id))
		fail_msg("'%s' is %s, not %s", name, found.id, records[index].id);
	assert_true(oid_equal(&found.commit, &records[index].commit));
	record_release(&found);
}

static void test_lookup_by_position(void **state)
{
	(void)state;
	expect("@", NR - 1);
	expect("@~", NR - 2);
	for (int i = 0; i < NR; i++) {
		char name[16];

		snprintf(name, sizeof(name), "@~%d", i);
		expect(name, NR - 1 - i);
	}
	expect("@~12", CKPT_ENOTFOUND);
	expect("@~999999999999999999", CKPT_ENOTFOUND);
	expect("@~99999999999999999999999", CKPT_ENOTFOUND);
	expect("@~-1", CKPT_ENOTFOUND);
	expect("@~x", CKPT_ENOTFOUND);
	expect("@1", CKPT_ENOTFOUND);
	expect("@^", CKPT_ENOTFOUND);
	expect("", CKPT_ENOTFOUND);
}

/* Every prefix of every id: found if no other has it too, else all of them are named. */
static void test_lookup_by_prefix(void **state)
{
	(void)state;
	for (int i = 0; i < NR; i++)
		for (size_t len = 1; len <= strlen(records[i].id); len++) {
			char *name = xmemdupz(records[i].id, len);
			unsigned others = 0;

			for (int j = 0; j < NR; j++)
				others += j != i && !strncmp(records[j].id, name, len);
			expect(name, others ? CKPT_ERROR : i);
			if (others && others < 9)
				assert_non_null(strstr(ckpt_error_last(), records[i].id));
			free(name);
		}
	expect("chk_20260930_123456_000000x", CKPT_ENOTFOUND);
	expect("chk_2027", CKPT_ENOTFOUND);
	expect("nonsense", CKPT_ENOTFOUND);
	/* More than ten are not all listed. */
	expect("chk_", CKPT_ERROR);
	assert_non_null(strstr(ckpt_error_last(), "and 2 more"));
}

static void test_lookup_by_commit(void **state)
{
	(void)state;
	for (int i = 0; i < NR; i++) {
		char hex[OID_HEX + 1];

		oid_hex(hex, &records[i].commit);
		for (size_t len = 1; len <= OID_HEX; len++) {
			char *name = xmemdupz(hex, len);
			unsigned others = 0;

			for (int j = 0; j < NR; j++) {
				char other[OID_HEX + 1];

				others += j != i &&
					  !strncmp(oid_hex(other, &records[j].commit), hex, len);
			}
			/* Less than four digits name nothing. */
			expect(name, len < 4 ? CKPT_ENOTFOUND : others ? CKPT_ERROR : i);
			if (len >= 4 && !others) {
				for (char *p = name; *p; p++)
					if (*p >= 'a')
						*p -= 'a' - 'A';
				expect(name, i);
			}
			free(name);
		}
		strcat(strcpy(hex, "0000000000000000000000000000000000000"), "000");
		expect(hex, CKPT_ENOTFOUND);
	}
	expect("00000000000000000000000000000000000000000", CKPT_ENOTFOUND);
}

/* The newest that has it. */
static void test_lookup_by_step(void **state)
{
	(void)state;
	expect("step:0", 3);
	expect("step:1", 9);
	expect("step:2", CKPT_ENOTFOUND);
	expect("step:", CKPT_ENOTFOUND);
	expect("step:x", CKPT_ENOTFOUND);
	expect("step:-1", CKPT_ENOTFOUND);
	expect("step:18446744073709551615", CKPT_ENOTFOUND);
}

static void test_lookup_newest_of_a_scope(void **state)
{
	struct strlist scope = STRLIST_INIT;
	struct ckpt_record found;
	struct ref_list refs;

	(void)state;
	assert_int_equal(refs_list(&refs, store), 0);
	assert_int_equal(lookup_newest(&found, store, &refs, &scope), 0);
	assert_string_equal(found.id, records[NR - 1].id);
	record_release(&found);
	strlist_add(&scope, "a");
	assert_int_equal(lookup_newest(&found, store, &refs, &scope), CKPT_ENOTFOUND);
	strlist_add(&scope, "b/c");
	assert_int_equal(lookup_newest(&found, store, &refs, &scope), 0);
	assert_string_equal(found.id, records[9].id);
	record_release(&found);
	strlist_release(&scope);
	refs_release(&refs);
}

static void test_lookup_reads_all_in_order(void **state)
{
	struct ckpt_records all;

	(void)state;
	assert_int_equal(lookup_records(&all, store), 0);
	assert_int_equal(all.nr, NR);
	assert_int_equal(all.damaged.nr, 0);
	for (int i = 0; i < NR; i++)
		assert_string_equal(all.items[i].id, records[i].id);
	lookup_records_release(&all);
}

/* Last: damaged ones are passed over, named when listed, and found out when asked for by name. */
static void test_lookup_passes_over_the_damaged(void **state)
{
	struct ckpt_records all;
	struct ckpt_record found;
	char hex[OID_HEX + 1];

	(void)state;
	/* New files, because old ones were read before. */
	sh("cd '%s/refs/checkpoints'; rm %s %s; : >%s; printf %%040d 7 >%s", store->path,
	   records[NR - 1].id, records[NR - 3].id, records[NR - 1].id, records[NR - 3].id);
	expect("@", NR - 2);
	expect("@~1", NR - 4);
	expect("@~10", CKPT_ENOTFOUND);
	expect("step:1", 6);
	expect(records[NR - 1].id, CKPT_ECORRUPT);
	expect(records[NR - 3].id, CKPT_ECORRUPT);
	assert_int_equal(lookup_name(&found, store, oid_hex(hex, &records[2].commit)), 0);
	record_release(&found);
	assert_int_equal(lookup_records(&all, store), 0);
	assert_int_equal(all.nr, NR - 2);
	assert_int_equal(all.damaged.nr, 2);
	assert_non_null(strstr(all.damaged.items[0], records[NR - 1].id));
	assert_non_null(strstr(all.damaged.items[1], records[NR - 3].id));
	lookup_records_release(&all);
	/* And where there is none at all. */
	sh("cd '%s/refs/checkpoints'; rm -f *", store->path);
	assert_int_equal(lookup_name(&found, store, "@"), CKPT_ENOTFOUND);
	assert_non_null(strstr(ckpt_error_last(), "no checkpoint yet"));
	assert_int_equal(lookup_name(&found, store, "chk_"), CKPT_ENOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup_by_position),
		cmocka_unit_test(test_lookup_by_prefix),
		cmocka_unit_test(test_lookup_by_commit),
		cmocka_unit_test(test_lookup_by_step),
		cmocka_unit_test(test_lookup_newest_of_a_scope),
		cmocka_unit_test(test_lookup_reads_all_in_order),
		cmocka_unit_test(test_lookup_passes_over_the_damaged),
	};

	return cmocka_run_group_tests_name("lookup", tests, setup, teardown);
}
