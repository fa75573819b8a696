/* SPDX-License-Identifier: MIT */
/* Where a watcher puts its watches, and what it answers in cases that chance rarely finds. */
#include "unit.h"

#include "watchprobe.h"

static struct watched answer;

static void ask_again(void)
{
	watched_release(&answer);
	ask_watcher(&answer);
}

/* As a save does it: ask, walk, keep what was found with the mark. */
static void save_now(void)
{
	struct walk walk;

	ask_again();
	walk_all(&walk);
	write_cache(&walk, answer.now);
	walk_release(&walk);
}

/* Everything is watched, and nothing happened since. */
static void settle(void)
{
	save_now();
	save_now();
	ask_again();
	assert_false(answer.all);
	assert_int_equal(answer.dirs.nr, 0);
}

static void begin(const char *script)
{
	make_places();
	sh("%s", script);
	open_cover();
	settle();
}

static void end(void)
{
	watched_release(&answer);
	watch_cover_close(&cover);
	close(storefd);
}

static void expect_only(const char *dirs)
{
	struct strlist expected = STRLIST_INIT;

	add_words(&expected, dirs);
	strlist_sort_unique(&expected);
	assert_false(answer.all);
	assert_int_equal(answer.trees.nr, 0);
	if (!strlist_equal(&answer.dirs, &expected))
		fail_msg("named: %zu, the first is '%s'", answer.dirs.nr,
			 answer.dirs.nr ? answer.dirs.items[0] : "");
	strlist_release(&expected);
}

/* ---- cases ---- */

static void test_only_what_changed_is_named(void **state)
{
	(void)state;
	begin("mkdir -p W/a/b W/c; echo 1 >W/a/b/f; echo 2 >W/c/f; echo 3 >W/f");
	assert_int_equal(cover.nodes.nr, 4);
	sh("echo x >>W/a/b/f");
	ask_again();
	expect_only("a/b");
	/* As long as nobody saved it, it stays changed. */
	ask_again();
	expect_only("a/b");
	sh("chmod 600 W/c/f");
	ask_again();
	expect_only("a/b c");
	save_now();
	ask_again();
	expect_only(NULL);
	/* The mode of a directory is told by the one that has its name, too. */
	sh("chmod 700 W/a/b");
	ask_again();
	expect_only("a a/b");
	settle();
	assert_int_equal(answer.trees.nr, 0);
	end();
}

static void test_the_root_is_a_directory_like_others(void **state)
{
	(void)state;
	begin("echo 1 >W/f");
	sh("echo 2 >W/f");
	ask_again();
	assert_int_equal(answer.dirs.nr, 1);
	assert_string_equal(answer.dirs.items[0], "");
	end();
}

/* What is new has no watch of its own until somebody saved it. */
static void test_a_new_directory_is_its_parents_change(void **state)
{
	(void)state;
	begin("mkdir W/a");
	sh("mkdir -p W/a/new/deep; echo 1 >W/a/new/deep/f");
	ask_again();
	expect_only("a");
	save_now();
	assert_int_equal(cover.nodes.nr, 2);
	/* They were changed perhaps before they were watched: once more. */
	ask_again();
	expect_only("a/new a/new/deep");
	save_now();
	ask_again();
	expect_only(NULL);
	end();
}

/* Renamed and renamed back: the cache is as good as before, but the watches were forgotten. */
static void test_a_directory_that_was_away_is_watched_again(void **state)
{
	(void)state;
	begin("mkdir -p W/x/a/b");
	sh("mv W/x/a W/x/z; echo 1 >W/x/z/b/f; mv W/x/z W/x/a");
	ask_again();
	expect_only("x x/a x/a/b");
	assert_int_equal(cover.nodes.loose_nr, 0);
	assert_int_equal(count_watches(), 4 + 1);
	end();
}

/* The cache knows the new place of a directory before we have heard that it moved. */
static void test_a_directory_at_two_places(void **state)
{
	struct walk walk;

	(void)state;
	begin("mkdir -p W/x/sub W/y");
	ask_again();
	sh("mv W/x W/y/x");
	walk_all(&walk);
	write_cache(&walk, answer.now);
	walk_release(&walk);
	assert_int_equal(watch_cover_load(&cover), WATCH_NONE);
	assert_int_equal(cover.nodes.loose_nr, 1);
	sh("echo 1 >W/y/x/f; echo 2 >W/y/x/sub/f");
	ask_again();
	assert_true(is_named(&answer, "y/x"));
	assert_true(is_named(&answer, "y/x/sub"));
	assert_int_equal(cover.nodes.loose_nr, 0);
	settle();
	end();
}

/* The other place is above the new one: the walk must not lose the ground it stands on. */
static void test_a_directory_that_moved_into_its_own_place(void **state)
{
	struct walk walk;

	(void)state;
	begin("mkdir -p W/a/sub");
	ask_again();
	sh("mv W/a W/z; mkdir W/a; mv W/z W/a/b");
	walk_all(&walk);
	write_cache(&walk, answer.now);
	walk_release(&walk);
	assert_int_equal(watch_cover_load(&cover), WATCH_NONE);
	sh("echo 1 >W/a/b/sub/f");
	ask_again();
	assert_true(is_named(&answer, "a"));
	assert_true(is_named(&answer, "a/b"));
	assert_true(is_named(&answer, "a/b/sub"));
	settle();
	assert_int_equal(count_watches(), 4 + 1);
	end();
}

/* A link in the place of a directory leads out of the worktree: nothing there is watched. */
static void test_a_link_is_not_followed(void **state)
{
	(void)state;
	begin("mkdir -p W/a/b O/a/b");
	sh("mv W/a O/old; ln -s ../O/a W/a");
	ask_again();
	assert_true(is_named(&answer, ""));
	sh("echo 1 >O/a/b/f");
	assert_int_equal(count_watches(), 1 + 1);
	settle();
	assert_int_equal(cover.nodes.nr, 1);
	end();
}

static void test_another_root_means_all(void **state)
{
	(void)state;
	begin("mkdir W/a");
	sh("mv W V; mkdir W");
	ask_again();
	assert_true(answer.all);
	assert_int_equal(answer.now.instance, 0);
	assert_true(cover.gone);
	assert_int_equal(watch_cover_load(&cover), WATCH_GONE);
	end();
}

/* The directory above it was moved, of which the root hears nothing. */
static void test_a_root_that_was_moved_from_above(void **state)
{
	enum watch_trouble trouble;
	struct watched_question question = { .since = { 0, 0 } };

	(void)state;
	make_places();
	sh("mkdir -p up/W");
	assert_int_equal(watch_cover_open(&cover, in_scratch("up/W"), storefd), WATCH_NONE);
	assert_int_equal(watch_cover_load(&cover), WATCH_NONE);
	question.view = view;
	watch_cover_answer(&answer, &trouble, &cover, &question, &view);
	assert_int_not_equal(answer.now.instance, 0);
	sh("mv up down; mkdir -p up/W");
	watch_cover_answer(&answer, &trouble, &cover, &question, &view);
	assert_int_equal(answer.now.instance, 0);
	end();
}

static void test_who_sees_something_else_is_told_nothing(void **state)
{
	struct watched_view other;

	(void)state;
	begin("mkdir W/a");
	other = view;
	for (int i = 0; i < 4; i++) {
		struct watched_question question = { .view = view };
		enum watch_trouble trouble;

		question.view.mounts += i == 0;
		question.view.root_dev += i == 1;
		question.view.root_ino += i == 2;
		watched_release(&answer);
		watch_cover_answer(&answer, &trouble, &cover, &question, &view);
		assert_true(answer.all);
		assert_int_equal(!answer.now.instance, i < 3);
	}
	/* Where there is no /proc, nobody knows. */
	other.mounts = 0;
	assert_false(watched_view_equal(&other, &other));
	end();
}

static void test_a_cache_that_is_not_there_means_all(void **state)
{
	struct watched_question question = { .view = view };
	enum watch_trouble trouble;

	(void)state;
	begin("mkdir W/a");
	question.view = view;
	question.since = answer.now;
	question.cache = cover.loaded;
	question.cache.size++;
	watch_cover_answer(&answer, &trouble, &cover, &question, &view);
	assert_true(answer.all);
	assert_int_not_equal(answer.now.instance, 0);
	question.cache.size--;
	watch_cover_answer(&answer, &trouble, &cover, &question, &view);
	assert_false(answer.all);
	/* Another instance, and a moment that has not come. */
	question.since.instance++;
	watch_cover_answer(&answer, &trouble, &cover, &question, &view);
	assert_true(answer.all);
	question.since.instance--;
	question.since.tick += 100;
	watch_cover_answer(&answer, &trouble, &cover, &question, &view);
	assert_true(answer.all);
	/* No cache at all. */
	sh("rm " CACHE);
	ask_again();
	assert_true(answer.all);
	settle();
	end();
}

/* A block that cannot be read says nothing about what is below. */
static void test_a_damaged_cache(void **state)
{
	(void)state;
	for (int i = 0; i < 15; i++) {
		struct strbuf bytes = STRBUF_INIT;

		begin("mkdir -p W/a/b W/c/d; echo 1 >W/a/b/f");
		get_bytes(&bytes, CACHE);
		bytes.buf[bytes.len - 1 - rnd((unsigned)bytes.len / 2)] ^= 1;
		put_bytes(CACHE, bytes.buf, bytes.len);
		strbuf_release(&bytes);
		watch_cover_close(&cover);
		open_cover();
		ask_again();
		sh("echo 2 >W/a/b/f");
		settle();
		end();
	}
}

/* More names than fit into an answer. */
static void test_a_long_answer_is_all(void **state)
{
	(void)state;
	begin("mkdir -p W/a");
	sh("cd W/a && for i in 1 2 3 4; do d=$(printf %%0200d $i); mkdir $d; cd $d; done && "
	   "seq -f %%0200.0f 1100 | xargs mkdir");
	save_now();
	ask_again();
	assert_true(answer.all);
	assert_int_equal(answer.dirs.nr + answer.trees.nr, 0);
	settle();
	end();
}

/* Watched one by one down to a depth; below that it is one tree. */
static void test_a_very_deep_tree(void **state)
{
	(void)state;
	begin("cd W && d=a/b/c/d/e/f/g/h/i/j && d=$d/$d/$d/$d/$d/$d && d=$d/$d/$d/$d && mkdir -p "
	      "$d/$d/$d/$d/$d && mkdir z");
	assert_int_equal(cover.nodes.loose_nr, 1);
	assert_true(count_watches() < 1100);
	sh("echo 1 >W/z/f");
	ask_again();
	assert_true(is_named(&answer, "z"));
	assert_int_equal(answer.trees.nr, 1);
	assert_int_equal(strlen(answer.trees.items[0]), 2 * 1001 - 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_changed_is_named),
		cmocka_unit_test(test_the_root_is_a_directory_like_others),
		cmocka_unit_test(test_a_new_directory_is_its_parents_change),
		cmocka_unit_test(test_a_directory_that_was_away_is_watched_again),
		cmocka_unit_test(test_a_directory_at_two_places),
		cmocka_unit_test(test_a_directory_that_moved_into_its_own_place),
		cmocka_unit_test(test_a_link_is_not_followed),
		cmocka_unit_test(test_another_root_means_all),
		cmocka_unit_test(test_a_root_that_was_moved_from_above),
		cmocka_unit_test(test_who_sees_something_else_is_told_nothing),
		cmocka_unit_test(test_a_cache_that_is_not_there_means_all),
		cmocka_unit_test(test_a_damaged_cache),
		cmocka_unit_test(test_a_long_answer_is_all),
		cmocka_unit_test(test_a_very_deep_tree),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
