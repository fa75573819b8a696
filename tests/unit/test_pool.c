/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 5000, WORKERS = 8 };

static const unsigned thread_counts[] = { 0, 1, 2, 3, WORKERS, 200 };

struct tally {
	atomic_uint seen[ITEMS];
	/* Not atomic: a worker's own slot must be its own. */
	unsigned by_worker[256];
	pthread_t caller;
	bool zero_is_caller;
};

static int tally_item(size_t index, unsigned worker, void *payload)
{
	struct tally *tally = payload;

	atomic_fetch_add(&tally->seen[index], 1);
	tally->by_worker[worker]++;
	if (!worker)
		tally->zero_is_caller = pthread_equal(pthread_self(), tally->caller);
	return 0;
}

static void test_pool_for_calls_every_index_once(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(thread_counts); t++)
		for (size_t n = 0; n <= ITEMS; n = n < 3 ? n + 1 : n * 7) {
			struct tally *tally = xcalloc(1, sizeof(*tally));
			unsigned sum = 0;

			tally->caller = pthread_self();
			tally->zero_is_caller = true;
			assert_int_equal(pool_for(thread_counts[t], n, tally_item, tally), 0);
			for (size_t i = 0; i < ITEMS; i++)
				assert_int_equal(atomic_load(&tally->seen[i]), i < n);
			for (size_t i = 0; i < ARRAY_SIZE(tally->by_worker); i++)
				sum += tally->by_worker[i];
			assert_int_equal(sum, n);
			assert_true(tally->zero_is_caller);
			/* Never a worker that the caller did not ask for. */
			for (size_t i = thread_counts[t] ? thread_counts[t] : 1;
			     i < ARRAY_SIZE(tally->by_worker); i++)
				assert_int_equal(tally->by_worker[i], 0);
			free(tally);
		}
}

static int in_order(size_t index, unsigned worker, void *payload)
{
	size_t *next = payload;

	return worker || index != (*next)++ ? CKPT_ERROR : 0;
}

static void test_pool_for_one_thread_goes_in_order(void **state)
{
	size_t next = 0;

	(void)state;
	assert_int_equal(pool_for(1, ITEMS, in_order, &next), 0);
	assert_int_equal(next, ITEMS);
}

struct failing {
	size_t at;
	atomic_size_t begun;
};

static int fail_at(size_t index, unsigned worker, void *payload)
{
	struct failing *failing = payload;

	(void)worker;
	atomic_fetch_add(&failing->begun, 1);
	if (index == failing->at)
		return ckpt_error_set(CKPT_ECORRUPT, "item %zu is bad", index);
	ckpt_error_set(0, "a worker's own chatter");
	return 0;
}

static void test_pool_for_failure_keeps_code_and_sentence(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(thread_counts); t++)
		for (int round = 0; round < 20; round++) {
			struct failing failing = { .at = rnd(ITEMS) };
			char expect[64];

			snprintf(expect, sizeof(expect), "item %zu is bad", failing.at);
			assert_int_equal(pool_for(thread_counts[t], ITEMS, fail_at, &failing),
					 CKPT_ECORRUPT);
			assert_string_equal(ckpt_error_last(), expect);
			if (thread_counts[t] <= 1)
				assert_int_equal(atomic_load(&failing.begun), failing.at + 1);
		}
}

static int fail_always(size_t index, unsigned worker, void *payload)
{
	(void)index;
	(void)worker;
	atomic_fetch_add((atomic_uint *)payload, 1);
	return ckpt_error_set(CKPT_ELOCKED, "all fail");
}

static void test_pool_for_no_further_item_is_begun(void **state)
{
	atomic_uint calls = 0;

	(void)state;
	assert_int_equal(pool_for(WORKERS, ITEMS, fail_always, &calls), CKPT_ELOCKED);
	assert_in_range(atomic_load(&calls), 1, WORKERS);
	assert_string_equal(ckpt_error_last(), "all fail");
}

/* ---- the queue: a tree of numbers, where n pushes 2n and 2n + 1 below a limit ---- */

struct drained {
	size_t limit;
	size_t bad; /* fails there, 0: nowhere */
	atomic_uint seen[ITEMS + 1];
	unsigned by_worker[256];
};

static int drain_number(struct pool_queue *queue, void *item, unsigned worker, void *payload)
{
	struct drained *drained = payload;
	size_t n = (size_t)(uintptr_t)item;

	drained->by_worker[worker]++;
	atomic_fetch_add(&drained->seen[n], 1);
	if (n == drained->bad)
		return ckpt_error_set(CKPT_EREFUSED, "number %zu", n);
	/* Children may be pushed long after others have run dry. */
	if (n % 97 == 0)
		usleep(500);
	for (size_t child = 2 * n; child <= 2 * n + 1 && child <= drained->limit; child++)
		pool_push(queue, (void *)(uintptr_t)child);
	return 0;
}

static void test_pool_drain_works_off_what_is_added(void **state)
{
	static const size_t limits[] = { 1, 2, 3, 10, 1000, ITEMS };

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(thread_counts); t++)
		for (size_t l = 0; l < ARRAY_SIZE(limits); l++) {
			struct drained *drained = xcalloc(1, sizeof(*drained));
			unsigned sum = 0;

			drained->limit = limits[l];
			assert_int_equal(pool_drain(thread_counts[t], (void *)1, drain_number,
						    drained),
					 0);
			for (size_t i = 0; i <= ITEMS; i++)
				assert_int_equal(atomic_load(&drained->seen[i]),
						 i && i <= limits[l]);
			for (size_t i = 0; i < ARRAY_SIZE(drained->by_worker); i++)
				sum += drained->by_worker[i];
			assert_int_equal(sum, limits[l]);
			free(drained);
		}
}

static void test_pool_drain_failure_ends_it(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(thread_counts); t++)
		for (int round = 0; round < 20; round++) {
			struct drained *drained = xcalloc(1, sizeof(*drained));
			char expect[64];

			drained->limit = ITEMS;
			drained->bad = 1 + rnd(ITEMS);
			snprintf(expect, sizeof(expect), "number %zu", drained->bad);
			assert_int_equal(pool_drain(thread_counts[t], (void *)1, drain_number,
						    drained),
					 CKPT_EREFUSED);
			assert_string_equal(ckpt_error_last(), expect);
			for (size_t i = 0; i <= ITEMS; i++)
				assert_true(atomic_load(&drained->seen[i]) <= 1);
			free(drained);
		}
}

/* A long chain with one item at a time: sleepers must be woken each time, nobody gives up early. */
static int chain(struct pool_queue *queue, void *item, unsigned worker, void *payload)
{
	size_t n = (size_t)(uintptr_t)item;

	(void)worker;
	atomic_fetch_add((atomic_uint *)payload, 1);
	if (n < 3000)
		pool_push(queue, (void *)(uintptr_t)(n + 1));
	return 0;
}

static void test_pool_drain_follows_a_chain(void **state)
{
	atomic_uint calls = 0;

	(void)state;
	assert_int_equal(pool_drain(WORKERS, (void *)1, chain, &calls), 0);
	assert_int_equal(atomic_load(&calls), 3000);
}

/* One item that takes its time, then many: those that had nothing to do must still be there. */
static int slow_start(struct pool_queue *queue, void *item, unsigned worker, void *payload)
{
	unsigned *by_worker = payload;
	size_t n = (size_t)(uintptr_t)item;

	by_worker[worker]++;
	usleep(n == 1 ? 50000 : 1000);
	for (size_t i = 2; n == 1 && i < 100; i++)
		pool_push(queue, (void *)(uintptr_t)i);
	return 0;
}

static void test_pool_drain_workers_wait_for_work(void **state)
{
	unsigned by_worker[4] = { 0 };

	(void)state;
	assert_int_equal(pool_drain(4, (void *)1, slow_start, by_worker), 0);
	for (int i = 0; i < 4; i++)
		assert_true(by_worker[i] > 0);
	assert_int_equal(by_worker[0] + by_worker[1] + by_worker[2] + by_worker[3], 99);
}

static int nested(size_t index, unsigned worker, void *payload)
{
	struct drained *drained = xcalloc(1, sizeof(*drained));
	int err;

	(void)worker;
	(void)payload;
	drained->limit = 200;
	drained->bad = index == 5 ? 77 : 0;
	err = pool_drain(3, (void *)1, drain_number, drained);
	free(drained);
	return err;
}

static void test_pool_may_be_used_within_a_pool(void **state)
{
	(void)state;
	assert_int_equal(pool_for(3, 5, nested, NULL), 0);
	assert_int_equal(pool_for(3, 6, nested, NULL), CKPT_EREFUSED);
	assert_string_equal(ckpt_error_last(), "number 77");
}

static void test_pool_default_is_sensible(void **state)
{
	(void)state;
	assert_in_range(pool_default_threads(), 1, 16);
}

/* ---- the error slot that all this rests on ---- */

static void test_error_sentences(void **state)
{
	char *big = xcalloc(1, 20000);

	(void)state;
	assert_int_equal(ckpt_error_set(CKPT_ELOCKED, "a %d", 1), CKPT_ELOCKED);
	assert_string_equal(ckpt_error_last(), "a 1");
	assert_int_equal(ckpt_error_prefix(CKPT_ECORRUPT, "b '%s'", "c"), CKPT_ECORRUPT);
	assert_string_equal(ckpt_error_last(), "b 'c': a 1");
	errno = ENOENT;
	assert_int_equal(ckpt_error_errno("open '%s'", "x"), CKPT_ENOTFOUND);
	assert_string_equal(ckpt_error_last(), "open 'x': No such file or directory");
	errno = EMFILE;
	assert_int_equal(ckpt_error_errno("open"), CKPT_ELACK);
	ckpt_error_forget_lack();
	errno = EACCES;
	assert_int_equal(ckpt_error_errno("open"), CKPT_ERROR);
	assert_int_equal(errno, EACCES);
	/* Too long is cut, not spilled. */
	memset(big, 'x', 19999);
	ckpt_error_set(CKPT_ERROR, "%s", big);
	assert_int_equal(strlen(ckpt_error_last()), 8191);
	ckpt_error_prefix(CKPT_ERROR, "p");
	assert_int_equal(strncmp(ckpt_error_last(), "p: xxx", 6), 0);
	assert_int_equal(strlen(ckpt_error_last()), 8191);
	ckpt_error_prefix(CKPT_ERROR, "%s", big);
	assert_int_equal(strlen(ckpt_error_last()), 8191);
	errno = EIO;
	ckpt_error_errno("%s", big);
	assert_int_equal(strlen(ckpt_error_last()), 8191);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_for_calls_every_index_once),
		cmocka_unit_test(test_pool_for_one_thread_goes_in_order),
		cmocka_unit_test(test_pool_for_failure_keeps_code_and_sentence),
		cmocka_unit_test(test_pool_for_no_further_item_is_begun),
		cmocka_unit_test(test_pool_drain_works_off_what_is_added),
		cmocka_unit_test(test_pool_drain_failure_ends_it),
		cmocka_unit_test(test_pool_drain_follows_a_chain),
		cmocka_unit_test(test_pool_drain_workers_wait_for_work),
		cmocka_unit_test(test_pool_may_be_used_within_a_pool),
		cmocka_unit_test(test_pool_default_is_sensible),
		cmocka_unit_test(test_error_sentences),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
