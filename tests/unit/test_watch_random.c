/* SPDX-License-Identifier: MIT */
/*
 * What a watcher answers, against what two walks saw: a process does random things to a tree at
 * full speed, while the watcher is asked and the tree is walked. When all is quiet, every directory
 * that is not as the first walk saw it must have been named.
 *
 * TEST_WATCH_ROUNDS says how often; TEST_SEED repeats what was done, but not at which moments.
 */
#include "unit.h"

#include "watchprobe.h"

enum { FLOOD = 20000 };

/* ---- the process that changes everything ---- */

static int orders[2], reports[2];
static pid_t worker;

static void work(void)
{
	struct {
		uint64_t seed;
		unsigned nr;
	} order;

	while (read(orders[0], &order, sizeof(order)) == (ssize_t)sizeof(order)) {
		unit_seed = order.seed;
		for (unsigned i = 0; i < order.nr; i++)
			gen_once();
		if (write(reports[1], "", 1) != 1)
			break;
	}
	_exit(0);
}

static void start_worker(void)
{
	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(reports), 0);
	worker = fork();
	assert_true(worker >= 0);
	if (!worker) {
		close(orders[1]);
		work();
	}
	close(orders[0]);
	close(reports[1]);
}

static void order(unsigned nr)
{
	struct {
		uint64_t seed;
		unsigned nr;
	} order = { rnd64(), nr };

	assert_int_equal(write(orders[1], &order, sizeof(order)), sizeof(order));
}

static void wait_for_worker(void)
{
	char c;

	assert_int_equal(read(reports[0], &c, 1), 1);
}

/* ---- what was named ---- */

static size_t known_answers, named;

static void show(const char *what, const char *lines)
{
	print_error("%s:\n%s\n", what, lines);
}

/* After events were lost it begins again, as soon as it has answered. */
static void ask_and_mend(struct watched *out)
{
	ask_watcher(out);
	if (cover.lost)
		assert_int_equal(watch_cover_load(&cover), WATCH_NONE);
}

/* Whatever is not as the base has it was named. */
static void check(const struct watched *answer, const struct walk *base, const struct walk *now)
{
	for (size_t i = 0; i < base->nr; i++) {
		const struct seen *before = base->items[i], *after = walk_find(now, before->path);

		/* If it is gone, the directory that had its name is another one. */
		if (!after || strbuf_equal(&before->lines, &after->lines) ||
		    is_named(answer, before->path))
			continue;
		show("before", before->lines.buf);
		show("after", after->lines.buf);
		for (size_t k = 0; k < answer->dirs.nr; k++)
			show("named", answer->dirs.items[k]);
		fail_msg("'%s' changed, and was not named; seed %" PRIu64, before->path, unit_seed);
	}
	known_answers += !answer->all;
	named += answer->dirs.nr + answer->trees.nr;
}

/* The cache has what is there, and nothing happens: each directory has its watch, no other has one. */
static void check_watches(const struct walk *walk)
{
	struct watched answer;

	ask_watcher(&answer);
	assert_false(answer.all);
	assert_int_equal(answer.trees.nr, 0);
	assert_int_equal(cover.nodes.loose_nr, 0);
	assert_int_equal(cover.nodes.nr, walk->nr);
	assert_int_equal(count_watches(), walk->nr + 1);
	watched_release(&answer);
}

/* More events than the queue holds. */
static void flood(void)
{
	(void)mkdir("W/a", 0755);
	(void)mkdir("W/b", 0755);
	for (int i = 0; i < FLOOD; i++)
		(void)chmod(i % 2 ? "W/a" : "W/b", i % 4 < 2 ? 0755 : 0711);
}

/* ---- the test ---- */

static void one_round(struct walk *base, bool *have_base)
{
	struct walk busy, quiet;
	struct watched answer;

	order(rnd(60));
	ask_and_mend(&answer);
	walk_all(&busy);
	wait_for_worker();
	if (!*have_base || rnd(3)) {
		write_cache(&busy, answer.now);
		walk_release(base);
		*base = busy;
		*have_base = true;
	} else {
		walk_release(&busy);
	}
	watched_release(&answer);
	if (!rnd(60)) {
		flood();
		order(20);
		wait_for_worker();
	}
	if (!rnd(4))
		watch_cover_read(&cover);
	ask_and_mend(&answer);
	walk_all(&quiet);
	check(&answer, base, &quiet);
	/* Nothing happens now: this is a walk that found everything. */
	if (rnd(2)) {
		write_cache(&quiet, answer.now);
		walk_release(base);
		*base = quiet;
		check_watches(base);
	} else {
		walk_release(&quiet);
	}
	watched_release(&answer);
	if (!rnd(40)) {
		watch_cover_close(&cover);
		open_cover();
	}
}

static void test_every_change_is_named(void **state)
{
	const char *count = getenv("TEST_WATCH_ROUNDS"), *seed = getenv("TEST_SEED");
	int nr = count ? atoi(count) : rounds(300);
	struct walk base = { 0 };
	bool have_base = false;

	(void)state;
	if (seed)
		unit_seed = strtoull(seed, NULL, 10);
	make_places();
	start_worker();
	open_cover();
	for (int i = 0; i < nr; i++)
		one_round(&base, &have_base);
	/* Not by always saying "all". */
	print_message("# %zu of %d answers knew something, and named %zu directories\n",
		      known_answers, nr, named);
	assert_true(known_answers > (size_t)nr / 2);
	walk_release(&base);
	watch_cover_close(&cover);
	close(orders[1]);
	assert_int_equal(waitpid(worker, NULL, 0), worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_change_is_named),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
