/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

char *oid_hex_encode(char *out, const unsigned char *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[data[i] >> 4];
		out[2 * i + 1] = digits[data[i] & 15];
	}
	out[2 * len] = '\0';
	return out;
}

/* Thousands of names are read for one command: no branch for each digit. */
bool oid_hex_decode(unsigned char *out, const char *hex, size_t len)
{
	enum { VALID = 16 };
	static const unsigned char digits[256] = {
		['0'] = 16, ['1'] = 17, ['2'] = 18, ['3'] = 19, ['4'] = 20, ['5'] = 21,
		['6'] = 22, ['7'] = 23, ['8'] = 24, ['9'] = 25, ['a'] = 26, ['b'] = 27,
		['c'] = 28, ['d'] = 29, ['e'] = 30, ['f'] = 31, ['A'] = 26, ['B'] = 27,
		['C'] = 28, ['D'] = 29, ['E'] = 30, ['F'] = 31,
	};
	const unsigned char *at = (const unsigned char *)hex;
	unsigned all = VALID;

	if (strnlen(hex, 2 * len) != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++, at += 2) {
		unsigned high = digits[at[0]], low = digits[at[1]];

		all &= high & low;
		out[i] = (unsigned char)(high << 4 | (low & 15));
	}
	return all & VALID;
}
