/* SPDX-License-Identifier: MIT */
/*
 * A pack and its index, the length of the latter in two bytes. What is
 * read has the name that it was asked for by, and what streams is what is read.
 */
#include "fuzz.h"

#include "base/error.h"
#include "base/hash.h"
#include "store/packs.h"

static int add(const void *data, size_t len, void *payload)
{
	strbuf_add(payload, data, len);
	return 0;
}

static void look(struct packs *packs, const struct oid *oid)
{
	struct strbuf whole = STRBUF_INIT, pieces = STRBUF_INIT;
	enum object_type type = OBJECT_BLOB;
	uint64_t size = 0;
	struct oid name;

	(void)packs_stat(&type, &size, packs, oid);
	/* Nobody has to hold what a few bytes claim to be. */
	if (size < 1 << 24 && !packs_read(&whole, &type, packs, oid)) {
		struct digest *sha1 = hash_new(HASH_SHA1);

		hash_object(sha1, &name, objects_type_name(type), whole.buf, whole.len);
		hash_free(sha1);
		FUZZ_CHECK(!memcmp(&name, oid, sizeof(name)), "an object of another name");
		FUZZ_CHECK(!packs_stream(packs, oid, add, &pieces), "%s", ckpt_error_last());
		FUZZ_CHECK(pieces.len == whole.len && !memcmp(pieces.buf, whole.buf, whole.len),
			   "its pieces are another object");
	}
	(void)packs_sound(packs, oid);
	strbuf_release(&whole);
	strbuf_release(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char idx[] = "store/objects/pack/pack-0000000000000000000000000000000000000000.idx";
	static const char pack[] = "store/objects/pack/pack-0000000000000000000000000000000000000000.pack";
	struct store *store = fuzz_store();
	struct pack_contents contents;
	struct packs *packs;
	size_t cut;

	if (size < 2)
		return 0;
	cut = (size_t)(data[0] << 8 | data[1]);
	data += 2;
	size -= 2;
	if (cut > size)
		cut = size;
	fuzz_put(idx, data, cut);
	/* The trailers tie both together: always, else nothing else is looked at. */
	if (cut >= 40 && size - cut >= 20) {
		uint8_t *copy = malloc(size - cut);

		if (!copy)
			abort();
		memcpy(copy, data + cut, size - cut);
		memcpy(copy + size - cut - 20, data + cut - 40, 20);
		fuzz_put(pack, copy, size - cut);
		free(copy);
	} else {
		fuzz_put(pack, data + cut, size - cut);
	}
	packs = packs_open(store->dirfd);
	for (size_t i = 0; i < packs_count(packs); i++) {
		if (packs_contents(&contents, packs, i))
			continue;
		for (size_t j = 0; j < contents.nr && j < 16; j++)
			look(packs, &contents.items[j].oid);
		packs_contents_release(&contents);
	}
	/* Also where the index as a whole is refused. */
	for (size_t i = 8 + 1024; i + 20 <= cut && i < 8 + 1024 + 8 * 20; i += 20)
		look(packs, (const struct oid *)(data + i));
	packs_close(packs);
	return 0;
}
