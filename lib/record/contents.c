/* SPDX-License-Identifier: MIT */
#include "record/contents.h"

#include "record/snapshot.h"
#include "store/store.h"

#include <stdatomic.h>

/* --- what was already read --- */

struct contents_item {
	struct oid oid;
	unsigned char sha256[SHA256_SIZE];
	uint64_t size;
};

static const struct contents_item *find_item(const struct contents_known *known,
					     const struct oid *oid)
{
	uint32_t number = 0;

	if (known)
		HASH_TABLE_FIND(number, &known->table, oid_hash(oid),
				oid_equal(&known->items[number - 1].oid, oid));
	return number ? &known->items[number - 1] : NULL;
}

static bool recall_hash(struct wt_entry *entry, const struct contents_known *known)
{
	const struct contents_item *item = find_item(known, &entry->oid);

	if (!item)
		return false;
	memcpy(entry->sha256, item->sha256, SHA256_SIZE);
	entry->st.size = item->size;
	entry->flags |= WT_KNOWN;
	return true;
}

static void remember_hash(struct contents_known *known, const struct oid *oid,
		     const unsigned char sha256[SHA256_SIZE], uint64_t size)
{
	if (find_item(known, oid) || known->nr == UINT32_MAX)
		return;
	ALLOC_GROW(known->items, known->nr + 1, known->alloc);
	known->items[known->nr].oid = *oid;
	known->items[known->nr].size = size;
	memcpy(known->items[known->nr++].sha256, sha256, SHA256_SIZE);
	for (size_t i = hash_table_room(&known->table, known->nr); i < known->nr; i++)
		hash_table_put(&known->table, oid_hash(&known->items[i].oid), (uint32_t)i + 1);
}

void contents_known_release(struct contents_known *known)
{
	free(known->items);
	free(known->table.slots);
	memset(known, 0, sizeof(*known));
}

/* --- directories --- */

/* What the hash of a directory depends on: its tree, and the modes that the tree cannot hold. */
static void dir_key(struct oid *out, const struct snapshot *snapshot, const struct wt_dir *dir)
{
	const struct modes *modes = &snapshot->modes;
	size_t nr, skip = strlen(dir->path);
	const struct mode_item *items = modes_below(modes, dir->path, &nr);
	struct strbuf text = STRBUF_INIT;
	unsigned char sha256[SHA256_SIZE];

	strbuf_add(&text, dir->tree.id, OID_SIZE);
	strbuf_addf(&text, "%o %o %o", modes->file, modes->exec, modes->dir);
	for (size_t i = 0; i < nr; i++) {
		strbuf_addf(&text, " %o ", items[i].mode);
		strbuf_add(&text, items[i].path + skip, strlen(items[i].path + skip) + 1);
	}
	hash_buffer(HASH_SHA256, sha256, text.buf, text.len);
	memcpy(out->id, sha256, OID_SIZE);
	strbuf_release(&text);
}

static bool recall_dir(struct wt_dir *dir, const struct snapshot *snapshot,
		       const struct contents_known *dirs)
{
	const struct contents_item *item;
	struct oid key;

	if (!dirs || dir->loaded || snapshot->loaded)
		return false;
	dir_key(&key, snapshot, dir);
	item = find_item(dirs, &key);
	if (item) {
		memcpy(dir->sha256, item->sha256, SHA256_SIZE);
		dir->hashed = true;
	}
	return item;
}

static void remember_dir(struct contents_known *dirs, const struct snapshot *snapshot,
			 const struct wt_dir *dir)
{
	struct oid key;

	/* Not loaded: it is known. */
	if (!dir->hashed || !dir->loaded)
		return;
	dir_key(&key, snapshot, dir);
	remember_hash(dirs, &key, dir->sha256, 0);
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			remember_dir(dirs, snapshot, wt_entries(dir)[i].dir);
}

void contents_remember_dirs(struct contents_known *dirs, const struct snapshot *snapshot)
{
	if (!snapshot->loaded)
		remember_dir(dirs, snapshot, snapshot->root);
}

static int expand_dir(struct snapshot *snapshot, struct wt_dir *dir, const struct contents_known *dirs)
{
	int err = recall_dir(dir, snapshot, dirs) ? 0 : snapshot_expand(snapshot, dir);

	for (size_t i = 0; i < dir->nr && !err; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			err = expand_dir(snapshot, wt_entries(dir)[i].dir, dirs);
	return err;
}

/* --- reading --- */

/* `dir` is NULL if `path` is complete. */
struct item {
	struct wt_entry *entry;
	const char *dir, *path;
};

struct contents {
	struct snapshot *snapshot;
	const struct contents_opts *opts;
	struct item *items;
	size_t nr, alloc;
	atomic_size_t done;
};

static void add_item(struct contents *contents, struct wt_entry *entry, const char *dir, const char *path)
{
	/* What is composed of the worktree is known from there, and not in the store yet. */
	if ((contents->snapshot->loaded && entry->flags & WT_KNOWN) ||
	    recall_hash(entry, contents->opts->known))
		return;
	*ALLOC_NEXT(contents->items, contents->nr, contents->alloc) =
		(struct item){ entry, dir, path };
}

static void collect_items(struct contents *contents, struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_DIR) {
			collect_items(contents, entry->dir);
			continue;
		}
		add_item(contents, entry, dir->path, entry->name);
	}
}

static int hash_piece(const void *data, size_t len, void *payload)
{
	hash_update(payload, data, len);
	return 0;
}

static int hash_large(struct wt_entry *entry, struct store *store)
{
	struct digest *sha256 = hash_new(HASH_SHA256);
	int err = objects_stream(store, &entry->oid, hash_piece, sha256);

	hash_end(sha256, entry->sha256);
	hash_free(sha256);
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

int contents_hash_entry(struct wt_entry *entry, struct store *store)
{
	int err = objects_size(&entry->st.size, store, &entry->oid);

	if (!err)
		err = entry->st.size > FS_WHOLE_MAX ? hash_large(entry, store)
						    : hash_small(entry, store);
	if (!err)
		entry->flags |= WT_KNOWN;
	return err;
}

static int hash_one(size_t index, unsigned worker UNUSED, void *payload)
{
	struct contents *contents = payload;
	const struct item *item = &contents->items[index];
	struct wt_entry *entry = item->entry;
	int err = cancel_check();

	if (!err)
		err = contents_hash_entry(entry, contents->snapshot->store);
	if (err && err != CKPT_ECANCELLED)
		err = ckpt_error_prefix(err, "'%s%s%s'", item->dir ? item->dir : "",
					item->dir && *item->dir ? "/" : "", item->path);
	if (!err && contents->opts->progress)
		contents->opts->progress("Checking", ++contents->done, contents->nr, NULL);
	return err;
}

static int hash_collected(struct contents *contents)
{
	int err = pool_for(contents->opts->threads, contents->nr, hash_one, contents);

	/* Even those before a damaged one. */
	for (size_t i = 0; i < contents->nr && contents->opts->known; i++)
		if (contents->items[i].entry->flags & WT_KNOWN)
			remember_hash(contents->opts->known, &contents->items[i].entry->oid,
				 contents->items[i].entry->sha256,
				 contents->items[i].entry->st.size);
	free(contents->items);
	return err;
}

int contents_hash(struct snapshot *snapshot, const struct contents_opts *opts)
{
	struct contents contents = { .snapshot = snapshot, .opts = opts };
	int err = expand_dir(snapshot, snapshot->root, opts->dirs);

	if (err)
		return err;
	collect_items(&contents, snapshot->root);
	return hash_collected(&contents);
}

/* Below another of the paths: it comes with that one, and two threads must not hash it at once. */
static bool is_below_another(const struct strlist *paths, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? xmemdupz(path, (size_t)(slash - path)) : NULL;
	bool below = dir && pathset_covers(paths, dir);

	free(dir);
	return below;
}

int contents_hash_paths(struct snapshot *snapshot, const struct strlist *paths,
			const struct contents_opts *opts)
{
	struct contents contents = { .snapshot = snapshot, .opts = opts };
	int err = 0;

	for (size_t i = 0; i < paths->nr && !err; i++) {
		struct wt_entry *entry = NULL;

		if (is_below_another(paths, paths->items[i]))
			continue;
		err = snapshot_find(&entry, snapshot, paths->items[i]);
		if (err || !entry)
			continue;
		if (entry->kind == WT_DIR) {
			err = snapshot_expand_all(snapshot, entry->dir);
			if (!err)
				collect_items(&contents, entry->dir);
		} else {
			add_item(&contents, entry, NULL, paths->items[i]);
		}
	}
	if (err) {
		free(contents.items);
		return err;
	}
	return hash_collected(&contents);
}
