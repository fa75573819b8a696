/* SPDX-License-Identifier: MIT */
#include "base/oid.h"

char *hex_encode(char *out, const unsigned char *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[data[i] >> 4];
		out[2 * i + 1] = digits[data[i] & 15];
	}
	out[2 * len] = '\0';
	return out;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool hex_decode(unsigned char *out, const char *hex, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = digit(hex[2 * i]);
		int low = high < 0 ? -1 : digit(hex[2 * i + 1]);

		if (low < 0)
			return false;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}
