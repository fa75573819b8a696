/* SPDX-License-Identifier: MIT */
#include "base/hash_plain_internal.h"

#include "base/std.h"

/*
 * SHA-1 and SHA-256 as FIPS 180-4 describes them, without the instructions of
 * any processor: for the few hundred bytes that are hashed to find a store, or
 * to read a record. libcrypto is much faster once it is loaded.
 */

enum { BLOCK = 64, WORDS = 8 };

typedef void mix_fn(uint32_t *state, const unsigned char *block);

static uint32_t left(uint32_t word, int bits)
{
	return word << bits | word >> (32 - bits);
}

static uint32_t right(uint32_t word, int bits)
{
	return left(word, 32 - bits);
}

static uint32_t word_at(const unsigned char *at)
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
			w[i] = word_at(block + 4 * i);
		else
			w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
		next = left(s[0], 5) + sha1_step(i, s[1], s[2], s[3]) + s[4] + w[i];
		s[4] = s[3];
		s[3] = s[2];
		s[2] = left(s[1], 30);
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
			w[i] = word_at(block + 4 * i);
		else
			w[i] = w[i - 16] + w[i - 7] +
			       (right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3) +
			       (right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10);
		one = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) +
		      ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
		two = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) +
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
