/* SPDX-License-Identifier: MIT */
#include "look/look.h"

#include "base/base.h"
#include "git/git.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

#include "unit.h"

static void test_status_judges_by_base_and_changes(void **state)
{
	static const struct {
		bool base, scoped;
		struct status_changes changes;
		uint64_t missing;
		enum status_safety expected;
	} cases[] = {
		{ false, false, { 0, 0, 0 }, 0, STATUS_NOTHING },
		{ false, false, { 1, 0, 0 }, 0, STATUS_NOTHING },
		{ true, false, { 0, 0, 0 }, 0, STATUS_SAFE },
		{ true, false, { 1, 0, 0 }, 0, STATUS_CHANGED },
		{ true, false, { 0, 1, 0 }, 0, STATUS_CHANGED },
		{ true, false, { 0, 0, 1 }, 0, STATUS_CHANGED },
		{ true, false, { 0, 0, 0 }, 2, STATUS_MISSING },
		{ true, false, { 0, 0, 1 }, 2, STATUS_CHANGED },
		/* of some paths: nothing is known of the others, whatever those are like */
		{ true, true, { 0, 0, 0 }, 0, STATUS_SCOPE },
		{ true, true, { 0, 1, 0 }, 2, STATUS_SCOPE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ckpt_record base = CKPT_RECORD_INIT;

		base.missing = cases[i].missing;
		if (cases[i].scoped)
			strlist_add(&base.scope, "d");
		assert_int_equal(status_judge(cases[i].base ? &base : NULL, &cases[i].changes),
				 cases[i].expected);
		record_release(&base);
	}
}

/* Checkpoints: "a" to "d" of everything, "s" of some paths, "k" of state alone; others are gone. */
static struct ckpt_records all_records(void)
{
	static struct ckpt_record records[6];
	static const char names[] = "abcdsk";

	for (size_t i = 0; names[i]; i++) {
		records[i] = (struct ckpt_record){ .id = { names[i] }, .state_only = names[i] == 'k' };
		if (names[i] == 's')
			strlist_add(&records[i].scope, "d");
	}
	return (struct ckpt_records){ .items = records, .nr = ARRAY_SIZE(records) };
}

static void test_status_finds_what_was_restored_last(void **state)
{
	/* Restores from the bottom up: the state before, what was restored, "p" if of some paths. */
	static const struct {
		const char *stack;
		size_t done;
		const char *expected;
	} cases[] = {
		{ "", 0, NULL },
		{ "ba", 1, "a" },
		{ "ba cb", 2, "b" },
		/* undone: the state before the lowest that is not in effect any more */
		{ "ba", 0, "b" },
		{ "ba cb dc", 1, "c" },
		{ "ba cb dc", 0, "b" },
		/* of some paths: that says nothing about the others */
		{ "bap", 1, NULL },
		{ "bap", 0, NULL },
		{ "ba cbp", 2, NULL },
		{ "ba cbp", 1, NULL },
		{ "bap cb", 2, "b" },
		/* what is not of the whole worktree, or no longer there */
		{ "bs", 1, NULL },
		{ "bk", 1, NULL },
		{ "bx", 1, NULL },
		{ "xa", 0, NULL },
	};
	struct ckpt_records all = all_records();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct undo_entry entries[4] = { 0 };
		struct undo_stack stack = { .items = entries, .done = cases[i].done };
		const struct ckpt_record *got;

		for (const char *p = cases[i].stack; *p; p += *p == ' ') {
			struct undo_entry *entry = &entries[stack.nr++];

			entry->before[0] = *p++;
			entry->restored[0] = *p++;
			if (*p == 'p' && p++)
				strlist_add(&entry->paths, "some/path");
		}
		got = status_last_restored(&stack, &all);
		if (cases[i].expected)
			assert_string_equal(got->id, cases[i].expected);
		else
			assert_null(got);
		for (size_t j = 0; j < stack.nr; j++)
			strlist_release(&entries[j].paths);
	}
	strlist_release(&all.items[4].scope);
}

/* --- how often a commit is read --- */

enum { SAVED = 8, SHOWN = 3 };

static void save_all(struct session *session, char ids[SAVED][CKPT_ID_SIZE])
{
	static const struct strlist all = STRLIST_INIT;
	struct save_opts opts = { .reason = "r", .source = "test", .step = -1, .scan.scope = &all };
	struct save_result saved;

	for (int i = 0; i < SAVED; i++) {
		sh("echo %d >a", i);
		if (save_checkpoint(&saved, session, &opts))
			fail_msg("%s", ckpt_error_last());
		memcpy(ids[i], saved.record.id, CKPT_ID_SIZE);
		save_result_release(&saved);
	}
}

static void open_again(struct session *session)
{
	session_close(session);
	assert_int_equal(session_open(session, SESSION_STORE), 0);
}

static void expect_reads(struct session *session, size_t most, const char *restored)
{
	uint64_t before = record_reads();
	struct status status;

	assert_int_equal(status_read(&status, session, SHOWN, NULL), 0);
	assert_in_range(record_reads() - before, SHOWN, most);
	assert_int_equal(status.all.nr, SAVED);
	assert_string_equal(status.base->id, restored ? restored : status.newest->id);
	assert_int_equal(status.restored, restored != NULL);
	status_release(&status);
}

static void test_status_reads_each_commit_once(void **state)
{
	static const struct strlist none = STRLIST_INIT;
	struct undo_stack stack = { 0 };
	struct session session;
	char ids[SAVED][CKPT_ID_SIZE];

	(void)state;
	sh("mkdir work");
	assert_int_equal(chdir("work"), 0);
	assert_int_equal(session_open(&session, SESSION_ANY), 0);
	save_all(&session, ids);
	open_again(&session);
	brief_forget(session.store);
	expect_reads(&session, SAVED, NULL);

	/* After a restore of one that is older than all that are shown. */
	sh("echo 0 >a");
	assert_int_equal(store_lock(session.store, 1), 0);
	journal_undo_push(&stack, ids[SAVED - 1], ids[0], &none, &none);
	assert_int_equal(journal_undo_write(&stack, session.store), 0);
	journal_undo_release(&stack);
	open_again(&session);
	brief_forget(session.store);
	expect_reads(&session, SAVED, ids[0]);
	session_close(&session);
	assert_int_equal(chdir(".."), 0);
}

static void test_lists_read_each_commit_once(void **state)
{
	struct history *history;
	struct history_step step;
	struct ckpt_records records;
	struct session session;
	uint64_t before = record_reads();

	(void)state;
	assert_int_equal(chdir("work"), 0);
	assert_int_equal(session_open(&session, SESSION_STORE), 0);
	assert_int_equal(look_list(&records, &session, NULL), 0);
	assert_int_equal(record_reads() - before, SAVED);
	lookup_records_release(&records);

	before = record_reads();
	assert_int_equal(history_open(&history, &session, NULL, false), 0);
	while (history_next(&step, history) > 0)
		history_step_release(&step);
	history_close(history);
	assert_int_equal(record_reads() - before, SAVED);
	session_close(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_judges_by_base_and_changes),
		cmocka_unit_test(test_status_finds_what_was_restored_last),
		cmocka_unit_test(test_status_reads_each_commit_once),
		cmocka_unit_test(test_lists_read_each_commit_once),
	};

	return cmocka_run_group_tests_name("status", tests, unit_setup, unit_teardown);
}
