/* SPDX-License-Identifier: MIT */
/*
 * The plain functions of libcrypto, which OpenSSL 3 deprecates in favour of
 * EVP. They are the same code, but EVP looks it up in providers, and setting
 * those up costs each run half a millisecond to a millisecond.
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/hash.h"

#include "base/alloc.h"
#include "base/std.h"

#include <openssl/sha.h>

struct digest {
	enum hash_kind kind;
	union {
		SHA_CTX sha1;
		SHA256_CTX sha256;
	} ctx;
};

static void check(int ok)
{
	if (!ok) {
		fprintf(stderr, "fatal: libcrypto cannot compute SHA-1 and SHA-256; check your OpenSSL "
				"installation\n");
		exit(128);
	}
}

struct digest *hash_new(enum hash_kind kind)
{
	struct digest *digest = xcalloc(1, sizeof(*digest));

	digest->kind = kind;
	hash_begin(digest);
	return digest;
}

void hash_free(struct digest *digest)
{
	free(digest);
}

void hash_begin(struct digest *digest)
{
	check(digest->kind == HASH_SHA1 ? SHA1_Init(&digest->ctx.sha1) :
					  SHA256_Init(&digest->ctx.sha256));
}

void hash_update(struct digest *digest, const void *data, size_t len)
{
	check(digest->kind == HASH_SHA1 ? SHA1_Update(&digest->ctx.sha1, data, len) :
					  SHA256_Update(&digest->ctx.sha256, data, len));
}

void hash_end(struct digest *digest, unsigned char *out)
{
	check(digest->kind == HASH_SHA1 ? SHA1_Final(out, &digest->ctx.sha1) :
					  SHA256_Final(out, &digest->ctx.sha256));
	hash_begin(digest);
}

void hash_buffer(enum hash_kind kind, unsigned char *out, const void *data, size_t len)
{
	struct digest *digest = hash_new(kind);

	hash_update(digest, data, len);
	hash_end(digest, out);
	hash_free(digest);
}

size_t hash_object_header(char out[64], const char *type, unsigned long long size)
{
	return (size_t)snprintf(out, 64, "%s %llu", type, size) + 1;
}

void hash_object(struct digest *sha1, struct oid *out, const char *type, const void *data,
		 size_t len)
{
	char header[64];

	hash_update(sha1, header, hash_object_header(header, type, len));
	hash_update(sha1, data, len);
	hash_end(sha1, out->id);
}
