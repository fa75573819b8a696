/* SPDX-License-Identifier: MIT */
/* A base, its length in the first byte, and a delta: the result is as long as the delta says. */
#include "fuzz.h"

#include "store/delta_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	size_t base_len = fuzz_byte(&in);
	uint64_t base_size = 0, result_size = 0;
	struct strbuf out = STRBUF_INIT;
	const uint8_t *delta;
	int sizes;

	if (base_len > in.size)
		base_len = in.size;
	delta = in.data + base_len;
	sizes = delta_sizes(&base_size, &result_size, delta, in.size - base_len);
	strbuf_addstr(&out, "before");
	if (delta_apply(&out, in.data, base_len, delta, in.size - base_len)) {
		FUZZ_CHECK(out.len == 6, "something is left of a delta that failed");
	} else {
		FUZZ_CHECK(!sizes && base_size == base_len, "applied to another base");
		FUZZ_CHECK(out.len == 6 + result_size, "not the size that it says");
	}
	FUZZ_CHECK(!memcmp(out.buf, "before", 6), "what was there is gone");
	strbuf_release(&out);
	return 0;
}
