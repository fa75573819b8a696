/* SPDX-License-Identifier: MIT */
/* When a watched worktree is saved. */
#include "unit.h"

#include "watch/watch_tree_internal.h"

#include <math.h>

static struct watch_pace fresh(void)
{
	return (struct watch_pace){ .quiet = 5, .max = 300 };
}

static void expect_due(const struct watch_pace *pace, double when)
{
	if (watch_pace_due(pace) != when)
		fail_msg("due at %f, not at %f", watch_pace_due(pace), when);
}

static void test_pace_waits_for_quiet_but_not_for_ever(void **state)
{
	struct watch_pace pace = fresh();

	(void)state;
	expect_due(&pace, INFINITY);
	watch_pace_changed(&pace, 100);
	expect_due(&pace, 105);
	assert_true(watch_pace_is_busy(&pace, 104));
	assert_false(watch_pace_is_busy(&pace, 105));
	for (double now = 101; now <= 500; now++)
		watch_pace_changed(&pace, now);
	expect_due(&pace, 400);
	watch_pace_began(&pace);
	expect_due(&pace, INFINITY);
}

static void test_pace_without_events_is_that_of_max(void **state)
{
	struct watch_pace pace = fresh();

	(void)state;
	watch_pace_blind(&pace, 100);
	expect_due(&pace, 400);
	/* said again, it is not later */
	watch_pace_blind(&pace, 200);
	expect_due(&pace, 400);
	/* something was seen after all */
	watch_pace_changed(&pace, 210);
	expect_due(&pace, 215);
	watch_pace_blind(&pace, 212);
	expect_due(&pace, 215);
}

static void test_pace_after_failures(void **state)
{
	struct watch_pace pace = fresh();
	double pause = 5;

	(void)state;
	for (int i = 0; i < 20; i++) {
		double now = 1000.0 * (i + 1);

		watch_pace_changed(&pace, now);
		watch_pace_began(&pace);
		watch_pace_failed(&pace, now);
		/* without events no sooner, and no later */
		watch_pace_blind(&pace, now);
		expect_due(&pace, now + pause);
		pause = pause * 2 < 600 ? pause * 2 : 600;
	}
}

static void test_pace_holds_longer_and_longer(void **state)
{
	static const double pauses[] = { 1, 2, 4, 8, 16, 30, 30 };
	struct watch_pace pace = fresh();

	(void)state;
	watch_pace_changed(&pace, 100);
	for (size_t i = 0; i < ARRAY_SIZE(pauses); i++) {
		watch_pace_hold(&pace, 200);
		expect_due(&pace, 200 + pauses[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pace_waits_for_quiet_but_not_for_ever),
		cmocka_unit_test(test_pace_without_events_is_that_of_max),
		cmocka_unit_test(test_pace_after_failures),
		cmocka_unit_test(test_pace_holds_longer_and_longer),
	};

	return cmocka_run_group_tests_name("watch_pace", tests, NULL, NULL);
}
