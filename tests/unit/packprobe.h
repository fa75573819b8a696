/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_PACKPROBE_H
#define CKPT_TESTS_PACKPROBE_H

/* Objects whose contents are known, read from packs in every way. After unit.h. */

#include "base/alloc.h"
#include "base/error.h"
#include "store/pack.h"
#include "store/packs.h"
#include "store/shadow.h"

struct known {
	enum object_type type;
	struct oid oid;
	struct strbuf data;
};

static int gather(const void *data, size_t len, void *payload)
{
	strbuf_add(payload, data, len);
	return 0;
}

/* For packs_open(): a directory of git in the scratch directory. */
UNUSED static int open_dir(const char *name)
{
	int fd = open(in_scratch("%s", name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Right or an error, in every way of reading; `true` if it was right. */
UNUSED static bool check_object(struct packs *packs, const struct known *object)
{
	struct strbuf data = STRBUF_INIT, pieces = STRBUF_INIT;
	enum object_type type = 0;
	uint64_t size = 0;
	int err = packs_read(&data, &type, packs, &object->oid);
	int stream_err = packs_stream(packs, &object->oid, gather, &pieces);

	assert_true(!err || err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT);
	assert_int_equal(stream_err, err);
	assert_int_equal(packs_sound(packs, &object->oid), !err);
	if (!err) {
		assert_int_equal(type, object->type);
		assert_int_equal(data.len, object->data.len);
		assert_memory_equal(data.buf, object->data.buf, data.len);
		assert_int_equal(pieces.len, object->data.len);
		assert_memory_equal(pieces.buf, object->data.buf, pieces.len);
		assert_int_equal(packs_stat(&type, &size, packs, &object->oid), 0);
		assert_int_equal(type, object->type);
		assert_int_equal(size, object->data.len);
		assert_true(packs_have(packs, &object->oid));
	} else {
		assert_int_equal(data.len, 0);
		(void)packs_stat(&type, &size, packs, &object->oid);
	}
	strbuf_release(&data);
	strbuf_release(&pieces);
	return !err;
}

#endif
