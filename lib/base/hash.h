/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_HASH_H
#define CKPT_BASE_HASH_H

#include "base/oid.h"
#include "base/std.h"

/**
 * SHA-1 and SHA-256 through libcrypto, which uses the processor's SHA
 * instructions; short texts are hashed without loading it. A digest may be used
 * any number of times, by one thread at a time. Hashing cannot fail: a libcrypto
 * without SHA means a broken system and ends the program.
 */
enum hash_kind { HASH_SHA1, HASH_SHA256 };

struct digest;

struct digest *hash_new(enum hash_kind kind);
void hash_free(struct digest *digest);

/** Start over; a new digest need not be started. */
void hash_begin(struct digest *digest);
void hash_update(struct digest *digest, const void *data, size_t len);

/** Write OID_SIZE or SHA256_SIZE bytes and start over. */
void hash_end(struct digest *digest, unsigned char *out);

/** All in one call, for callers that hash only now and then. */
void hash_buffer(enum hash_kind kind, unsigned char *out, const void *data, size_t len);

/** The name git gives to an object of type `type` ("blob", ...) with these contents. */
void hash_object(struct digest *sha1, struct oid *out, const char *type, const void *data,
		 size_t len);

/** The header that git puts before an object when naming it; returns its length with the NUL. */
size_t hash_object_header(char out[64], const char *type, unsigned long long size);

/** A fingerprint against accidents only (FNV-1a): begin with HASH_MIX_START, add one thing at a time. */
#define HASH_MIX_START 14695981039346656037u

static inline uint64_t hash_mix(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 1099511628211u;
	return (hash ^ len) * 1099511628211u;
}

#endif
