/* SPDX-License-Identifier: MIT */
#include "session/newid.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* In a new second the digits start in the lower half, to leave room for those that follow. */
enum { FRESH_MAX = 0x7fffff, SUFFIX_MAX = 0xffffff, STEP_MAX = 0xff };

/* The time in an id, read as UTC. */
static int64_t id_time(const char *id)
{
	char iso[CLOCK_ISO_SIZE];
	int64_t when = 0;

	snprintf(iso, sizeof(iso), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", id + 4, id + 8, id + 10, id + 13,
		 id + 15, id + 17);
	return clock_parse_iso(&when, iso) ? when : 0;
}

int newid_make(char out[CKPT_ID_SIZE], const struct ref_list *refs, int64_t now)
{
	const char *last = refs->nr ? refs->items[refs->nr - 1].id : NULL;
	char stamp[CLOCK_ISO_SIZE];
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return ckpt_error_errno("unable to get random bytes");
	clock_format_id(stamp, now);
	snprintf(out, CKPT_ID_SIZE, "chk_%.15s_%06x", stamp, (unsigned)(random & FRESH_MAX));
	if (last && strncmp(out, last, strlen("chk_YYYYMMDD_HHMMSS")) <= 0) {
		unsigned long suffix = strtoul(last + strlen("chk_YYYYMMDD_HHMMSS_"), NULL, 16) + 1 +
				       (random & STEP_MAX);

		if (suffix > SUFFIX_MAX) {
			suffix = random & FRESH_MAX;
			clock_format_id(stamp, id_time(last) + 1);
		} else {
			snprintf(stamp, sizeof(stamp), "%.15s", last + strlen("chk_"));
		}
		snprintf(out, CKPT_ID_SIZE, "chk_%.15s_%06lx", stamp, suffix);
		if (strcmp(out, last) <= 0)
			return ckpt_error_set(CKPT_ERROR, "no id can follow that of checkpoint '%s'; drop it", last);
	}
	return 0;
}
