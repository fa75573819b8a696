/* SPDX-License-Identifier: MIT */
/* Targets that are not checkpoints, through the whole flow of a restore and back. */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

#include "unit.h"

static struct session session;
static struct ckpt_record newest;

static void take(void)
{
	static const struct strlist all = STRLIST_INIT;
	struct save_opts opts = { .reason = "r", .source = "test", .step = -1, .scan.scope = &all };
	struct save_result saved;

	if (save_checkpoint(&saved, &session, &opts))
		fail_msg("%s", ckpt_error_last());
	save_result_release(&saved);
	record_release(&newest);
	if (lookup_name(&newest, session.store, "@"))
		fail_msg("%s", ckpt_error_last());
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("mkdir work && cd work && mkdir -p d/e empty && echo one >a && echo two >d/b && "
	   "echo three >d/e/c && ln -s a link && mkdir only && echo x >only/x");
	if (chdir("work") || session_open(&session, SESSION_ANY))
		return -1;
	take();
	return 0;
}

static int teardown(void **state)
{
	record_release(&newest);
	session_close(&session);
	return unit_teardown(state);
}

static struct choices choices;
static struct strbuf patches = STRBUF_INIT;

static void note_patch(const struct choice_part *part)
{
	struct strbuf old = STRBUF_INIT, new = STRBUF_INIT;
	bool large;

	if (choose_read(&old, &new, &large, &session, part))
		fail_msg("%s", ckpt_error_last());
	strbuf_addf(&patches, "%s [%.*s] [%.*s]\n", part->path, (int)old.len, old.buf, (int)new.len,
		    new.buf);
	strbuf_release(&old);
	strbuf_release(&new);
}

static int run(struct restore_result *out, int (*compose)(struct compose *, void *), bool dry_run)
{
	static const struct strlist all = STRLIST_INIT;
	struct restore_opts opts = { .target = &newest,
				     .composed.make = compose,
				     .choices = &choices,
				     .kind = JOURNAL_REVERT,
				     .paths = &all,
				     .dry_run = dry_run };

	int err = restore_checkpoint(out, &session, &opts);

	strbuf_reset(&patches);
	for (size_t i = 0; i < choices.nr && !err && dry_run; i++)
		note_patch(&choices.items[i].parts.items[0]);
	return err;
}

static void walk(enum undo_way way)
{
	struct restore_result result;
	struct undo_job job;

	if (undo_job_init(&job, &session, way))
		fail_msg("%s", ckpt_error_last());
	job.opts.force = true;
	if (restore_checkpoint(&result, &session, &job.opts))
		fail_msg("%s", ckpt_error_last());
	assert_true(result.verified && result.match);
	restore_result_release(&result);
	undo_job_release(&job);
}

static size_t composed(void)
{
	const struct keepers *keepers;
	size_t nr = 0;

	assert_int_equal(keepers_read(&keepers, session.store), 0);
	for (size_t i = 0; i < keepers->nr; i++)
		nr += !strncmp(keepers->items[i].id, "cmp_", 4);
	return nr;
}

static int many(struct compose *compose, void *payload)
{
	const struct wt_entry *b = compose_now(compose, "d/b");
	struct strbuf text = STRBUF_INIT;

	(void)payload;
	assert_non_null(b);
	assert_int_equal(compose_read(&text, compose, "a"), 0);
	assert_string_equal(text.buf, "one\n");
	strbuf_addstr(&text, "more\n");
	compose_put(compose, "a", WT_FILE, 04755, text.buf, text.len);
	compose_put(compose, "new/deep/file", WT_FILE, 0600, "fresh\n", 6);
	compose_put_dir(compose, "new", 0700);
	compose_put(compose, "link", WT_LINK, 0, "d/b", 3);
	compose_put_entry(compose, "d/e/copy", b, 0640);
	compose_remove(compose, "d/e/c");
	compose_set_mode(compose, "d", 0750);
	compose_remove(compose, "empty");
	compose_remove(compose, "only/x");
	compose_remove(compose, "only");
	compose_put(compose, "only/never", WT_FILE, 0644, "n", 1);
	compose_forget(compose, "only/never", false);
	compose_remove(compose, "not/there");
	compose_conflict(compose, "d/odd", "because");
	strbuf_release(&text);
	return 0;
}

static void expect_many(void)
{
	sh("test \"$(cat a)\" = \"$(printf 'one\\nmore')\"; test \"$(cat new/deep/file)\" = fresh;"
	   "test \"$(readlink link)\" = d/b; test \"$(cat d/e/copy)\" = two; test ! -e d/e/c;"
	   "test ! -e empty; test ! -e only; test ! -e not; test -d d/e");
	assert_int_equal(mode_of("a"), 04755);
	assert_int_equal(mode_of("new"), 0700);
	assert_int_equal(mode_of("new/deep"), 0755);
	assert_int_equal(mode_of("new/deep/file"), 0600);
	assert_int_equal(mode_of("d/e/copy"), 0640);
	assert_int_equal(mode_of("d"), 0750);
}

static void expect_before(void)
{
	sh("test \"$(cat a)\" = one; test ! -e new; test \"$(readlink link)\" = a;"
	   "test ! -e d/e/copy; test \"$(cat d/e/c)\" = three; test -d empty;"
	   "test \"$(cat only/x)\" = x");
	assert_int_equal(mode_of("a"), 0644);
	assert_int_equal(mode_of("d"), 0755);
}

static void test_compose_everything(void **state)
{
	struct restore_result result;

	(void)state;
	/* In no checkpoint: nothing of it may get lost. */
	put_text("d/unsaved", "mine\n");
	if (run(&result, many, true))
		fail_msg("%s", ckpt_error_last());
	expect_before();
	assert_int_equal(composed(), 0);
	assert_non_null(strstr(patches.buf, "a [one\n] [one\nmore\n]\n"));
	assert_non_null(strstr(patches.buf, "d/e/copy [] [two\n]\n"));
	assert_non_null(strstr(patches.buf, "d/e/c [three\n] []\n"));
	restore_result_release(&result);

	if (run(&result, many, false))
		fail_msg("%s", ckpt_error_last());
	assert_true(result.done && result.verified && result.match && result.incomplete);
	assert_string_equal(result.target_hash, result.post_hash);
	assert_int_equal(result.conflicts_nr, 1);
	assert_string_equal(result.conflicts[0].path, "d/odd");
	assert_string_equal(result.conflicts[0].why, "because");
	expect_many();
	assert_int_equal(composed(), 1);
	restore_result_release(&result);
	sh("git --git-dir='%s' fsck --strict", session.store->path);

	/* Only what it did is taken back. */
	put_text("later", "later\n");
	walk(UNDO_BACK);
	expect_before();
	walk(UNDO_FORTH);
	expect_many();
	walk(UNDO_BACK);
	expect_before();
	sh("test \"$(cat later)\" = later; test \"$(cat d/unsaved)\" = mine; rm later");
}

static int nothing(struct compose *compose, void *payload)
{
	(void)payload;
	compose_set_mode(compose, "a", compose_now(compose, "a")->mode);
	return 0;
}

static void test_compose_nothing(void **state)
{
	struct restore_result result;

	(void)state;
	if (run(&result, nothing, false))
		fail_msg("%s", ckpt_error_last());
	assert_true(restore_has_nothing_to_do(&result) && result.match);
	restore_result_release(&result);
}

static int failing(struct compose *compose, void *payload)
{
	(void)payload;
	compose_remove(compose, "a");
	return ckpt_error_set(CKPT_ERROR, "no");
}

static void test_compose_failing(void **state)
{
	struct restore_result result;

	(void)state;
	assert_int_equal(run(&result, failing, false), CKPT_ERROR);
	assert_true(is_there("a"));
}

static int hidden(struct compose *compose, void *payload)
{
	const char *what = NULL;

	(void)payload;
	assert_true(compose_is_hidden(&what, compose, "x.log"));
	assert_string_equal(what, "file");
	assert_true(compose_is_hidden(NULL, compose, "x.log/below"));
	assert_true(compose_is_hidden(NULL, compose, "out"));
	assert_false(compose_is_hidden(NULL, compose, "out/none"));
	assert_false(compose_is_hidden(NULL, compose, "a"));
	assert_false(compose_is_hidden(NULL, compose, "none/below"));
	return 0;
}

static void test_compose_sees_what_is_left_out(void **state)
{
	struct restore_result result;

	(void)state;
	sh("printf '*.log\\nout/\\n' >.gitignore; mkdir out; echo >out/f; echo >x.log");
	if (run(&result, hidden, true))
		fail_msg("%s", ckpt_error_last());
	restore_result_release(&result);
}

static int changed_mind(struct compose *compose, void *payload)
{
	(void)payload;
	compose_put(compose, "one", WT_FILE, 0644, "1", 1);
	compose_put(compose, "two", WT_FILE, 0644, "2", 1);
	compose_put(compose, "a", WT_FILE, 0644, "first\n", 6);
	compose_forget(compose, "one", false);
	compose_forget(compose, "two", false);
	compose_put(compose, "a", WT_FILE, 0644, "last\n", 5);
	compose_conflict(compose, "d/odd", "in the way: 'x\ny' is not a directory");
	return 0;
}

static void test_compose_last_word_counts(void **state)
{
	struct restore_result result;

	(void)state;
	if (run(&result, changed_mind, true))
		fail_msg("%s", ckpt_error_last());
	assert_string_equal(patches.buf, "a [one\n] [last\n]\n");
	/* What the sentence quotes is not taken for the path. */
	assert_int_equal(result.conflicts_nr, 1);
	assert_string_equal(result.conflicts[0].path, "d/odd");
	assert_string_equal(result.conflicts[0].why, "in the way: 'x?y' is not a directory");
	restore_result_release(&result);
}

static void test_compose_paths_in_order(void **state)
{
	static const char *const order[] = { "", "a", "a/", "a/b", "a/b/c", "a/c", "a-b", "a.b", "b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t j = 0; j < ARRAY_SIZE(order); j++)
			assert_int_equal(compose_compare_paths(order[i], order[j]),
					 i < j ? -1 : i > j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compose_everything),
		cmocka_unit_test(test_compose_nothing),
		cmocka_unit_test(test_compose_failing),
		cmocka_unit_test(test_compose_sees_what_is_left_out),
		cmocka_unit_test(test_compose_last_word_counts),
		cmocka_unit_test(test_compose_paths_in_order),
	};

	return cmocka_run_group_tests_name("compose", tests, setup, teardown);
}
