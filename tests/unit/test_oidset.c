/* SPDX-License-Identifier: MIT */
#include "store/oidset.h"

#include "unit.h"

/* Against a table of flags: names that differ in two bytes only, and collide in all the rest. */
static void test_oidset_equals_a_table(void **state)
{
	static bool model[65536];
	struct oidset set = { 0 };
	size_t nr = 0;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		unsigned n = 1 + rnd(65535);
		struct oid oid = { { 0 } };

		/* Where the hash is taken from, or, a few of them, where it is not. */
		if (n % 2 == 0)
			n = 2 + n % 512 * 2;
		oid.id[n % 2 ? 0 : 18] = (unsigned char)(n >> 8);
		oid.id[n % 2 ? 1 : 19] = (unsigned char)n;
		oid.id[10] = 1;
		if (round % 3) {
			assert_int_equal(oidset_has(&set, &oid), model[n]);
			continue;
		}
		assert_int_equal(oidset_add(&set, &oid), !model[n]);
		nr += !model[n];
		model[n] = true;
		assert_true(oidset_has(&set, &oid));
		assert_int_equal(set.nr, nr);
	}
	oidset_release(&set);
	assert_int_equal(set.nr, 0);
}

static void test_oidset_empty_has_nothing(void **state)
{
	struct oidset set = { 0 };
	struct oid oid = { { 1 } };

	(void)state;
	assert_false(oidset_has(&set, &oid));
	oidset_release(&set);
	assert_true(oidset_add(&set, &oid));
	assert_false(oidset_add(&set, &oid));
	oidset_release(&set);
	/* Released, it may be used again. */
	assert_false(oidset_has(&set, &oid));
	assert_true(oidset_add(&set, &oid));
	oidset_release(&set);
}

static void test_oidset_many_random_names(void **state)
{
	enum { NR = 20000 };
	static struct oid oids[NR];
	struct oidset set = { 0 };

	(void)state;
	for (int i = 0; i < NR; i++) {
		rnd_bytes(&oids[i], sizeof(oids[i]));
		assert_true(oidset_add(&set, &oids[i]));
	}
	for (int i = 0; i < NR; i++) {
		struct oid other = oids[i];

		assert_true(oidset_has(&set, &oids[i]));
		other.id[rnd(OID_SIZE)] ^= (unsigned char)(1 + rnd(255));
		assert_false(oidset_has(&set, &other));
	}
	assert_int_equal(set.nr, NR);
	oidset_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oidset_equals_a_table),
		cmocka_unit_test(test_oidset_empty_has_nothing),
		cmocka_unit_test(test_oidset_many_random_names),
	};

	return cmocka_run_group_tests_name("oidset", tests, NULL, NULL);
}
