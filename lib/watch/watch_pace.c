/* SPDX-License-Identifier: MIT */
#include "watch/watch_tree_internal.h"

#include <math.h>

/* Seconds. */
#define FIRST_HOLD 1.0
#define LONGEST_HOLD 30.0
#define FIRST_PAUSE 5.0
#define LONGEST_PAUSE 600.0

enum { DOUBLED_MAX = 10 }; /* times */

static double earlier(double a, double b)
{
	return a < b ? a : b;
}

static double doubled(double pause, unsigned times)
{
	return pause * (1 << (times < DOUBLED_MAX ? times : DOUBLED_MAX));
}

void watch_pace_changed(struct watch_pace *pace, double now)
{
	if (!pace->first)
		pace->first = now;
	pace->last = now;
}

void watch_pace_blind(struct watch_pace *pace, double now)
{
	if (pace->first)
		return;
	pace->first = now;
	pace->last = INFINITY;
}

void watch_pace_began(struct watch_pace *pace)
{
	pace->first = pace->last = 0;
	pace->not_before = 0;
	pace->holds = 0;
}

void watch_pace_failed(struct watch_pace *pace, double now)
{
	double pause = doubled(FIRST_PAUSE, pace->failures);

	pace->failures++;
	if (!pace->first)
		pace->first = pace->last = now;
	pace->not_before = now + earlier(pause, LONGEST_PAUSE);
}

void watch_pace_hold(struct watch_pace *pace, double now)
{
	pace->not_before = now + earlier(doubled(FIRST_HOLD, pace->holds), LONGEST_HOLD);
	pace->holds++;
}

double watch_pace_due(const struct watch_pace *pace)
{
	double due = earlier(pace->last + pace->quiet, pace->first + pace->max);

	if (!pace->first)
		return INFINITY;
	return due > pace->not_before ? due : pace->not_before;
}

bool watch_pace_is_busy(const struct watch_pace *pace, double now)
{
	return pace->first && pace->last + pace->quiet > now;
}
