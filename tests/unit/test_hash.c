/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include "base/alloc.h"
#include "unit.h"

static char hex[SHA256_HEX + 1];

static const char *hex_of(enum hash_kind kind, const void *data, size_t len)
{
	unsigned char raw[SHA256_SIZE];

	hash_buffer(kind, raw, data, len);
	return oid_hex_encode(hex, raw, kind == HASH_SHA1 ? OID_SIZE : SHA256_SIZE);
}

/* The examples of FIPS 180. */
static void test_hash_known_vectors(void **state)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	(void)state;
	assert_string_equal(hex_of(HASH_SHA1, "", 0), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_string_equal(hex_of(HASH_SHA1, "abc", 3),
			    "a9993e364706816aba3e25717850c26c9cd0d89d");
	assert_string_equal(hex_of(HASH_SHA1, two, 56), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	assert_string_equal(hex_of(HASH_SHA256, "", 0),
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_string_equal(hex_of(HASH_SHA256, "abc", 3),
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_string_equal(hex_of(HASH_SHA256, two, 56),
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_hash_equals_other_programs(void **state)
{
	static const size_t sizes[] = { 0, 1, 55, 56, 63, 64, 65, 119, 4095, 100003, 3000001 };
	struct digest *sha1 = hash_new(HASH_SHA1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct strbuf out = STRBUF_INIT;
		char *data = xmalloc(sizes[i] + 1);
		struct oid oid;

		rnd_bytes(data, sizes[i]);
		put_bytes(in_scratch("data"), data, sizes[i]);
		ask(&out, "sha1sum <data; sha256sum <data; git hash-object --no-filters data");
		assert_memory_equal(out.buf, hex_of(HASH_SHA1, data, sizes[i]), OID_HEX);
		assert_memory_equal(strchr(out.buf, '\n') + 1, hex_of(HASH_SHA256, data, sizes[i]),
				    SHA256_HEX);
		hash_object(sha1, &oid, "blob", data, sizes[i]);
		strbuf_trim(&out);
		assert_string_equal(strrchr(out.buf, '\n') + 1, oid_hex(hex, &oid));
		free(data);
		strbuf_release(&out);
	}
	hash_free(sha1);
	hash_free(NULL);
}

/* In pieces or whole, again and again, abandoned or not: the same bytes give the same digest. */
static void test_digest_does_not_care_for_pieces(void **state)
{
	struct digest *digests[2] = { hash_new(HASH_SHA1), hash_new(HASH_SHA256) };
	unsigned char data[3000], raw[SHA256_SIZE];

	(void)state;
	for (int round = 0; round < 400; round++) {
		enum hash_kind kind = rnd(2) ? HASH_SHA1 : HASH_SHA256;
		size_t len = rnd(sizeof(data)), at = 0;
		char got[SHA256_HEX + 1];

		rnd_bytes(data, len);
		if (!rnd(4)) {
			hash_update(digests[kind], data, len / 2);
			hash_begin(digests[kind]);
		}
		while (at < len) {
			size_t n = 1 + rnd(200);

			n = n > len - at ? len - at : n;
			hash_update(digests[kind], data + at, n);
			at += n;
		}
		hash_end(digests[kind], raw);
		oid_hex_encode(got, raw, kind == HASH_SHA1 ? OID_SIZE : SHA256_SIZE);
		assert_string_equal(got, hex_of(kind, data, len));
	}
	hash_free(digests[0]);
	hash_free(digests[1]);
}

/* The second text is long enough for libcrypto. */
static void test_hash_without_libcrypto_is_the_same(void **state)
{
	unsigned char data[5000], plain[SHA256_SIZE], other[SHA256_SIZE];

	(void)state;
	for (int round = 0; round < 1000; round++) {
		enum hash_kind kind = rnd(2) ? HASH_SHA1 : HASH_SHA256;
		size_t len = round < 300 ? (size_t)round : rnd(sizeof(data));

		rnd_bytes(data, sizeof(data));
		hash_buffer(kind, other, data, sizeof(data));
		hash_plain(kind, plain, data, sizeof(data));
		assert_memory_equal(plain, other, kind == HASH_SHA1 ? OID_SIZE : SHA256_SIZE);
		hash_buffer(kind, other, data, len);
		hash_plain(kind, plain, data, len);
		assert_memory_equal(plain, other, kind == HASH_SHA1 ? OID_SIZE : SHA256_SIZE);
	}
}

/* In a process that has hashed nothing: one digest grows beyond a short text, another one waits. */
static void while_it_grows(FILE *out, const void *arg)
{
	struct digest *grows = hash_new(HASH_SHA256), *waits = hash_new(HASH_SHA1);
	const unsigned char *data = arg;
	unsigned char raw[SHA256_SIZE];

	hash_update(waits, data, 100);
	for (size_t at = 0; at < 9000; at += 90)
		hash_update(grows, data + at, 90);
	hash_update(waits, data + 100, 200);
	hash_end(grows, raw);
	fprintf(out, "%s ", oid_hex_encode(hex, raw, SHA256_SIZE));
	hash_end(waits, raw);
	fprintf(out, "%s", oid_hex_encode(hex, raw, OID_SIZE));
	hash_free(grows);
	hash_free(waits);
}

static void test_digests_begun_before_libcrypto_is_loaded(void **state)
{
	unsigned char data[9000];
	struct strbuf got = STRBUF_INIT, expected = STRBUF_INIT;

	(void)state;
	rnd_bytes(data, sizeof(data));
	put_bytes(in_scratch("data"), data, sizeof(data));
	in_child(&got, while_it_grows, data);
	ask(&expected, "echo $(sha256sum <data | cut -c1-64) $(head -c 300 data | sha1sum | cut -c1-40)");
	strbuf_trim(&expected);
	assert_string_equal(got.buf, expected.buf);
	strbuf_release(&got);
	strbuf_release(&expected);
}

static void test_hash_object_names_every_type_as_git(void **state)
{
	struct digest *sha1 = hash_new(HASH_SHA1);
	static const char tree[] = "100644 a\0\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1";
	static const char commit[] = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
				     "author A <a> 0 +0000\ncommitter A <a> 0 +0000\n\nx\n";
	const struct {
		const char *type, *data;
		size_t len;
	} cases[] = { { "tree", tree, sizeof(tree) - 1 },
		      { "commit", commit, sizeof(commit) - 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf out = STRBUF_INIT;
		struct oid oid;

		put_bytes(in_scratch("object"), cases[i].data, cases[i].len);
		ask(&out, "git hash-object -t %s object", cases[i].type);
		strbuf_trim(&out);
		hash_object(sha1, &oid, cases[i].type, cases[i].data, cases[i].len);
		assert_string_equal(out.buf, oid_hex(hex, &oid));
		strbuf_release(&out);
	}
	hash_free(sha1);
}

static void test_object_header_counts_its_nul(void **state)
{
	char out[64];

	(void)state;
	assert_int_equal(hash_object_header(out, "blob", 0), 7);
	assert_memory_equal(out, "blob 0", 7);
	assert_int_equal(hash_object_header(out, "commit", 18446744073709551615ull), 28);
	assert_memory_equal(out, "commit 18446744073709551615", 28);
}

static void test_hex_round_trip(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct oid oid, back;
		char text[OID_HEX + 1];

		rnd_bytes(&oid, sizeof(oid));
		oid_hex(text, &oid);
		assert_int_equal(strlen(text), OID_HEX);
		assert_int_equal(strspn(text, "0123456789abcdef"), OID_HEX);
		for (int i = 0; i < OID_HEX; i++)
			if (rnd(2) && text[i] >= 'a')
				text[i] -= 'a' - 'A';
		assert_true(oid_parse(&back, text));
		assert_true(oid_equal(&oid, &back));
		/* One wrong digit anywhere, the end included, is noticed. */
		text[rnd(OID_HEX)] = "g/:@`\0 "[rnd(7)];
		assert_false(oid_parse(&back, text));
	}
	{
		struct oid zero = { { 0 } }, one = { { [OID_SIZE - 1] = 1 } };

		assert_true(oid_is_zero(&zero));
		assert_false(oid_is_zero(&one));
		assert_false(oid_equal(&zero, &one));
	}
}

static uint32_t slow_crc(const unsigned char *data, size_t len)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < len; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static void test_crc_is_that_of_zlib_in_any_pieces(void **state)
{
	unsigned char data[2000];

	(void)state;
	assert_int_equal(hash_crc(0, "123456789", 9), 0xcbf43926);
	for (int round = 0; round < 500; round++) {
		size_t len = rnd(sizeof(data)), at = 0;
		uint32_t crc = 0;

		rnd_bytes(data, len);
		while (at < len) {
			size_t n = rnd(200);

			n = n > len - at ? len - at : n;
			crc = hash_crc(crc, data + at, n);
			at += n;
		}
		assert_int_equal(crc, slow_crc(data, len));
	}
	assert_int_equal(hash_crc(77, NULL, 0), 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: a child has loaded what its parent has. */
		cmocka_unit_test(test_digests_begun_before_libcrypto_is_loaded),
		cmocka_unit_test(test_hash_known_vectors),
		cmocka_unit_test(test_hash_equals_other_programs),
		cmocka_unit_test(test_digest_does_not_care_for_pieces),
		cmocka_unit_test(test_hash_without_libcrypto_is_the_same),
		cmocka_unit_test(test_hash_object_names_every_type_as_git),
		cmocka_unit_test(test_object_header_counts_its_nul),
		cmocka_unit_test(test_hex_round_trip),
		cmocka_unit_test(test_crc_is_that_of_zlib_in_any_pieces),
	};

	return cmocka_run_group_tests_name("hash", tests, unit_setup, unit_teardown);
}
