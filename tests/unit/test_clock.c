/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include "base/alloc.h"
#include "unit.h"

#include <inttypes.h>
#include <time.h>

/* ---- ISO times ---- */

static const int64_t first_second = -62167219200, last_second = 253402300799;

static void test_clock_iso_round_trip(void **state)
{
	(void)state;
	for (int round = 0; round < 50000; round++) {
		int64_t when =
			round == 0 ? first_second
			: round == 1
				? last_second
				: first_second + (int64_t)(rnd64() % (uint64_t)(last_second -
										first_second + 1));
		char iso[CLOCK_ISO_SIZE], id[CLOCK_ISO_SIZE], expect[32];
		int64_t back = 0;

		clock_format_iso(iso, when);
		assert_int_equal(strlen(iso), 20);
		if (!clock_parse_iso(&back, iso) || back != when)
			fail_msg("%" PRId64 " gives %s gives %" PRId64, when, iso, back);
		clock_format_id(id, when);
		snprintf(expect, sizeof(expect), "%.4s%.2s%.2s_%.2s%.2s%.2s", iso, iso + 5, iso + 8,
			 iso + 11, iso + 14, iso + 17);
		assert_string_equal(id, expect);
	}
}

/* The order of the texts is the order of the times. */
static void test_clock_texts_sort_as_times(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		int64_t a = (int64_t)(rnd64() % (uint64_t)last_second), b = a + 1 + rnd(100000);
		char ta[CLOCK_ISO_SIZE], tb[CLOCK_ISO_SIZE];

		if (b > last_second)
			continue;
		assert_true(strcmp(clock_format_iso(ta, a), clock_format_iso(tb, b)) < 0);
		assert_true(strcmp(clock_format_id(ta, a), clock_format_id(tb, b)) < 0);
	}
}

/* A time that four digits of a year cannot hold must not become one that is long past. */
static void test_clock_iso_stays_readable_at_the_ends(void **state)
{
	static const int64_t late[] = { 253402300800, 604800000000000, INT64_MAX };
	static const int64_t early[] = { -62167219201, -604800000000000, INT64_MIN };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(late); i++) {
		char iso[CLOCK_ISO_SIZE];
		int64_t back = 0;

		if (!clock_parse_iso(&back, clock_format_iso(iso, late[i])))
			fail_msg("%s cannot be read", iso);
		assert_int_equal(back, last_second);
		if (!clock_parse_iso(&back, clock_format_iso(iso, early[i])))
			fail_msg("%s cannot be read", iso);
		assert_int_equal(back, first_second);
		assert_int_equal(strlen(clock_format_id(iso, late[i])), 15);
	}
}

/* date(1) is the judge. */
static void test_clock_iso_forms_equal_date(void **state)
{
	static const char *const forms[] = {
		"2026-09-30T12:34:56Z",	  "2026-09-30T12:34:56+02:00", "2026-09-30T12:34:56-0330",
		"2026-09-30T12:34:56+05", "2024-02-29T00:00:00Z",      "2000-02-29T23:59:59-12:00",
		"1999-12-31T23:59Z",	  "2026-09-30 12:34:56",       "2026-09-30",
		"2026-03-29T12:00",	  "1970-01-01T00:00:00Z",      "1969-12-31T23:59:58Z",
		"2038-01-19T03:14:08Z",	  "2026-07-01T12:34:56.789Z",  "2026-07-01T12:34:56.5",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct strbuf out = STRBUF_INIT;
		int64_t when = 0;

		if (!clock_parse_iso(&when, forms[i]))
			fail_msg("'%s' was refused", forms[i]);
		ask(&out, "date -d '%s' +%%s", forms[i]);
		if (strtoll(out.buf, NULL, 10) != when)
			fail_msg("'%s' is %s not %" PRId64, forms[i], out.buf, when);
		strbuf_release(&out);
	}
}

static void test_clock_iso_without_zone_is_local(void **state)
{
	static const char *const zones[] = { "UTC", "Europe/Berlin", "America/St_Johns",
					     "Asia/Kathmandu", "XYZ+7:30" };
	int64_t when, utc;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		setenv("TZ", zones[i], 1);
		tzset();
		for (int round = 0; round < 500; round++) {
			time_t t = (time_t)(rnd64() % 4000000000u);
			char text[CLOCK_ISO_SIZE], again[CLOCK_ISO_SIZE];
			struct tm tm;

			localtime_r(&t, &tm);
			strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
			assert_true(clock_parse_iso(&when, text));
			/* An hour that summer time repeats has two answers, both with this text. */
			t = (time_t)when;
			localtime_r(&t, &tm);
			strftime(again, sizeof(again), "%Y-%m-%dT%H:%M:%S", &tm);
			assert_string_equal(again, text);
			/* With a zone the local one has no say. */
			assert_true(clock_parse_iso(&utc, clock_format_iso(again, when)));
			assert_int_equal(utc, when);
		}
	}
	unsetenv("TZ");
	tzset();
}

static void test_clock_iso_refuses_what_is_no_date(void **state)
{
	static const char *const bad[] = {
		"",
		"2026",
		"2026-09",
		"2026-13-01",
		"2026-00-10",
		"2026-01-00",
		"2026-02-29",
		"2026-02-30",
		"2026-04-31",
		"2100-02-29",
		"2026-1-1",
		"26-01-01",
		"2026-01-01T",
		"2026-01-01T12",
		"2026-01-01T12:60",
		"2026-01-01T24:00",
		"2026-01-01T12:00:61",
		"2026-01-01T12:00:0",
		"2026-01-01T12:00Zx",
		"2026-01-01T12:00+24:00",
		"2026-01-01T12:00+1",
		"2026-01-01T12:00+01:",
		"2026-01-01T12:00.",
		"2026-01-01x12:00",
		" 2026-01-01",
		"2026-01-01 ",
		"-026-01-01",
		"yesterday",
		"2026-01-01T12:00:00+01:60",
		"2026/01/01",
		"2026-01-01T12:00:00ZZ",
		"2026-01-01T-1:00",
	};
	int64_t when = 4711;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (clock_parse_iso(&when, bad[i]))
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(when, 4711);
}

/* ---- durations ---- */

static void test_clock_duration_round_trip(void **state)
{
	static const int64_t unit[] = { 1, 60, 3600, 86400, 604800 };

	(void)state;
	for (int round = 0; round < 20000; round++) {
		int64_t seconds = (int64_t)(rnd64() % 100000) * unit[rnd(5)], back = -1;
		char text[CLOCK_ISO_SIZE];

		assert_true(clock_parse_duration(&back, clock_format_duration(text, seconds)));
		assert_int_equal(back, seconds);
		/* No longer unit would have been exact. */
		for (int i = 0; i < 5; i++)
			if (seconds && seconds % unit[i] == 0)
				assert_true(atoll(text) <= seconds / unit[i]);
	}
}

static void test_clock_duration_takes_one_number_and_one_unit(void **state)
{
	static const char *const bad[] = { "",
					   "5",
					   "d",
					   "5x",
					   "5dd",
					   "-5d",
					   "+5d",
					   " 5d",
					   "5 d",
					   "5d ",
					   "1.5d",
					   "0x5d",
					   "5D",
					   "5d5",
					   "99999999999999999999d",
					   "1000000000001s" };
	int64_t seconds = 4711;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (clock_parse_duration(&seconds, bad[i]))
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(seconds, 4711);
	assert_true(clock_parse_duration(&seconds, "0s"));
	assert_int_equal(seconds, 0);
	assert_true(clock_parse_duration(&seconds, "36h"));
	assert_int_equal(seconds, 36 * 3600);
	assert_true(clock_parse_duration(&seconds, "1000000000000w"));
	assert_int_equal(seconds, 604800000000000000);
}

/* ---- ages ---- */

static int64_t age_seconds(const char *text, bool *future)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} names[] = { { "second", 1 },	   { "minute", 60 },   { "hour", 3600 },
		      { "day", 86400 },	   { "week", 604800 }, { "month", 2592000 },
		      { "year", 31536000 } };
	char name[16] = "";
	long long n = -1;

	*future = !strncmp(text, "in ", 3);
	if (*future)
		text += 3;
	assert_int_equal(sscanf(text, "%lld %15s", &n, name), 2);
	assert_true(n >= 0);
	assert_int_equal(name[strlen(name) - 1] == 's', n != 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strstr(text, names[i].name))
			return n * names[i].seconds;
	fail_msg("'%s' has no unit", text);
	return 0;
}

/* Right to within a third, of the right side, never going down while time goes up. */
static void test_clock_age_is_about_right(void **state)
{
	int64_t last = 0;

	(void)state;
	for (int64_t diff = 0; diff < 400000000; diff += 1 + diff / 97) {
		char past[CLOCK_ISO_SIZE], future[CLOCK_ISO_SIZE];
		bool is_future;
		int64_t said;

		clock_format_age(past, 1000000000, 1000000000 + diff);
		said = age_seconds(past, &is_future);
		assert_false(is_future);
		assert_non_null(strstr(past, " ago"));
		if (said * 3 > diff * 4 || said * 4 < diff * 3)
			fail_msg("%lld seconds are '%s'", (long long)diff, past);
		if (said < last && last - said > said / 3)
			fail_msg("%lld seconds are '%s', and before more", (long long)diff, past);
		last = said;
		if (!diff)
			continue;
		clock_format_age(future, 1000000000 + diff, 1000000000);
		assert_int_equal(age_seconds(future, &is_future), said);
		assert_true(is_future);
		assert_null(strstr(future, "ago"));
	}
}

static void test_clock_age_examples(void **state)
{
	static const struct {
		int64_t diff;
		const char *text;
	} cases[] = { { 0, "0 seconds ago" },	   { 1, "1 second ago" },
		      { 89, "89 seconds ago" },	   { 180, "3 minutes ago" },
		      { 7200, "2 hours ago" },	   { 3 * 86400, "3 days ago" },
		      { -2 * 86400, "in 2 days" }, { 63072000, "2 years ago" } };
	char text[CLOCK_ISO_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(clock_format_age(text, 2000000000, 2000000000 + cases[i].diff),
				    cases[i].text);
}

static void test_clock_age_short_says_the_same(void **state)
{
	char text[CLOCK_ISO_SIZE];
	int64_t seconds;

	(void)state;
	assert_string_equal(clock_format_age_short(text, 2000000000, 2000000000 + 180), "3m ago");
	assert_string_equal(clock_format_age_short(text, 2000000000, 2000000000 - 172800), "in 2d");
	assert_string_equal(clock_format_age_short(text, 0, 604800 * 100), "100w ago");
	/* What stands before "ago" is a duration that an option takes, and about right. */
	for (int64_t diff = 0; diff < 604800 * 60; diff += diff / 7 + 1) {
		clock_format_age_short(text, 1000000000, 1000000000 + diff);
		*strchr(text, ' ') = '\0';
		assert_true(clock_parse_duration(&seconds, text));
		if (seconds * 3 > diff * 4 || seconds * 4 < diff * 3)
			fail_msg("%lld seconds are '%s'", (long long)diff, text);
	}
}

static void test_clock_clocks_agree(void **state)
{
	int64_t now = clock_now(), ns = clock_file_ns();
	double start = clock_monotonic();
	struct stat st;
	int64_t file_ns;

	(void)state;
	assert_in_range(ns / 1000000000 - now + 10, 8, 12);
	ns = clock_file_ns();
	put_text(in_scratch("stamp"), "x");
	assert_int_equal(stat(in_scratch("stamp"), &st), 0);
	file_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	/* A file never carries a time before the tick that was read before it was made. */
	assert_true(file_ns >= ns);
	assert_true(clock_monotonic() >= start);
}

/* ---- numbers and sizes ---- */

static void test_units_number_takes_digits_only(void **state)
{
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   " 1",
					   "1 ",
					   "1x",
					   "0x1",
					   "1.0",
					   "9223372036854775808",
					   "18446744073709551616",
					   "99999999999999999999999" };
	uint64_t n = 4711;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (units_parse_number(&n, bad[i]))
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(n, 4711);
	for (int round = 0; round < 5000; round++) {
		uint64_t value = (rnd64() >> 1) >> rnd(63);
		char text[32];

		snprintf(text, sizeof(text), "%" PRIu64, value);
		assert_true(units_parse_number(&n, text));
		assert_int_equal(n, value);
	}
	assert_true(units_parse_number(&n, "9223372036854775807"));
	assert_int_equal(n, INT64_MAX);
}

static void test_units_size_multiplies_by_1024(void **state)
{
	static const char *const bad[] = { "",
					   "k",
					   "1kk",
					   "1kBB",
					   "1x",
					   "1 k",
					   "-1k",
					   "1k ",
					   "1p",
					   "8388608t",
					   "9223372036854775807k" };
	uint64_t n = 4711;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (units_parse_size(&n, bad[i]))
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(n, 4711);
	for (int round = 0; round < 5000; round++) {
		uint64_t value = rnd(8000000);
		unsigned power = rnd(5);
		char text[32];

		snprintf(text, sizeof(text), "%" PRIu64 "%.1s%s", value,
			 power ? &(rnd(2) ? "kmgt" : "KMGT")[power - 1] : "",
			 rnd(2)	  ? ""
			 : rnd(2) ? "b"
				  : "B");
		assert_true(units_parse_size(&n, text));
		assert_int_equal(n, value << (10 * power));
	}
}

static void test_units_format_count_groups_digits(void **state)
{
	char out[UNITS_SIZE];

	(void)state;
	assert_string_equal(units_format_count(out, 0), "0");
	assert_string_equal(units_format_count(out, 999), "999");
	assert_string_equal(units_format_count(out, 1000), "1,000");
	assert_string_equal(units_format_count(out, 3659), "3,659");
	assert_string_equal(units_format_count(out, 123456), "123,456");
	assert_string_equal(units_format_count(out, 1000000), "1,000,000");
	assert_string_equal(units_format_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void test_units_format_size_is_about_right(void **state)
{
	char out[UNITS_SIZE];

	(void)state;
	assert_string_equal(units_format_size(out, 0), "0 bytes");
	assert_string_equal(units_format_size(out, 1), "1 byte");
	assert_string_equal(units_format_size(out, 999), "999 bytes");
	assert_string_equal(units_format_size(out, 1000), "1.0 kB");
	assert_string_equal(units_format_size(out, 999949), "999.9 kB");
	assert_string_equal(units_format_size(out, 999950), "1.0 MB");
	assert_string_equal(units_format_size(out, 194500000), "194.5 MB");
	for (int round = 0; round < 20000; round++) {
		static const char *const names[] = { "bytes", "kB", "MB", "GB", "TB", "PB" };
		uint64_t bytes = rnd64() >> (1 + rnd(60));
		double value, factor = 1, ratio;
		char name[8];
		size_t i = 0;

		units_format_size(out, bytes);
		assert_int_equal(sscanf(out, "%lf %7s", &value, name), 2);
		if (bytes == 1)
			continue;
		for (; strcmp(names[i], name); i++)
			factor *= 1000;
		assert_true(value < 1000 || i == 5);
		ratio = bytes ? value * factor / (double)bytes : 1;
		if (ratio < 0.95 || ratio > 1.05)
			fail_msg("%" PRIu64 " is '%s'", bytes, out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_iso_round_trip),
		cmocka_unit_test(test_clock_texts_sort_as_times),
		cmocka_unit_test(test_clock_iso_stays_readable_at_the_ends),
		cmocka_unit_test(test_clock_iso_forms_equal_date),
		cmocka_unit_test(test_clock_iso_without_zone_is_local),
		cmocka_unit_test(test_clock_iso_refuses_what_is_no_date),
		cmocka_unit_test(test_clock_duration_round_trip),
		cmocka_unit_test(test_clock_duration_takes_one_number_and_one_unit),
		cmocka_unit_test(test_clock_age_is_about_right),
		cmocka_unit_test(test_clock_age_examples),
		cmocka_unit_test(test_clock_age_short_says_the_same),
		cmocka_unit_test(test_clock_clocks_agree),
		cmocka_unit_test(test_units_number_takes_digits_only),
		cmocka_unit_test(test_units_size_multiplies_by_1024),
		cmocka_unit_test(test_units_format_count_groups_digits),
		cmocka_unit_test(test_units_format_size_is_about_right),
	};

	return cmocka_run_group_tests_name("clock", tests, unit_setup, unit_teardown);
}
