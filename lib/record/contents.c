/* SPDX-License-Identifier: MIT */
#include "record/contents.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/strlist.h"
#include "record/snapshot.h"
#include "store/objects.h"

#include <stdlib.h>

/* Larger ones are not held in memory. */
enum { SMALL_MAX = 4 << 20 };

/* `dir` is NULL where `path` is all of it. */
struct item {
	struct wt_entry *entry;
	const char *dir, *path;
};

struct contents {
	struct snapshot *snapshot;
	struct item *items;
	size_t nr, alloc;
};

static void add(struct contents *contents, struct wt_entry *entry, const char *dir, const char *path)
{
	ALLOC_GROW(contents->items, contents->nr + 1, contents->alloc);
	contents->items[contents->nr++] = (struct item){ entry, dir, path };
}

static void collect(struct contents *contents, struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->entries[i];

		if (entry->kind == WT_DIR) {
			collect(contents, entry->dir);
			continue;
		}
		add(contents, entry, dir->path, entry->name);
	}
}

static int hash_piece(const void *data, size_t len, void *payload)
{
	digest_update(payload, data, len);
	return 0;
}

static int hash_large(struct wt_entry *entry, struct store *store)
{
	struct digest *sha256 = digest_new(HASH_SHA256);
	int err = objects_stream(store, &entry->oid, hash_piece, sha256);

	digest_end(sha256, entry->sha256);
	digest_free(sha256);
	return err;
}

static int hash_small(struct wt_entry *entry, struct store *store)
{
	struct strbuf data = STRBUF_INIT;
	int err = objects_read(&data, store, &entry->oid, OBJECT_BLOB);

	if (!err)
		hash_buffer(HASH_SHA256, entry->sha256, data.buf, data.len);
	strbuf_release(&data);
	return err;
}

static int hash_one(size_t index, unsigned worker, void *payload)
{
	struct contents *contents = payload;
	const struct item *item = &contents->items[index];
	struct wt_entry *entry = item->entry;
	struct store *store = contents->snapshot->store;
	int err = cancel_check();

	(void)worker;
	if (!err)
		err = objects_size(&entry->st.size, store, &entry->oid);
	if (!err)
		err = entry->st.size > SMALL_MAX ? hash_large(entry, store) :
						   hash_small(entry, store);
	if (!err)
		entry->flags |= WT_KNOWN;
	else if (err != CKPT_ECANCELLED)
		err = ckpt_error_prefix(err, "'%s%s%s'", item->dir ? item->dir : "",
					item->dir && *item->dir ? "/" : "", item->path);
	return err;
}

static int hash_collected(struct contents *contents, unsigned threads)
{
	int err = pool_for(threads, contents->nr, hash_one, contents);

	free(contents->items);
	return err;
}

int contents_hash(struct snapshot *snapshot, unsigned threads)
{
	struct contents contents = { .snapshot = snapshot };
	int err = snapshot_expand_all(snapshot, snapshot->root);

	if (err)
		return err;
	collect(&contents, snapshot->root);
	return hash_collected(&contents, threads);
}

int contents_hash_paths(struct snapshot *snapshot, const struct strlist *paths, unsigned threads)
{
	struct contents contents = { .snapshot = snapshot };
	int err = 0;

	for (size_t i = 0; i < paths->nr && !err; i++) {
		struct wt_entry *entry = NULL;

		err = snapshot_find(&entry, snapshot, paths->items[i]);
		if (err || !entry)
			continue;
		if (entry->kind == WT_DIR) {
			err = snapshot_expand_all(snapshot, entry->dir);
			if (!err)
				collect(&contents, entry->dir);
		} else {
			add(&contents, entry, NULL, paths->items[i]);
		}
	}
	if (err) {
		free(contents.items);
		return err;
	}
	return hash_collected(&contents, threads);
}
