/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include "base/alloc.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct digest {
	EVP_MD_CTX *ctx;
	const EVP_MD *md;
};

/*
 * Fetched once: EVP_sha1() and its like look the implementation up again at
 * every use, which for small files costs as much as the hashing.
 */
static EVP_MD *fetched[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void check(int ok)
{
	if (!ok) {
		fprintf(stderr, "fatal: libcrypto cannot compute SHA-1 and SHA-256; check the installation of OpenSSL\n");
		exit(128);
	}
}

/*
 * Two digests of the default provider are all that is used: neither tables of
 * ciphers are needed for them, nor what a file of the system's, or one that the
 * environment names, may have to say. It costs each run more than half a
 * millisecond.
 */
static void fetch(void)
{
	(void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
				  OPENSSL_INIT_NO_ADD_ALL_DIGESTS |
				  OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS, NULL);
	fetched[HASH_SHA1] = EVP_MD_fetch(NULL, "SHA1", NULL);
	fetched[HASH_SHA256] = EVP_MD_fetch(NULL, "SHA256", NULL);
	check(fetched[HASH_SHA1] && fetched[HASH_SHA256]);
}

struct digest *digest_new(enum hash_kind kind)
{
	struct digest *digest = xcalloc(1, sizeof(*digest));

	pthread_once(&once, fetch);
	digest->md = fetched[kind];
	digest->ctx = EVP_MD_CTX_new();
	check(digest->ctx != NULL);
	digest_begin(digest);
	return digest;
}

void digest_free(struct digest *digest)
{
	if (!digest)
		return;
	EVP_MD_CTX_free(digest->ctx);
	free(digest);
}

void digest_begin(struct digest *digest)
{
	check(EVP_DigestInit_ex(digest->ctx, digest->md, NULL));
}

void digest_update(struct digest *digest, const void *data, size_t len)
{
	check(EVP_DigestUpdate(digest->ctx, data, len));
}

void digest_end(struct digest *digest, unsigned char *out)
{
	check(EVP_DigestFinal_ex(digest->ctx, out, NULL));
	digest_begin(digest);
}

void hash_buffer(enum hash_kind kind, unsigned char *out, const void *data, size_t len)
{
	struct digest *digest = digest_new(kind);

	digest_update(digest, data, len);
	digest_end(digest, out);
	digest_free(digest);
}

size_t object_header(char out[64], const char *type, unsigned long long size)
{
	return (size_t)snprintf(out, 64, "%s %llu", type, size) + 1;
}

void hash_object(struct digest *sha1, struct oid *out, const char *type, const void *data,
		 size_t len)
{
	char header[64];

	digest_update(sha1, header, object_header(header, type, len));
	digest_update(sha1, data, len);
	digest_end(sha1, out->id);
}
