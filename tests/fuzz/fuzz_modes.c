/* SPDX-License-Identifier: MIT */
/* The modes of a checkpoint: what parses has its paths in order, and each is found. */
#include "fuzz.h"

#include "record/modes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strlist differing = STRLIST_INIT;
	struct modes modes;
	char *copy = malloc(size + 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	if (!modes_parse(&modes, copy, size)) {
		for (size_t i = 0; i < modes.nr; i++) {
			FUZZ_CHECK(!i || strcmp(modes.items[i - 1].path, modes.items[i].path) < 0,
				   "paths are not in order");
			FUZZ_CHECK(modes.items[i].mode <= 07777, "mode %o", modes.items[i].mode);
			FUZZ_CHECK(modes_lookup(&modes, modes.items[i].path, 0100644) ==
					   modes.items[i].mode,
				   "a path is not found");
		}
		FUZZ_CHECK(modes_lookup(&modes, "not there", 040000) <= 07777, "a wild mode");
		FUZZ_CHECK(modes_differing(&differing, &modes, &modes) && !differing.nr,
			   "it differs from itself");
		strlist_release(&differing);
		modes_release(&modes);
	}
	free(copy);
	return 0;
}
