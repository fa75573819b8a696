/* SPDX-License-Identifier: MIT */
#include "record/contents.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/hash.h"
#include "base/pool.h"
#include "record/snapshot.h"
#include "store/objects.h"

#include <stdlib.h>

struct contents {
	struct snapshot *snapshot;
	struct wt_entry **entries;
	size_t nr, alloc;
};

static void collect(struct contents *contents, struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->entries[i];

		if (entry->kind == WT_DIR) {
			collect(contents, entry->dir);
			continue;
		}
		ALLOC_GROW(contents->entries, contents->nr + 1, contents->alloc);
		contents->entries[contents->nr++] = entry;
	}
}

static int hash_one(size_t index, unsigned worker, void *payload)
{
	struct contents *contents = payload;
	struct wt_entry *entry = contents->entries[index];
	struct strbuf data = STRBUF_INIT;
	int err = cancel_check();

	(void)worker;
	if (!err)
		err = objects_read(&data, contents->snapshot->store, &entry->oid, OBJECT_BLOB);
	if (!err) {
		hash_buffer(HASH_SHA256, entry->sha256, data.buf, data.len);
		entry->st.size = data.len;
		entry->flags |= WT_KNOWN;
	}
	strbuf_release(&data);
	return err;
}

int contents_hash(struct snapshot *snapshot, unsigned threads)
{
	struct contents contents = { .snapshot = snapshot };
	int err = snapshot_expand_all(snapshot, snapshot->root);

	if (!err) {
		collect(&contents, snapshot->root);
		err = pool_for(threads, contents.nr, hash_one, &contents);
	}
	free(contents.entries);
	return err;
}
