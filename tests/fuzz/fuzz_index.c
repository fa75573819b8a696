/* SPDX-License-Identifier: MIT */
/*
 * A git index: three bytes for the kind of hash and where it is cut, then the index. What is read can
 * be asked for. (A split one is git's to read.)
 */
#include "fuzz.h"

#include "git/gitindex.h"
#include "gitstate/gitstate_internal.h"

/* What a checkpoint would hold of it, against no tree and against its own. */
static void take(const struct gitindex *index)
{
	char tree[65] = "";

	for (int i = 0; i < 2; i++) {
		struct gitstate state = GITSTATE_INIT;
		struct strbuf list = STRBUF_INIT;
		struct gitindex_counts counts;

		if (!gitstate_take_index(&state, index, i ? NULL : &list))
			(void)gitstate_check(&state);
		gitstate_count(&counts, &state);
		FUZZ_CHECK(counts.staged + counts.unmerged + counts.intent_to_add <= index->nr,
			   "more entries than the index has");
		gitstate_release(&state);
		strbuf_release(&list);
	}
	memset(tree, '0', 2 * index->hash_len);
	(void)gitindex_is_tree(index, tree);
}

static void ask(const struct gitindex *index)
{
	for (size_t i = 0; i < index->nr; i++) {
		const char *name = index->entries[i].path;
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
	size_t hash_len, cut;
	struct gitindex *index = NULL;
	bool needs_git = false;
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
	/* Never the whole of gitindex_open() where that would start git. */
	raw.hash_len = hash_len;
	if (!gitindex_parse(&raw, &needs_git, fuzz_path("git/index")) && !needs_git && !raw.sparse &&
	    !gitindex_open(&index, fuzz_scratch(), fuzz_path("git"), hash_len == 32)) {
		for (size_t i = 0; i < index->nr; i++)
			FUZZ_CHECK(gitindex_has(index, index->entries[i].path), "entry %zu is not found", i);
		ask(index);
		take(&raw);
		gitindex_close(index);
	}
	gitindex_reset(&raw);
	return 0;
}
