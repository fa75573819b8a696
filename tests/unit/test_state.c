/* SPDX-License-Identifier: MIT */
#include "store/state.h"

#include "store/layout.h"
#include "store/shadow.h"
#include "unit.h"

#include "recordgen.h"

static json_t *get(struct store *store, const char *name)
{
	json_t *value;

	assert_int_equal(state_get(&value, store, name), 0);
	return value;
}

static void expect(struct store *store, const char *name, json_int_t number)
{
	json_t *value = get(store, name);

	assert_int_equal(json_integer_value(value), number);
	json_decref(value);
}

static void set(struct store *store, const char *name, json_int_t number)
{
	assert_int_equal(store_lock(store, 1), 0);
	assert_int_equal(state_set(store, name, json_integer(number)), 0);
	store_unlock(store);
}

static void test_members(void **ignored)
{
	struct store *store = recordgen_store("members");

	(void)ignored;
	assert_null(get(store, "one"));
	set(store, "one", 1);
	set(store, "two", 2);
	expect(store, "one", 1);
	store = recordgen_reopen(store);
	expect(store, "one", 1);
	expect(store, "two", 2);

	assert_int_equal(store_lock(store, 1), 0);
	assert_int_equal(state_set(store, "one", NULL), 0);
	assert_int_equal(state_set(store, "never", NULL), 0);
	store_unlock(store);
	assert_null(get(store, "one"));
	expect(store, "two", 2);
	store_close(store);
}

/* What another process wrote is seen, and not overwritten. */
static void test_others(void **ignored)
{
	struct store *store = recordgen_store("others"), *other;

	(void)ignored;
	set(store, "mine", 1);
	assert_int_equal(store_open(&other, store->worktree), 0);
	set(other, "theirs", 2);
	expect(store, "theirs", 2);
	set(store, "mine", 3);
	expect(other, "mine", 3);
	expect(other, "theirs", 2);
	store_close(other);
	store_close(store);
}

/* A value that is the same already is not written again. */
static void test_same(void **ignored)
{
	struct store *store = recordgen_store("same");
	struct stat before, after;

	(void)ignored;
	set(store, "one", 1);
	assert_int_equal(fstatat(store->dirfd, LAYOUT_STATE, &before, 0), 0);
	set(store, "one", 1);
	assert_int_equal(fstatat(store->dirfd, LAYOUT_STATE, &after, 0), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	store_close(store);
}

static void test_damaged(void **ignored)
{
	static const char *const damages[] = { "", "{", "[]", "{}", "{\"version\":2}" };
	struct store *store = recordgen_store("damaged");
	json_t *value;

	(void)ignored;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		set(store, "one", 1);
		assert_int_equal(fs_write_file(store->dirfd, LAYOUT_STATE, damages[i],
					       strlen(damages[i]), 0600, FS_FAST), 0);
		assert_int_equal(state_get(&value, store, "one"), CKPT_ECORRUPT);
		set(store, "two", 2);
		assert_null(get(store, "one"));
		expect(store, "two", 2);
		assert_int_equal(faccessat(store->dirfd, LAYOUT_STATE ".damaged", F_OK, 0), 0);
	}
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests_name("state", tests, unit_setup, unit_teardown);
}
