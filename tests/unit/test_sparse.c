/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/alloc.h"
#include "base/fs.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { KB = 1024, ROOM = 512 * KB };

/* Runs of data and of zeros, many of them around the sizes where something changes. */
static size_t make(char *data)
{
	static const unsigned sizes[] = { 1, 7, 4095, 4096, 4097, 8192, 32767, 32768, 32769, 60000 };
	size_t len = 0;

	for (unsigned runs = rnd(12); runs; runs--) {
		size_t run = rnd(3) ? sizes[rnd(ARRAY_SIZE(sizes))] : rnd(20000);

		if (len + run > ROOM)
			break;
		for (size_t i = 0; i < run; i++)
			data[len + i] = 0;
		for (size_t i = 0; i < run && rnd(2); i++)
			data[len + i] = (char)(1 + rnd(100));
		len += run;
	}
	return len;
}

static void write_pieces(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct sparse sparse = SPARSE_INIT(fd);

	assert_true(fd >= 0);
	for (size_t at = 0; at < len;) {
		size_t piece = rnd(4) ? 1 + rnd(70000) : 1 + rnd(10);

		piece = piece < len - at ? piece : len - at;
		assert_int_equal(sparse_write(&sparse, data + at, piece), 0);
		at += piece;
	}
	assert_int_equal(sparse_finish(&sparse), 0);
	close(fd);
}

static void test_sparse_writes_what_it_is_given(void **state)
{
	const char *path = in_scratch("file");
	char *data = xmalloc(ROOM);
	struct strbuf got = STRBUF_INIT;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		size_t len = make(data);

		write_pieces(path, data, len);
		strbuf_reset(&got);
		assert_int_equal(fs_read_file(&got, AT_FDCWD, path), 0);
		assert_int_equal(got.len, len);
		assert_memory_equal(got.buf, data, len);
	}
	strbuf_release(&got);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sparse_writes_what_it_is_given),
	};

	return cmocka_run_group_tests_name("sparse", tests, unit_setup, unit_teardown);
}
