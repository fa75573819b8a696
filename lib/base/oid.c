/* SPDX-License-Identifier: MIT */
#include "base/oid.h"

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

/* Thousands of names are read for one command: a table is several times faster than comparing. */
static int digit(char c)
{
	static const signed char values[256] = {
		['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
		['6'] = 7, ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
		['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
		['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};

	return values[(unsigned char)c] - 1;
}

bool oid_hex_decode(unsigned char *out, const char *hex, size_t len)
{
	int all = 0;

	if (strnlen(hex, 2 * len) != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);

		all |= high | low; /* negative once one of them is */
		out[i] = (unsigned char)((unsigned)high << 4 | (unsigned)low);
	}
	return all >= 0;
}
