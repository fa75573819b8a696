/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_EVICTGEN_H
#define CKPT_TESTS_EVICTGEN_H

/* Checkpoints to be judged by the rules of retention. */

#include "base/clock.h"
#include "keep/evict.h"
#include "unit.h"

enum { MAX_ITEMS = 256, HOURS = 3600, DAYS = 86400 };

static struct evict_item items[MAX_ITEMS];
static size_t items_nr;
static int64_t now;

UNUSED static int64_t at(const char *iso)
{
	int64_t when;

	assert_true(clock_parse_iso(&when, iso));
	return when;
}

UNUSED static void begin(const char *iso)
{
	now = at(iso);
	items_nr = 0;
	memset(items, 0, sizeof(items));
}

UNUSED static struct evict_item *add(int64_t age)
{
	struct evict_item *item = &items[items_nr++];

	item->created_at = now - age;
	return item;
}

#define THIN                                                                                       \
	.keep_all = 2 * HOURS, .thin = {                                                           \
		.items = { { 600, DAYS }, { HOURS, 7 * DAYS }, { DAYS, 30 * DAYS } }, .nr = 3      \
	}

#endif
