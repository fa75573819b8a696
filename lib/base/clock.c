/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include "base/alloc.h"

/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
#define FIRST (-62167219200LL)
#define LAST 253402300799LL

static const struct {
	char letter;
	int64_t seconds;
} units[] = { { 'w', 604800 }, { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };

int64_t clock_now(void)
{
	return (int64_t)time(NULL);
}

int64_t clock_file_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

double clock_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* For times beyond four-digit years, the nearest time within them. */
static struct tm split_time(int64_t when)
{
	time_t t = (time_t)(when < FIRST ? FIRST : when > LAST ? LAST : when);
	struct tm tm = { 0 };

	gmtime_r(&t, &tm);
	tm.tm_year += 1900;
	tm.tm_mon += 1;
	return tm;
}

char *clock_format_iso(char out[CLOCK_ISO_SIZE], int64_t when)
{
	struct tm tm = split_time(when);

	snprintf(out, CLOCK_ISO_SIZE, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year, tm.tm_mon,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	return out;
}

char *clock_format_id(char out[CLOCK_ISO_SIZE], int64_t when)
{
	struct tm tm = split_time(when);

	snprintf(out, CLOCK_ISO_SIZE, "%04d%02d%02d_%02d%02d%02d", tm.tm_year, tm.tm_mon,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	return out;
}

static struct tm split_local(int64_t when)
{
	time_t t = (time_t)when;
	struct tm tm = { 0 };

	localtime_r(&t, &tm);
	return tm;
}

static bool is_day(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_yday == b->tm_yday;
}

char *clock_format_day(char out[CLOCK_ISO_SIZE], int64_t when, int64_t now)
{
	struct tm day = split_local(when), today = split_local(now), yesterday = today;

	/* Noon, because days in which clocks change have another length. */
	yesterday.tm_mday--;
	yesterday.tm_hour = 12;
	yesterday.tm_isdst = -1;
	mktime(&yesterday);
	if (is_day(&day, &today))
		snprintf(out, CLOCK_ISO_SIZE, "Today");
	else if (is_day(&day, &yesterday))
		snprintf(out, CLOCK_ISO_SIZE, "Yesterday");
	else
		strftime(out, CLOCK_ISO_SIZE, "%a %d %b %Y", &day);
	return out;
}

char *clock_format_local(char out[CLOCK_ISO_SIZE], int64_t when)
{
	struct tm tm = split_local(when);

	strftime(out, CLOCK_ISO_SIZE, "%Y-%m-%d %H:%M:%S %z", &tm);
	return out;
}

char *clock_format_minute(char out[CLOCK_ISO_SIZE], int64_t when)
{
	struct tm tm = split_local(when);

	strftime(out, CLOCK_ISO_SIZE, "%H:%M", &tm);
	return out;
}

/* `brief`: with the first letter of the unit; weeks are the largest. */
static char *format_age(char out[CLOCK_ISO_SIZE], int64_t when, int64_t now, bool brief)
{
	static const struct {
		const char *name;
		int64_t seconds, from;
	} steps[] = {
		{ "year", 31536000, 63072000 }, { "month", 2592000, 5184000 },
		{ "week", 604800, 1209600 },	{ "day", 86400, 129600 },
		{ "hour", 3600, 5400 },		{ "minute", 60, 90 },
		{ "second", 1, 0 },
	};
	int64_t diff = now >= when ? now - when : when - now;
	const char *ahead = now >= when ? "" : "in ", *ago = now >= when ? " ago" : "";
	size_t i = brief ? 2 : 0;
	long long n;

	while (diff < steps[i].from)
		i++;
	n = (long long)((diff + steps[i].seconds / 2) / steps[i].seconds);
	if (brief)
		snprintf(out, CLOCK_ISO_SIZE, "%s%lld%c%s", ahead, n, *steps[i].name, ago);
	else
		snprintf(out, CLOCK_ISO_SIZE, "%s%lld %s%s%s", ahead, n, steps[i].name,
			 n == 1 ? "" : "s", ago);
	return out;
}

char *clock_format_age(char out[CLOCK_ISO_SIZE], int64_t when, int64_t now)
{
	return format_age(out, when, now, false);
}

char *clock_format_age_short(char out[CLOCK_ISO_SIZE], int64_t when, int64_t now)
{
	return format_age(out, when, now, true);
}

static bool read_digits(const char **p, int count, int *out)
{
	*out = 0;
	for (int i = 0; i < count; i++, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		*out = *out * 10 + (**p - '0');
	}
	return true;
}

static bool skip_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* "Z", "+hh:mm", "+hhmm" or "+hh"; sets the distance to UTC in seconds. */
static bool parse_zone(const char **p, long *offset)
{
	int sign = **p == '-' ? -1 : 1, hours, minutes = 0;

	*offset = 0;
	if (skip_char(p, 'Z') || skip_char(p, 'z'))
		return true;
	if (!skip_char(p, '+') && !skip_char(p, '-'))
		return false;
	if (!read_digits(p, 2, &hours))
		return false;
	if (**p) {
		skip_char(p, ':');
		if (!read_digits(p, 2, &minutes))
			return false;
	}
	if (hours > 23 || minutes > 59)
		return false;
	*offset = sign * (hours * 3600L + minutes * 60L);
	return true;
}

bool clock_parse_iso(int64_t *out, const char *text)
{
	struct tm tm = { .tm_isdst = -1 }, check;
	const char *p = text;
	long offset = 0;
	bool local = true;
	time_t t;

	if (!read_digits(&p, 4, &tm.tm_year) || !skip_char(&p, '-') ||
	    !read_digits(&p, 2, &tm.tm_mon) || !skip_char(&p, '-') ||
	    !read_digits(&p, 2, &tm.tm_mday))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	if (*p) {
		if (!skip_char(&p, 'T') && !skip_char(&p, 't') && !skip_char(&p, ' '))
			return false;
		if (!read_digits(&p, 2, &tm.tm_hour) || !skip_char(&p, ':') ||
		    !read_digits(&p, 2, &tm.tm_min))
			return false;
		if (skip_char(&p, ':') && !read_digits(&p, 2, &tm.tm_sec))
			return false;
		if (skip_char(&p, '.')) {
			if (!isdigit((unsigned char)*p))
				return false;
			while (isdigit((unsigned char)*p))
				p++;
		}
		if (*p) {
			local = false;
			if (!parse_zone(&p, &offset))
				return false;
		}
	}
	if (*p || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return false;
	/* mktime() normalises the 31st of February; whoever typed it wants to know. */
	check = tm;
	t = timegm(&check);
	if (check.tm_mon != tm.tm_mon || check.tm_mday != tm.tm_mday)
		return false;
	if (local)
		t = mktime(&tm);
	*out = (int64_t)t - offset;
	return true;
}

bool clock_parse_duration(int64_t *seconds_out, const char *text)
{
	int64_t n = 0;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++) {
		n = n * 10 + (*text - '0');
		if (n > 1000000000000)
			return false;
	}
	if (!text[0] || text[1])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (units[i].letter == *text) {
			*seconds_out = n * units[i].seconds;
			return true;
		}
	return false;
}

char *clock_format_duration(char out[CLOCK_ISO_SIZE], int64_t seconds)
{
	size_t i = 0;

	while (seconds % units[i].seconds)
		i++;
	if (!seconds)
		i = ARRAY_SIZE(units) - 1;
	snprintf(out, CLOCK_ISO_SIZE, "%lld%c", (long long)(seconds / units[i].seconds),
		 units[i].letter);
	return out;
}
