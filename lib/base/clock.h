/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CLOCK_H
#define CKPT_BASE_CLOCK_H

#include "base/std.h"

/** Time, as people and programs write it. Seconds since 1970, UTC. */

enum { CLOCK_ISO_SIZE = 48 };

int64_t clock_now(void);

/**
 * Nanoseconds of the clock from which the kernel takes file times. It advances
 * in ticks; a file written within the tick that this returns may carry this
 * time.
 */
int64_t clock_file_ns(void);

/** A file time as nanoseconds of that clock. */
static inline int64_t clock_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/** Seconds of a clock that never jumps, for measuring time. */
double clock_monotonic(void);

/** "2026-09-30T12:34:56Z"; returns `out`. */
char *clock_format_iso(char out[CLOCK_ISO_SIZE], int64_t when);

/** The same in the local zone, for people, as git's --date=iso: "2026-09-30 14:34:56 +0200". */
char *clock_format_local(char out[CLOCK_ISO_SIZE], int64_t when);

/** "20260930_123456"; returns `out`. */
char *clock_format_id(char out[CLOCK_ISO_SIZE], int64_t when);

/** "3 minutes ago", "in 2 days"; returns `out`. */
char *clock_format_age(char out[CLOCK_ISO_SIZE], int64_t when, int64_t now);

/**
 * The same for narrow columns, with the letters of durations: "5m ago", "in 2d"; weeks are the
 * largest unit.
 */
char *clock_format_age_short(char out[CLOCK_ISO_SIZE], int64_t when, int64_t now);

/** The day in the local zone: "Today", "Yesterday", "Tue 17 Nov 2026"; returns `out`. */
char *clock_format_day(char out[CLOCK_ISO_SIZE], int64_t when, int64_t now);

/** The time of that day: "14:03"; returns `out`. */
char *clock_format_minute(char out[CLOCK_ISO_SIZE], int64_t when);

/** ISO 8601: a date, a date and a time, with Z, an offset or neither (local zone). */
bool clock_parse_iso(int64_t *out, const char *text);

/** `<n>` with s, m, h, d or w. */
bool clock_parse_duration(int64_t *seconds_out, const char *text);

/** The shortest exact form that clock_parse_duration() reads: "90s", "2w"; returns `out`. */
char *clock_format_duration(char out[CLOCK_ISO_SIZE], int64_t seconds);

/* --- numbers and sizes: units.c --- */

enum { UNITS_SIZE = 32 };

/** An unsigned whole number with nothing after it. */
bool units_parse_number(uint64_t *out, const char *text);

/** A number of bytes with an optional k, m, g or t (of 1024, as in git) and an optional B. */
bool units_parse_size(uint64_t *out, const char *text);

/** "194.5 MB" (of 1000), for people; returns `out`. */
char *units_format_size(char out[UNITS_SIZE], uint64_t bytes);

/** "3,659", for people; returns `out`. */
char *units_format_count(char out[UNITS_SIZE], uint64_t n);

#endif
