/* SPDX-License-Identifier: MIT */
#include "record/checkpoint.h"

#include "store/objects.h"
#include "unit.h"

#include "recordgen.h"

static const char id[] = "chk_20260930_123456_0af9be";

static void check_string(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

static void check_equal(const struct ckpt_record *a, const struct ckpt_record *b)
{
	assert_string_equal(a->id, b->id);
	assert_true(oid_equal(&a->commit, &b->commit));
	assert_true(oid_equal(&a->tree, &b->tree));
	assert_true(oid_equal(&a->meta, &b->meta));
	check_string(a->type, b->type);
	assert_int_equal(a->created_at, b->created_at);
	check_string(a->reason, b->reason);
	check_string(a->source, b->source);
	assert_int_equal(a->step, b->step);
	assert_int_equal(a->expiry, b->expiry);
	assert_int_equal(a->include_ignored, b->include_ignored);
	assert_int_equal(a->include_sensitive, b->include_sensitive);
	assert_true(strlist_equal(&a->scope, &b->scope));
	assert_true(strlist_equal(&a->state_keys, &b->state_keys));
	assert_true(strlist_equal(&a->warnings, &b->warnings));
	assert_string_equal(a->state_hash, b->state_hash);
	assert_int_equal(a->files, b->files);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->changed, b->changed);
	assert_int_equal(a->missing, b->missing);
	check_string(a->base, b->base);
	check_string(a->head, b->head);
	check_string(a->branch, b->branch);
	check_string(a->operation, b->operation);
	check_string(a->before, b->before);
	check_string(a->done, b->done);
	check_string(a->agent.name, b->agent.name);
	check_string(a->agent.session, b->agent.session);
	check_string(a->agent.turn_id, b->agent.turn_id);
	check_string(a->agent.tool, b->agent.tool);
	check_string(a->agent.tool_call, b->agent.tool_call);
	check_string(a->agent.sub_agent, b->agent.sub_agent);
	check_string(a->agent.prompt, b->agent.prompt);
	assert_int_equal(a->added, b->added);
	assert_int_equal(a->deleted, b->deleted);
}

static void random_meta(struct ckpt_meta *out)
{
	char bytes[64];

	meta_init(out);
	for (unsigned n = rnd(4); n; n--) {
		rnd_bytes(bytes, sizeof(bytes));
		strbuf_add(&out->modes, bytes, rnd(sizeof(bytes)));
	}
	for (unsigned n = rnd(6); n; n--) {
		char *path = recordgen_text(30);

		skip_list_add(&out->skips, path, (enum skip_why)rnd(SKIP_SPECIAL + 1));
		free(path);
	}
	skip_list_sort(&out->skips);
	for (unsigned n = rnd(5); n; n--) {
		char *key = recordgen_text(20);
		bool taken = !*key;

		for (size_t i = 0; i < out->states_nr; i++)
			taken = taken || !strcmp(out->states[i].key, key);
		rnd_bytes(bytes, sizeof(bytes));
		if (!taken)
			meta_add_state(out, key, bytes, rnd(sizeof(bytes)));
		free(key);
	}
}

static void check_meta(const struct ckpt_meta *a, const struct ckpt_meta *b)
{
	assert_int_equal(a->modes.len, b->modes.len);
	assert_memory_equal(a->modes.buf, b->modes.buf, a->modes.len);
	assert_int_equal(a->skips.nr, b->skips.nr);
	for (size_t i = 0; i < a->skips.nr; i++) {
		assert_string_equal(a->skips.items[i].path, b->skips.items[i].path);
		assert_int_equal(a->skips.items[i].why, b->skips.items[i].why);
	}
	assert_int_equal(a->states_nr, b->states_nr);
	/* In any order. */
	for (size_t i = 0; i < a->states_nr; i++) {
		size_t j = 0;

		while (j < b->states_nr && strcmp(a->states[i].key, b->states[j].key))
			j++;
		assert_true(j < b->states_nr);
		assert_int_equal(a->states[i].len, b->states[j].len);
		assert_memory_equal(a->states[i].value, b->states[j].value, a->states[i].len);
	}
}

static void test_record_round_trip(void **state)
{
	enum { RECORDS = 150 };
	struct store *store = recordgen_store("round");
	struct pack *pack = pack_new(store, 1, 1);
	static struct ckpt_record records[RECORDS];
	static struct ckpt_meta metas[RECORDS];

	(void)state;
	for (int i = 0; i < RECORDS; i++) {
		recordgen_random(&records[i], id);
		random_meta(&metas[i]);
		/* A tree that is there, so that git has nothing to complain about. */
		assert_int_equal(pack_add_new(pack, &records[i].tree, OBJECT_TREE, "", 0), 0);
		assert_int_equal(record_write(&records[i], &metas[i], pack), 0);
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = recordgen_reopen(store);
	for (int i = 0; i < RECORDS; i++) {
		struct ref_item ref = { .commit = records[i].commit };
		struct ckpt_record back;
		struct ckpt_meta meta;

		strcpy(ref.id, id);
		if (record_read(&back, store, &ref))
			fail_msg("%s", ckpt_error_last());
		check_equal(&records[i], &back);
		assert_int_equal(meta_read(&meta, store, &back, false), 0);
		check_meta(&metas[i], &meta);
		meta_release(&meta);
		assert_int_equal(meta_read(&meta, store, &back, true), 0);
		assert_int_equal(meta.modes.len, metas[i].modes.len);
		assert_int_equal(meta.states_nr + meta.skips.nr, 0);
		meta_release(&meta);
		record_release(&back);
		record_release(&records[i]);
		meta_release(&metas[i]);
	}
	sh("git --git-dir='%s' fsck --full --strict --no-dangling", store->path);
	store_close(store);
}

/* The subject is "<first line of the reason> | <time> | <source>". */
static void test_record_subject_is_for_people(void **state)
{
	struct store *store = recordgen_store("subject");
	struct strbuf out = STRBUF_INIT;
	struct ckpt_record record;

	(void)state;
	recordgen_plain(&record, id);
	free(record.reason);
	record.reason = xstrdup("before the | change\nand more\n\nType: forged");
	recordgen_save(store, &record);
	ask(&out, "git --git-dir='%s' log -1 --format=%%s%%n%%an%%n%%at%%n%%P refs/checkpoints/%s",
	    store->path, id);
	{
		char expect[256], hex[OID_HEX + 1];

		snprintf(expect, sizeof(expect),
			 "before the | change | 2026-09-21T14:13:20Z | "
			 "test\ngit-checkpoint\n1790000000\n%s\n",
			 oid_hex(hex, &record.meta));
		assert_string_equal(out.buf, expect);
	}
	{
		struct ref_item ref = { .commit = record.commit };
		struct ckpt_record back;

		strcpy(ref.id, id);
		store = recordgen_reopen(store);
		assert_int_equal(record_read(&back, store, &ref), 0);
		assert_string_equal(back.reason, record.reason);
		assert_string_equal(back.type, "git_stash");
		record_release(&back);
	}
	record_release(&record);
	strbuf_release(&out);
	store_close(store);
}

/* A time beyond year 9999 must not make the whole record unreadable. */
static void test_record_expiry_far_in_the_future(void **state)
{
	static const int64_t late[] = { 253402300799, 253402300800, 604800000000000, INT64_MAX };
	struct store *store = recordgen_store("late");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(late); i++) {
		char name[CKPT_ID_SIZE];
		struct ref_item ref = { .id = "" };
		struct ckpt_record record, back;

		snprintf(name, sizeof(name), "chk_20260930_123456_%06zx", i);
		recordgen_plain(&record, name);
		record.expiry = late[i];
		recordgen_save(store, &record);
		store = recordgen_reopen(store);
		strcpy(ref.id, name);
		ref.commit = record.commit;
		assert_int_equal(record_read(&back, store, &ref), 0);
		assert_int_equal(back.expiry, 253402300799);
		assert_false(record_expired(&back, clock_now()));
		record_release(&back);
		record_release(&record);
	}
	store_close(store);
}

/* Metadata depend on nothing but themselves: equal ones are one commit. */
static void test_record_equal_metadata_are_shared(void **state)
{
	struct store *store = recordgen_store("shared");
	struct pack *pack = pack_new(store, 1, 1);

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct ckpt_meta a, b;
		struct oid first, second;

		random_meta(&a);
		meta_init(&b);
		strbuf_add(&b.modes, a.modes.buf, a.modes.len);
		for (size_t i = 0; i < a.skips.nr; i++)
			skip_list_add(&b.skips, a.skips.items[i].path, a.skips.items[i].why);
		/* Given in another order. */
		for (size_t i = a.states_nr; i--;)
			meta_add_state(&b, a.states[i].key, a.states[i].value,
					    a.states[i].len);
		assert_int_equal(meta_write(&first, &a, pack), 0);
		assert_int_equal(meta_write(&second, &b, pack), 0);
		assert_true(oid_equal(&first, &second));
		strbuf_addch(&b.modes, 'x');
		assert_int_equal(meta_write(&second, &b, pack), 0);
		assert_false(oid_equal(&first, &second));
		meta_release(&a);
		meta_release(&b);
	}
	pack_free(pack);
	store_close(store);
}

/* Keys that are not valid file names, or look as if they were encoded already. */
static void test_record_state_keys_may_be_anything(void **state)
{
	static const char *const keys[] = { ".",     "..", ".git", "/",	   "a/b",   "%41",
					    "A",     "%",  "%4",   "%zz",  "%2e",   "%25",
					    "%2541", " ",  "\n",   "\xff", "state", "a.b" };
	struct store *store = recordgen_store("keys");
	struct pack *pack = pack_new(store, 1, 1);
	struct ckpt_record record;
	struct ckpt_meta meta, back;

	(void)state;
	recordgen_plain(&record, id);
	meta_init(&meta);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		meta_add_state(&meta, keys[i], keys[i], strlen(keys[i]));
	assert_int_equal(meta_write(&record.meta, &meta, pack), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = recordgen_reopen(store);
	assert_int_equal(meta_read(&back, store, &record, false), 0);
	check_meta(&meta, &back);
	sh("git --git-dir='%s' -c fsck.hasDotgit=error fsck --full --strict --no-dangling",
	   store->path);
	meta_release(&meta);
	meta_release(&back);
	record_release(&record);
	store_close(store);
}

static void test_record_confidence_and_expiry(void **state)
{
	struct ckpt_record record = { .files = 3 };

	(void)state;
	assert_true(record_confidence(&record) == 1.0);
	record.missing = 1;
	assert_true(record_confidence(&record) == 0.75);
	record.files = 0;
	assert_true(record_confidence(&record) == 0.0);
	record.missing = 0;
	assert_true(record_confidence(&record) == 1.0);
	record.files = 1000000000;
	record.missing = 1;
	assert_true(record_confidence(&record) < 1.0);
	assert_false(record_expired(&record, INT64_MAX));
	record.expiry = 100;
	assert_false(record_expired(&record, 99));
	assert_true(record_expired(&record, 100));
}

/* --- ids --- */

static void make_id(char out[CKPT_ID_SIZE], const char *last, int64_t now)
{
	assert_int_equal(record_next_id(out, last, now), 0);
	if (!refs_valid_id(out))
		fail_msg("'%s' is not an id", out);
	if (strcmp(out, last) <= 0)
		fail_msg("'%s' does not sort after '%s'", out, last);
}

static void test_record_id_has_the_time_or_that_of_the_last(void **state)
{
	static const struct {
		const char *last, *begins;
	} rows[] = {
		/* 1790000000 is 2026-09-21 14:13:20 */
		{ "", "chk_20260921_141320_" },
		{ "chk_00000000_000000_ffffff", "chk_20260921_141320_" },
		{ "chk_20260921_141319_ffffff", "chk_20260921_141320_" },
		{ "chk_20260921_141320_000000", "chk_20260921_141320_000" },
		{ "chk_20260921_141320_fff7ff", "chk_20260921_141320_fff" },
		{ "chk_20260921_141320_fff800", "chk_20260921_141321_" },
		{ "chk_20260921_141359_ffffff", "chk_20260921_141400_" },
		{ "chk_20271231_235959_fffffe", "chk_20280101_000000_" },
		{ "chk_20270921_141320_000000", "chk_20270921_141320_000" },
		/* only a person could have made these */
		{ "chk_20269999_000000_ffffff", "chk_20340" },
		{ "chk_99999999_999999_000001", "chk_99999999_999999_000" },
	};
	char id_made[CKPT_ID_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int n = 0; n < 50; n++) {
			make_id(id_made, rows[i].last, 1790000000);
			if (strncmp(id_made, rows[i].begins, strlen(rows[i].begins)))
				fail_msg("row %zu: '%s' after '%s'", i, id_made, rows[i].last);
		}
	assert_int_equal(record_next_id(id_made, "chk_99999999_999999_ffffff", 1790000000), CKPT_ERROR);
}

/* Thousands of saves at one instant: the ids are at most some seconds ahead of the clock. */
static void test_record_ids_do_not_run_ahead(void **state)
{
	char last[CKPT_ID_SIZE] = "", next[CKPT_ID_SIZE];

	(void)state;
	for (int i = 0; i < 4000; i++) {
		make_id(next, last, 1790000000);
		memcpy(last, next, sizeof(last));
	}
	assert_true(strncmp(last, "chk_20260921_141320_", 20) == 0);
	for (int i = 0; i < 40000; i++) {
		make_id(next, last, 1790000000);
		memcpy(last, next, sizeof(last));
	}
	assert_true(strcmp(last, "chk_20260921_141330_") < 0);
}

/* A clock that stands, creeps, jumps ahead and back. */
static void test_record_ids_sort_under_any_clock(void **state)
{
	int64_t now = 1500000000;
	char last[CKPT_ID_SIZE] = "", next[CKPT_ID_SIZE];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		now += rnd(4) ? 0 : rnd(2) ? (int64_t)rnd(100000) : -(int64_t)rnd(100000);
		make_id(next, last, now);
		memcpy(last, next, sizeof(last));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_round_trip),
		cmocka_unit_test(test_record_subject_is_for_people),
		cmocka_unit_test(test_record_expiry_far_in_the_future),
		cmocka_unit_test(test_record_equal_metadata_are_shared),
		cmocka_unit_test(test_record_state_keys_may_be_anything),
		cmocka_unit_test(test_record_confidence_and_expiry),
		cmocka_unit_test(test_record_id_has_the_time_or_that_of_the_last),
		cmocka_unit_test(test_record_ids_do_not_run_ahead),
		cmocka_unit_test(test_record_ids_sort_under_any_clock),
	};

	return cmocka_run_group_tests_name("record", tests, unit_setup, unit_teardown);
}
