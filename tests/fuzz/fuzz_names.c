/* SPDX-License-Identifier: MIT */
/* Names of checkpoints as people type them, in a store that has three. */
#include "fuzz.h"

#include "base/alloc.h"
#include "base/error.h"
#include "record/lookup.h"
#include "store/objects.h"
#include "store/pack.h"

static void save(struct store *store, unsigned n)
{
	struct pack *pack = pack_new(store, 1, 1);
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct ckpt_meta meta;

	snprintf(record.id, sizeof(record.id), "chk_2026010%u_000000_abcd0%u", n, n);
	record.type = xstrdup("git_stash");
	record.created_at = 1790000000 + n;
	record.reason = xstrdup("r");
	record.source = xstrdup("s");
	record.step = n;
	memset(record.state_hash, 'a', STATEHASH_SIZE - 1);
	memcpy(record.state_hash, "sha256:", 7);
	meta_init(&meta);
	strbuf_addstr(&meta.modes, "file 644 exec 755 dir 755\n");
	FUZZ_CHECK(!pack_add_new(pack, &record.tree, OBJECT_TREE, "", 0) &&
			   !record_write(&record, &meta, pack) && !pack_commit(pack, NULL) &&
			   !refs_create(store, record.id, &record.commit),
		   "%s", ckpt_error_last());
	pack_free(pack);
	meta_release(&meta);
	record_release(&record);
}

static struct store *begin(void)
{
	const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	static struct store *store;

	if (store)
		return store;
	fuzz_mkdir("worktree");
	FUZZ_CHECK(!store_open_or_create(&store, fuzz_path("worktree")) && !objects_open(store), "%s",
		   ckpt_error_last());
	for (unsigned n = 1; n <= 3; n++)
		save(store, n);
	FUZZ_CHECK(!utimensat(store->dirfd, "objects/pack", old, 0) && !objects_reopen(store), "%s",
		   ckpt_error_last());
	return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct store *store = begin();
	struct ckpt_record record;
	char *name = fuzz_text(&in);

	if (!lookup_name(&record, store, name)) {
		FUZZ_CHECK(refs_valid_id(record.id), "'%s' is '%s'", name, record.id);
		record_release(&record);
	}
	free(name);
	return 0;
}
