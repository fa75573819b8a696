/* SPDX-License-Identifier: MIT */
/*
 * What the program notes for itself: the counts of save --every, and the names and markers of
 * staging directories, which may lie in a worktree that somebody else made.
 */
#include "fuzz.h"

#include "base/error.h"
#include "record/checkpoint.h"
#include "record/stage_dir.h"
#include "save/save_internal.h"
#include "save/save.h"

#define STAGING STAGE_DIR_PREFIX "abcdef"

static void try_cadence(struct store *store, const uint8_t *data, size_t size)
{
	struct save_opts opts = { .source = "s", .cadence.every = 3 };
	bool due = false;

	FUZZ_CHECK(!store_lock(store, 1), "%s", ckpt_error_last());
	cache_set(store, "every", data, size);
	FUZZ_CHECK(!save_is_due(&due, store, &opts, NULL), "%s", ckpt_error_last());
	save_count_call(store, &opts, true);
	FUZZ_CHECK(!save_is_due(&due, store, &opts, NULL) && !due, "due right after one was taken");
	store_unlock(store);
}

static void try_staging(struct store *store)
{
	struct stage_dirs dirs = { 0 };

	stage_dir_list(&dirs, store, store->worktree);
	for (size_t i = 0; i < dirs.nr; i++) {
		FUZZ_CHECK(stage_dir_is_name(dirs.items[i].name), "'%s' is no such name",
			   dirs.items[i].name);
		FUZZ_CHECK(dirs.items[i].kind != STAGE_DIR_NONE, "the user's own is listed");
	}
	(void)stage_dir_look(store, store->worktree, STAGING);
	stage_dirs_release(&dirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store = fuzz_store();

	fuzz_mkdir("worktree");
	fuzz_mkdir("worktree/" STAGING);
	fuzz_put("store/checkpoint/cache", data, size);
	fuzz_put("store/checkpoint/state", data, size);
	fuzz_put("worktree/" STAGING "/" STAGE_DIR_MARKER, data, size);
	try_staging(store);
	try_cadence(store, data, size);
	return 0;
}
