/* SPDX-License-Identifier: MIT */
/*
 * The plain functions of libcrypto, which OpenSSL 3 deprecates in favour of
 * EVP. They are the same code, but EVP looks it up in providers, and setting
 * those up costs each run half a millisecond to a millisecond.
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/hash.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <libdeflate.h>
#include <openssl/opensslv.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdatomic.h>

/* --- without libcrypto --- */

/*
 * SHA-1 and SHA-256 as FIPS 180-4 describes them, without the instructions of
 * any processor: for the few hundred bytes that are hashed to find a store, or
 * to read a record. libcrypto is much faster once it is loaded.
 */

enum { BLOCK = 64, WORDS = 8 };

typedef void mix_fn(uint32_t *state, const unsigned char *block);

static uint32_t rotate_left(uint32_t word, int bits)
{
	return word << bits | word >> (32 - bits);
}

static uint32_t rotate_right(uint32_t word, int bits)
{
	return rotate_left(word, 32 - bits);
}

static uint32_t read_word(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_word(unsigned char *at, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(word >> (24 - 8 * i));
}

/* The function and the constant of each twenty rounds. */
static uint32_t sha1_step(int round, uint32_t b, uint32_t c, uint32_t d)
{
	if (round < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (round < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (round < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static void mix_sha1(uint32_t *state, const unsigned char *block)
{
	uint32_t w[80], s[5];

	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 80; i++) {
		uint32_t next;

		if (i < 16)
			w[i] = read_word(block + 4 * i);
		else
			w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
		next = rotate_left(s[0], 5) + sha1_step(i, s[1], s[2], s[3]) + s[4] + w[i];
		s[4] = s[3];
		s[3] = s[2];
		s[2] = rotate_left(s[1], 30);
		s[1] = s[0];
		s[0] = next;
	}
	for (int i = 0; i < 5; i++)
		state[i] += s[i];
}

static void mix_sha256(uint32_t *state, const unsigned char *block)
{
	static const uint32_t k[64] = {
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
		0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
		0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
		0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
		0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
		0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
		0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
		0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
		0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
		0xc67178f2,
	};
	uint32_t w[64], s[WORDS];

	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t one, two;

		if (i < 16)
			w[i] = read_word(block + 4 * i);
		else
			w[i] = w[i - 16] + w[i - 7] +
			       (rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3) +
			       (rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10);
		one = s[7] + (rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25)) +
		      ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
		two = (rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22)) +
		      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < WORDS; i++)
		state[i] += s[i];
}

/* What is left, a one bit, zeros, and the length in bits fill one or two blocks. */
static void mix_rest(uint32_t *state, mix_fn *mix, const unsigned char *rest, size_t nr, uint64_t len)
{
	unsigned char last[2 * BLOCK] = { 0 };
	size_t size = nr < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	if (nr)
		memcpy(last, rest, nr);
	last[nr] = 0x80;
	put_word(last + size - 8, (uint32_t)(len >> 29));
	put_word(last + size - 4, (uint32_t)(len << 3));
	for (size_t at = 0; at < size; at += BLOCK)
		mix(state, last + at);
}

void hash_plain(enum hash_kind kind, unsigned char *out, const void *data, size_t len)
{
	static const uint32_t start[][WORDS] = {
		[HASH_SHA1] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
		[HASH_SHA256] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				  0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
	};
	mix_fn *mix = kind == HASH_SHA1 ? mix_sha1 : mix_sha256;
	const unsigned char *bytes = data;
	uint32_t state[WORDS];
	size_t at = 0;

	memcpy(state, start[kind], sizeof(state));
	for (; len - at >= BLOCK; at += BLOCK)
		mix(state, bytes + at);
	mix_rest(state, mix, len > at ? bytes + at : NULL, len - at, len);
	for (size_t i = 0; i < (kind == HASH_SHA1 ? OID_SIZE : SHA256_SIZE) / 4; i++)
		put_word(out + 4 * i, state[i]);
}

/* --- with it --- */

/*
 * Loading it takes longer than hashing some thousand bytes without it,
 * and most short commands hash much less. So the program is not linked with
 * it: it is loaded for the first long text, or when many short ones were hashed.
 */
enum { SHORT = 4096, SHORT_ALL = 64 * 1024 };

static atomic_bool loaded;
static atomic_size_t hashed_plainly;

#define SONAME(major) SONAME_OF(major)
#define SONAME_OF(major) "libcrypto.so." #major
static const char soname[] = SONAME(OPENSSL_SHLIB_VERSION);

static struct {
	__typeof__(SHA1_Init) *sha1_init;
	__typeof__(SHA1_Update) *sha1_update;
	__typeof__(SHA1_Final) *sha1_final;
	__typeof__(SHA256_Init) *sha256_init;
	__typeof__(SHA256_Update) *sha256_update;
	__typeof__(SHA256_Final) *sha256_final;
} crypto;

struct digest {
	enum hash_kind kind;
	bool early; /* all of it so far is in `text` */
	size_t len;
	union {
		SHA_CTX sha1;
		SHA256_CTX sha256;
	} ctx;
	unsigned char text[SHORT];
};

static void check_crypto(int ok)
{
	if (!ok) {
		fprintf(stderr, "fatal: libcrypto cannot compute SHA-1 and SHA-256; check your OpenSSL "
				"installation\n");
		exit(128);
	}
}

static void find_function(void *library, const char *name, void *out)
{
	void *function = library ? dlsym(library, name) : NULL;

	if (!function) {
		const char *why = dlerror();

		fprintf(stderr, "fatal: unable to load libcrypto: %s\n", why ? why : soname);
		exit(128);
	}
	memcpy(out, &function, sizeof(function));
}

static void load_crypto(void)
{
	void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);

	find_function(library, "SHA1_Init", &crypto.sha1_init);
	find_function(library, "SHA1_Update", &crypto.sha1_update);
	find_function(library, "SHA1_Final", &crypto.sha1_final);
	find_function(library, "SHA256_Init", &crypto.sha256_init);
	find_function(library, "SHA256_Update", &crypto.sha256_update);
	find_function(library, "SHA256_Final", &crypto.sha256_final);
	atomic_store(&loaded, true);
}

static bool is_short(size_t len)
{
	return len <= SHORT && !atomic_load(&loaded) && atomic_load(&hashed_plainly) < SHORT_ALL;
}

static void hash_short(enum hash_kind kind, unsigned char *out, const void *data, size_t len)
{
	hash_plain(kind, out, data, len);
	atomic_fetch_add(&hashed_plainly, len);
}

static void begin_crypto(struct digest *digest)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_crypto);
	digest->early = false;
	check_crypto(digest->kind == HASH_SHA1 ? crypto.sha1_init(&digest->ctx.sha1) :
					  crypto.sha256_init(&digest->ctx.sha256));
}

static void update_crypto(struct digest *digest, const void *data, size_t len)
{
	check_crypto(digest->kind == HASH_SHA1 ? crypto.sha1_update(&digest->ctx.sha1, data, len) :
					  crypto.sha256_update(&digest->ctx.sha256, data, len));
}

static void end_crypto(struct digest *digest, unsigned char *out)
{
	check_crypto(digest->kind == HASH_SHA1 ? crypto.sha1_final(out, &digest->ctx.sha1) :
					  crypto.sha256_final(out, &digest->ctx.sha256));
}

struct digest *hash_new(enum hash_kind kind)
{
	struct digest *digest = xmalloc(sizeof(*digest));

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
	digest->len = 0;
	digest->early = is_short(0);
	if (!digest->early)
		begin_crypto(digest);
}

void hash_update(struct digest *digest, const void *data, size_t len)
{
	if (!len)
		return;
	if (digest->early && len <= SHORT - digest->len) {
		memcpy(digest->text + digest->len, data, len);
		digest->len += len;
		return;
	}
	if (digest->early) {
		begin_crypto(digest);
		update_crypto(digest, digest->text, digest->len);
	}
	update_crypto(digest, data, len);
}

void hash_end(struct digest *digest, unsigned char *out)
{
	if (digest->early)
		hash_short(digest->kind, out, digest->text, digest->len);
	else
		end_crypto(digest, out);
	hash_begin(digest);
}

void hash_buffer(enum hash_kind kind, unsigned char *out, const void *data, size_t len)
{
	struct digest *digest;

	if (is_short(len)) {
		hash_short(kind, out, data, len);
		return;
	}
	digest = hash_new(kind);
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

/* --- tables --- */

size_t hash_table_room(struct hash_table *table, size_t nr)
{
	if (nr * 2 <= table->size)
		return nr - 1;
	while (table->size < nr * 2)
		table->size = table->size ? table->size * 2 : 1024;
	free(table->slots);
	table->slots = xcalloc(table->size, sizeof(*table->slots));
	return 0;
}

/* --- checksums --- */

uint32_t hash_crc(uint32_t crc, const void *data, size_t len)
{
	return len ? libdeflate_crc32(crc, data, len) : crc;
}
