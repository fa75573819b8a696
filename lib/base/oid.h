/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_OID_H
#define CKPT_BASE_OID_H

#include "base/std.h"

/**
 * The name of an object in a store: SHA-1, so that any stock git can read it.
 * The layout equals libgit2's git_oid.
 */
enum { OID_SIZE = 20, OID_HEX = 40, SHA256_SIZE = 32, SHA256_HEX = 64 };

struct oid {
	unsigned char id[OID_SIZE];
};

static inline bool oid_equal(const struct oid *a, const struct oid *b)
{
	return !memcmp(a->id, b->id, OID_SIZE);
}

static inline bool oid_is_zero(const struct oid *oid)
{
	static const struct oid zero;

	return oid_equal(oid, &zero);
}

/** Write `2 * len` lower-case hex digits and a NUL to `out`; returns `out`. */
char *oid_hex_encode(char *out, const unsigned char *data, size_t len);

/** Read `2 * len` hex digits; false if one is not a hex digit, and then `out` has no meaning. */
bool oid_hex_decode(unsigned char *out, const char *hex, size_t len);

/** `out` must have room for OID_HEX + 1 bytes; returns `out`. */
static inline char *oid_hex(char *out, const struct oid *oid)
{
	return oid_hex_encode(out, oid->id, OID_SIZE);
}

static inline bool oid_parse(struct oid *out, const char *hex)
{
	return oid_hex_decode(out->id, hex, OID_SIZE);
}

#endif
