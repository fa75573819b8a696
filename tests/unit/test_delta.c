/* SPDX-License-Identifier: MIT */
#include "store/delta_internal.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"

/* The bytes of a delta lie at the end of their memory: reading beyond it is seen by ASan. */
static int apply(struct strbuf *out, const void *base, size_t base_len, const void *delta,
		 size_t len)
{
	char *b = malloc(base_len ? base_len : 1), *d = malloc(len ? len : 1);
	int err;

	memcpy(b, base, base_len);
	memcpy(d, delta, len);
	err = delta_apply(out, b, base_len, d, len);
	free(b);
	free(d);
	return err;
}

#define DELTA(s) s, sizeof(s) - 1

static void gives(const char *base, const char *delta, size_t len, const char *result)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_addstr(&out, "before ");
	assert_int_equal(apply(&out, base, strlen(base), delta, len), 0);
	assert_memory_equal(out.buf, "before ", 7);
	assert_string_equal(out.buf + 7, result);
	assert_int_equal(out.len, 7 + strlen(result));
	strbuf_release(&out);
}

static void fails(const char *base, const char *delta, size_t len)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_addstr(&out, "before");
	assert_int_equal(apply(&out, base, strlen(base), delta, len), CKPT_ECORRUPT);
	assert_string_equal(out.buf, "before");
	assert_true(out.alloc < 4096);
	strbuf_release(&out);
}

static void test_delta_copies_and_inserts(void **state)
{
	(void)state;
	gives("hello", DELTA("\x05\x05\x90\x05"), "hello");
	gives("hello", DELTA("\x05\x03\x91\x01\x03"), "ell");
	gives("hello", DELTA("\x05\x07\x90\x05\x02 !"), "hello !");
	gives("hello", DELTA("\x05\x04\x91\x04\x01\x01-\x90\x02"), "o-he");
	gives("",
	      DELTA("\x00\x03\x03"
		    "abc"),
	      "abc");
	gives("hello", DELTA("\x05\x00"), "");
	/* Sizes of more bytes than they need. */
	gives("hello", DELTA("\x85\x80\x00\x81\x00\x90\x01"), "h");
}

static void test_delta_takes_parts_from_anywhere_in_a_large_base(void **state)
{
	size_t len = (17 << 20) + 5;
	char *base = xmalloc(len + 1);
	struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < len; i++)
		base[i] = (char)(i * 2654435761u >> 24);
	base[len] = '\0';
	/* A length that is not given is 65536; all of the bytes of offset and length. */
	assert_int_equal(delta_apply(&out, base, len,
				     DELTA("\x85\x80\xc0\x08\x80\x80\x04\x81\x03")),
			 0);
	assert_int_equal(out.len, 65536);
	assert_memory_equal(out.buf, base + 3, 65536);
	strbuf_reset(&out);
	assert_int_equal(delta_apply(&out, base, len,
				     DELTA("\x85\x80\xc0\x08\x83\x82\x04\xf7\x01\x02\x03\x03"
					   "\x01\x01")),
			 0);
	assert_int_equal(out.len, 0x10103);
	assert_memory_equal(out.buf, base + 0x30201, 0x10103);
	free(base);
	strbuf_release(&out);
}

static void test_delta_refuses_what_is_malformed(void **state)
{
	(void)state;
	fails("hello", DELTA(""));
	fails("hello", DELTA("\x05"));
	fails("hello", DELTA("\x85"));
	fails("hello", DELTA("\x05\x85"));
	/* Another base, another result. */
	fails("hello", DELTA("\x04\x04\x90\x04"));
	fails("hello", DELTA("\x06\x05\x90\x05"));
	fails("hello", DELTA("\x05\x06\x90\x05"));
	fails("hello", DELTA("\x05\x04\x90\x05"));
	fails("hello", DELTA("\x05\x05"));
	/* Beyond the base. */
	fails("hello", DELTA("\x05\x05\x91\x01\x05"));
	fails("hello", DELTA("\x05\x01\x91\x05\x01"));
	fails("hello", DELTA("\x05\x05\x9f\xff\xff\xff\xff\x05"));
	fails("hello", DELTA("\x05\x80\x80\x04\x80"));
	/* Instructions that end too soon, and the one that is none. */
	fails("hello", DELTA("\x05\x05\x90"));
	fails("hello", DELTA("\x05\x05\x91\x00"));
	fails("hello", DELTA("\x05\x05\xff\x00\x00\x00"));
	fails("hello", DELTA("\x05\x05\x05"
			     "abcd"));
	fails("hello", DELTA("\x05\x05\x00\x90\x05"));
	fails("hello", DELTA("\x05\x05\x90\x05\x00"));
}

/* A promise that no memory could hold costs none. */
static void test_delta_believes_no_size(void **state)
{
	uint64_t base, result;

	(void)state;
	fails("hello", DELTA("\x05\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x90\x05"));
	fails("hello", DELTA("\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x90\x05"));
	fails("hello", DELTA("\x05\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x90\x05"));
	fails("hello", DELTA("\x05\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x90\x05"));
	fails("hello", DELTA("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05\x90\x05"));
	assert_int_equal(delta_sizes(&base, &result,
				     DELTA("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x87\x01")),
			 0);
	assert_true(base == UINT64_MAX);
	assert_int_equal(result, 0x87);
	assert_int_equal(delta_sizes(&base, &result, DELTA("\x05")), CKPT_ECORRUPT);
	assert_int_equal(delta_sizes(&base, &result, DELTA("")), CKPT_ECORRUPT);
}

/* Whatever the bytes are: an error, or a result of the size that they give. */
static void test_delta_bears_any_bytes(void **state)
{
	char base[200], delta[64];
	int done = 0;

	(void)state;
	rnd_bytes(base, sizeof(base));
	for (int round = 0; round < rounds(200000); round++) {
		struct strbuf out = STRBUF_INIT;
		size_t len = rnd(sizeof(delta));
		uint64_t from, size;

		rnd_bytes(delta, sizeof(delta));
		/* The right base, a size that can be met, and instructions that are short. */
		memcpy(delta, "\xc8\x01", 2);
		delta[2] = (char)rnd(64);
		for (size_t i = 3; i < len; i++)
			if (rnd(2))
				delta[i] = (char)(rnd(2) ? 0x91 : rnd(16));
		if (!apply(&out, base, sizeof(base), delta, len)) {
			assert_int_equal(delta_sizes(&from, &size, delta, len), 0);
			assert_int_equal(out.len, size);
			done++;
		} else {
			assert_int_equal(out.len, 0);
		}
		strbuf_release(&out);
	}
	assert_true(done > 20);
}

/* A random tree of entries among forty names, in git's order. */
static void make_tree(struct strbuf *out)
{
	for (unsigned i = 0; i < 40; i++) {
		char oid[OID_SIZE];

		if (!rnd(4))
			continue;
		for (size_t j = 0; j < sizeof(oid); j++)
			oid[j] = (char)(i + (j ? 0 : rnd(3)));
		strbuf_addf(out, "%s name%0*u", rnd(8) ? "100644" : "40000", i % 7 ? 2 : 200, i);
		strbuf_add(out, "", 1);
		strbuf_add(out, oid, sizeof(oid));
	}
}

static void test_delta_makes_any_tree_from_any_other(void **state)
{
	size_t deltas = 0, trees = 0;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct strbuf base = STRBUF_INIT, tree = STRBUF_INIT, delta = STRBUF_INIT,
			      out = STRBUF_INIT;

		make_tree(&base);
		make_tree(&tree);
		if (rnd(10) == 0)
			strbuf_reset(rnd(2) ? &base : &tree);
		/* A base of any bytes makes a larger delta, not a wrong one. */
		for (unsigned n = rnd(3) ? 0 : rnd(6); n && base.len; n--)
			base.buf[rnd((unsigned)base.len)] = (char)rnd(256);
		assert_true(delta_make_tree(&delta, base.buf, base.len, tree.buf, tree.len));
		assert_int_equal(apply(&out, base.buf, base.len, delta.buf, delta.len), 0);
		assert_int_equal(out.len, tree.len);
		assert_memory_equal(out.buf, tree.buf, tree.len);
		deltas += delta.len;
		trees += tree.len;
		if (tree.len) {
			strbuf_setlen(&tree, tree.len - 1 - rnd(19));
			assert_false(delta_make_tree(&delta, base.buf, base.len, tree.buf, tree.len));
		}
		strbuf_release(&base);
		strbuf_release(&tree);
		strbuf_release(&delta);
		strbuf_release(&out);
	}
	assert_true(deltas < trees);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delta_copies_and_inserts),
		cmocka_unit_test(test_delta_takes_parts_from_anywhere_in_a_large_base),
		cmocka_unit_test(test_delta_refuses_what_is_malformed),
		cmocka_unit_test(test_delta_believes_no_size),
		cmocka_unit_test(test_delta_bears_any_bytes),
		cmocka_unit_test(test_delta_makes_any_tree_from_any_other),
	};

	return cmocka_run_group_tests_name("delta", tests, NULL, NULL);
}
