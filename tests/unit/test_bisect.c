/* SPDX-License-Identifier: MIT */
#include "run/run.h"
#include "unit.h"

/* Ask until nothing more can be found out; `skip` has a bit for each that cannot be judged. */
static unsigned search(enum bisect_verdict *verdicts, size_t nr, size_t first_bad, uint64_t skip)
{
	unsigned asked = 0;
	size_t at;

	memset(verdicts, 0, nr * sizeof(*verdicts));
	verdicts[0] = BISECT_GOOD;
	verdicts[nr - 1] = BISECT_BAD;
	while ((at = bisect_next(verdicts, nr)) < nr) {
		assert_int_equal(verdicts[at], BISECT_UNKNOWN);
		verdicts[at] = at < 64 && skip >> at & 1 ? BISECT_SKIPPED :
			       at < first_bad		? BISECT_GOOD :
							  BISECT_BAD;
		asked++;
	}
	return asked;
}

static void test_bisect_finds_each_in_as_few_steps_as_possible(void **state)
{
	enum bisect_verdict verdicts[300];

	(void)state;
	for (size_t nr = 2; nr < 300; nr = nr < 40 ? nr + 1 : nr + 37)
		for (size_t bad = 1; bad < nr; bad++) {
			size_t first, last;
			unsigned most = 0;

			for (size_t n = nr - 2; n; n /= 2)
				most++;
			assert_true(search(verdicts, nr, bad, 0) <= most);
			last = bisect_range(&first, verdicts, nr);
			assert_int_equal(first, bad);
			assert_int_equal(last, bad);
			assert_int_equal(bisect_steps(verdicts, nr), 0);
		}
}

/* Whatever was skipped, the answer has what can be the first, and nothing else. */
static void test_bisect_skipping_widens_the_answer_and_no_more(void **state)
{
	enum { NR = 9 };
	enum bisect_verdict verdicts[NR];

	(void)state;
	for (uint64_t skip = 0; skip < 1u << NR; skip++) {
		if (skip & 1 || skip >> (NR - 1) & 1)
			continue;
		for (size_t bad = 1; bad < NR; bad++) {
			size_t first, last, low = bad, high = bad;

			search(verdicts, NR, bad, skip);
			last = bisect_range(&first, verdicts, NR);
			while (skip >> high & 1)
				high++;
			while (skip >> (low - 1) & 1)
				low--;
			assert_int_equal(first, low);
			assert_int_equal(last, high);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bisect_finds_each_in_as_few_steps_as_possible),
		cmocka_unit_test(test_bisect_skipping_widens_the_answer_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
