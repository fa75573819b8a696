/* SPDX-License-Identifier: MIT */
#include "store/cache.h"

#include "base/fs.h"
#include "store/layout.h"
#include "store/shadow.h"
#include "unit.h"

#include "recordgen.h"

/* Its section `name` is `text`; NULL: there is none. */
static void expect(struct store *store, const char *name, const char *text)
{
	struct cache_section section = cache_open(store, name);

	if (text) {
		assert_non_null(section.data);
		assert_int_equal(section.len, strlen(text));
		assert_memory_equal(section.data, text, section.len);
		assert_int_equal((uintptr_t)section.data % 8, 0);
	} else {
		assert_null(section.data);
	}
	cache_close(&section);
}

static void set(struct store *store, const char *name, const char *text)
{
	cache_set(store, name, text, text ? strlen(text) : 0);
}

static void test_sections(void **ignored)
{
	struct store *store = recordgen_store("sections");

	(void)ignored;
	expect(store, "one", NULL);
	set(store, "one", "first");
	set(store, "two", "12345678");
	set(store, "three", "");
	expect(store, "one", "first");
	expect(store, "two", "12345678");
	expect(store, "three", "");
	expect(store, "o", NULL);
	set(store, "one", "another, and longer");
	expect(store, "one", "another, and longer");
	expect(store, "two", "12345678");
	set(store, "one", NULL);
	expect(store, "one", NULL);
	expect(store, "two", "12345678");
	set(store, "two", NULL);
	set(store, "three", NULL);
	assert_int_equal(faccessat(store->dirfd, LAYOUT_CACHE, F_OK, 0), -1);
	store_close(store);
}

/* A section is as it was written, or there is none; another one can be added in any case. */
static void test_damage(void **ignored)
{
	struct store *store = recordgen_store("damage");
	struct strbuf text = STRBUF_INIT;

	(void)ignored;
	set(store, "one", "first");
	set(store, "two", "second");
	assert_int_equal(fs_read_file(&text, store->dirfd, LAYOUT_CACHE), 0);
	for (size_t bit = 0; bit < 8 * text.len; bit++) {
		struct cache_section section;

		text.buf[bit / 8] ^= (char)(1 << bit % 8);
		assert_int_equal(fs_write_file(store->dirfd, LAYOUT_CACHE, text.buf, text.len, 0600,
					       FS_FAST),
				 0);
		text.buf[bit / 8] ^= (char)(1 << bit % 8);
		section = cache_open(store, "two");
		if (section.data)
			expect(store, "two", "second");
		cache_close(&section);
		set(store, "three", "third");
		expect(store, "three", "third");
	}
	strbuf_release(&text);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests_name("cache", tests, unit_setup, unit_teardown);
}
