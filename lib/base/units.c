/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

static bool parse(uint64_t *out, const char **p)
{
	uint64_t n = 0;

	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); (*p)++) {
		uint64_t d = (uint64_t)(**p - '0');

		if (n > (UINT64_MAX / 2 - d) / 10)
			return false;
		n = n * 10 + d;
	}
	*out = n;
	return true;
}

bool units_parse_number(uint64_t *out, const char *text)
{
	uint64_t n;

	if (!parse(&n, &text) || *text)
		return false;
	*out = n;
	return true;
}

bool units_parse_size(uint64_t *out, const char *text)
{
	static const char letters[] = "kmgt";
	uint64_t n;

	if (!parse(&n, &text))
		return false;
	if (*text) {
		const char *at = strchr(letters, tolower((unsigned char)*text));

		if (at) {
			int shift = 10 * (int)(at - letters + 1);

			if (n > (UINT64_MAX / 2) >> shift)
				return false;
			n <<= shift;
			text++;
		}
		if (*text == 'B' || *text == 'b')
			text++;
		if (*text)
			return false;
	}
	*out = n;
	return true;
}

char *units_format_size(char out[UNITS_SIZE], uint64_t bytes)
{
	static const char *const names[] = { "bytes", "kB", "MB", "GB", "TB", "PB" };
	double value = (double)bytes;
	unsigned i = 0;

	while (value >= 999.95 && i < 5) {
		value /= 1000;
		i++;
	}
	if (!i)
		snprintf(out, UNITS_SIZE, "%llu %s", (unsigned long long)bytes,
			 bytes == 1 ? "byte" : "bytes");
	else
		snprintf(out, UNITS_SIZE, "%.1f %s", value, names[i]);
	return out;
}

char *units_format_count(char out[UNITS_SIZE], uint64_t n)
{
	char digits[UNITS_SIZE];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}
