/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_UNITS_H
#define CKPT_BASE_UNITS_H

#include "base/std.h"

enum { UNITS_SIZE = 32 };

/** An unsigned whole number with nothing after it. */
bool units_parse_number(uint64_t *out, const char *text);

/** A number of bytes with an optional k, m, g or t (of 1024, as in git) and an optional B. */
bool units_parse_size(uint64_t *out, const char *text);

/** "194.5 MB" (of 1000), for people; returns `out`. */
char *units_format_size(char out[UNITS_SIZE], uint64_t bytes);

/** "3,659", for people; returns `out`. */
char *units_format_count(char out[UNITS_SIZE], uint64_t n);

#endif
