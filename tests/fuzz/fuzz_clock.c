/* SPDX-License-Identifier: MIT */
/* Times, durations, sizes and numbers as people type them: what is understood is said the same. */
#include "fuzz.h"

#include "base/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	char *text = fuzz_text(&in), out[CLOCK_ISO_SIZE], bytes[UNITS_SIZE];
	int64_t when = 0, again = 0;
	uint64_t number = 0;

	if (clock_parse_iso(&when, text)) {
		clock_format_iso(out, when);
		FUZZ_CHECK(clock_parse_iso(&again, out) && again == when, "'%s' is '%s'", text, out);
		clock_format_id(out, when);
		clock_format_age(out, when, 1790000000);
		clock_format_age_short(out, when, 1790000000);
	}
	if (clock_parse_duration(&when, text)) {
		FUZZ_CHECK(when >= 0, "'%s' is %lld", text, (long long)when);
		clock_format_duration(out, when);
		FUZZ_CHECK(clock_parse_duration(&again, out) && again == when, "'%s' is '%s'", text, out);
	}
	(void)units_parse_number(&number, text);
	if (units_parse_size(&number, text))
		units_format_size(bytes, number);
	free(text);
	return 0;
}
