/* SPDX-License-Identifier: MIT */
/* Days and minutes, as people at a place have them. */

#include "base/alloc.h"
#include "base/clock.h"

#include "unit.h"

#include <time.h>

/* In the zone of whoever looks, also where yesterday had 23 hours. */
static void test_clock_format_day(void **state)
{
	static const struct {
		const char *zone, *when, *now, *day, *minute;
	} cases[] = {
		{ "UTC", "2026-11-17T00:00:00Z", "2026-11-17T23:59:59Z", "Today", "00:00" },
		{ "UTC", "2026-11-16T23:59:59Z", "2026-11-17T00:00:00Z", "Yesterday", "23:59" },
		{ "UTC", "2026-11-15T23:59:59Z", "2026-11-17T00:00:00Z", "Sun 15 Nov 2026", "23:59" },
		{ "UTC", "2026-01-01T12:00:00Z", "2026-01-02T00:00:00Z", "Yesterday", "12:00" },
		{ "UTC", "2025-12-31T12:00:00Z", "2026-01-01T00:00:00Z", "Yesterday", "12:00" },
		{ "UTC", "2025-11-17T12:00:00Z", "2026-11-17T12:00:00Z", "Mon 17 Nov 2025", "12:00" },
		{ "UTC", "2026-11-18T12:00:00Z", "2026-11-17T12:00:00Z", "Wed 18 Nov 2026", "12:00" },
		{ "UTC-9", "2026-11-16T15:00:00Z", "2026-11-17T00:00:00Z", "Today", "00:00" },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-28T23:30:00Z", "2026-03-29T22:10:00Z",
		  "Yesterday", "00:30" },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-24T22:30:00Z", "2026-10-25T23:10:00Z",
		  "Yesterday", "00:30" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[CLOCK_ISO_SIZE];
		int64_t when, now;

		setenv("TZ", cases[i].zone, 1);
		tzset();
		assert_true(clock_parse_iso(&when, cases[i].when));
		assert_true(clock_parse_iso(&now, cases[i].now));
		assert_string_equal(clock_format_day(text, when, now), cases[i].day);
		assert_string_equal(clock_format_minute(text, when), cases[i].minute);
	}
	unsetenv("TZ");
	tzset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_format_day),
	};

	return cmocka_run_group_tests_name("clock_day", tests, NULL, NULL);
}
