/* SPDX-License-Identifier: MIT */
/*
 * A git index, split or not: a byte for the kind of hash and the cut, the index,
 * the shared index. What is read can be asked for, and a shared index that is
 * linked to is found whatever its name.
 */
#include "fuzz.h"

#include "git/gitindex.h"
#include "git/gitstate_internal.h"
#include "git/indexfile_internal.h"

/* Where in the index the name of its shared one stands; 0: nowhere. */
static size_t link_at(const uint8_t *data, size_t size, size_t hash_len)
{
	for (size_t i = 12; i + 8 + hash_len <= size; i++)
		if (!memcmp(data + i, "link", 4))
			return i + 8;
	return 0;
}

/* The shared index, under the name that the index has for it, and ending as that says. */
static void put_shared(const uint8_t *link, size_t hash_len, const uint8_t *data, size_t size)
{
	char name[128] = "git/sharedindex.", *p = name + strlen(name);
	uint8_t *copy = malloc(size);

	if (!copy)
		abort();
	for (size_t i = 0; i < hash_len; i++)
		p += sprintf(p, "%02x", link[i]);
	memcpy(copy, data, size);
	memcpy(copy + size - hash_len, link, hash_len);
	fuzz_put(name, copy, size);
	free(copy);
}

/* What a checkpoint would hold of it, against no tree and against its own. */
static void take(const struct gitindex *index)
{
	char tree[65] = "";

	for (int i = 0; i < 2; i++) {
		struct gitstate state = GITSTATE_INIT;
		struct strbuf list = STRBUF_INIT;
		struct gitstate_counts counts;

		if (!gitstate_take_index(&state, index, i ? NULL : &list))
			(void)gitstate_check(&state);
		gitstate_count(&counts, &state);
		FUZZ_CHECK(counts.staged + counts.unmerged + counts.intent_to_add <= index->nr,
			   "more entries than the index has");
		gitstate_release(&state);
		strbuf_release(&list);
	}
	memset(tree, '0', 2 * index->hash_len);
	(void)gitstate_index_is_tree(index, tree);
}

static void ask(const struct gitindex *index)
{
	for (size_t i = 0; i < index->nr; i++) {
		const char *name = index->entries[i].name;
		const char *slash = strrchr(name, '/');

		(void)strlen(name);
		if (slash && slash > name) {
			char *dir = strndup(name, (size_t)(slash - name));

			(void)gitindex_has_below(index, dir);
			free(dir);
		}
		(void)gitindex_has(index, name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t hash_len, cut, link;
	struct gitindex *index = NULL;
	bool shared = false, needs_git = false;
	struct gitindex raw = { .names = ARENA_INIT };

	fuzz_mkdir("git");
	if (size < 3)
		return 0;
	hash_len = data[0] & 1 ? 32 : 20;
	cut = data[0] & 2 ? (size_t)(data[1] << 8 | data[2]) : size;
	data += 3;
	size -= 3;
	if (cut > size)
		cut = size;
	fuzz_put("git/index", data, cut);
	link = link_at(data, cut, hash_len);
	if (link && size - cut >= hash_len) {
		put_shared(data + link, hash_len, data + cut, size - cut);
		shared = true;
	}
	/* Never the whole of gitindex_open() where that would start git. */
	raw.hash_len = hash_len;
	if (!indexfile_read(&raw, &needs_git, fuzz_path("git/index"), fuzz_path("git")) &&
	    !needs_git && !raw.sparse &&
	    !gitindex_open(&index, fuzz_scratch(), fuzz_path("git"), hash_len == 32)) {
		for (size_t i = 0; i < index->nr; i++)
			FUZZ_CHECK(gitindex_has(index, index->entries[i].name), "entry %zu is not found", i);
		ask(index);
		take(&raw);
		gitindex_close(index);
	}
	indexfile_release(&raw);
	if (shared) {
		char name[128] = "git/sharedindex.", *p = name + strlen(name);

		for (size_t i = 0; i < hash_len; i++)
			p += sprintf(p, "%02x", data[link + i]);
		unlink(fuzz_path(name));
	}
	return 0;
}
