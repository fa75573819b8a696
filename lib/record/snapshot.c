/* SPDX-License-Identifier: MIT */
#include "record/snapshot.h"

#include "record/checkpoint.h"

int snapshot_open_meta(struct snapshot **out, struct store *store, const struct ckpt_record *record,
		       const struct ckpt_meta *meta)
{
	struct snapshot *snapshot = xcalloc(1, sizeof(*snapshot));
	int err = modes_parse(&snapshot->modes, meta->modes.buf, meta->modes.len);

	if (err) {
		free(snapshot);
		return record_damaged(err, store, record->id);
	}
	snapshot->store = store;
	snapshot->root = arena_alloc(&snapshot->arena, sizeof(*snapshot->root));
	memset(snapshot->root, 0, sizeof(*snapshot->root));
	snapshot->root->path = "";
	snapshot->root->tree = record->tree;
	snapshot->root->known = true;
	memcpy(snapshot->id, record->id, sizeof(snapshot->id));
	*out = snapshot;
	return 0;
}

int snapshot_open(struct snapshot **out, struct store *store, const struct ckpt_record *record)
{
	struct ckpt_meta meta;
	int err = meta_read(&meta, store, record, true);

	if (err)
		return err;
	err = snapshot_open_meta(out, store, record, &meta);
	meta_release(&meta);
	return err;
}

int snapshot_wrap(struct snapshot **out, struct store *store, const char *id, struct wt_dir *root,
		  const struct strbuf *modes)
{
	struct snapshot *snapshot = xcalloc(1, sizeof(*snapshot));
	int err = modes_parse(&snapshot->modes, modes->buf, modes->len);

	if (err) {
		free(snapshot);
		return err;
	}
	snapshot->store = store;
	snapshot->root = root;
	snapshot->loaded = true;
	snprintf(snapshot->id, sizeof(snapshot->id), "%s", id);
	*out = snapshot;
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	modes_release(&snapshot->modes);
	arena_release(&snapshot->arena);
	free(snapshot);
}

/* Names that no honest tree has: they would lead out of the root, or into the project's .git. */
static bool bad_name(const struct tree_entry *entry)
{
	const char *name = entry->name;

	return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, ".git") ||
	       memchr(name, '/', entry->name_len);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct wt_entry *const *)a)->name, (*(struct wt_entry *const *)b)->name);
}

/* Nor may a name occur twice in a tree, for instance as a link and as a directory. */
static int check_names(const struct wt_dir *dir, struct wt_entry *entries, size_t nr)
{
	struct wt_entry **order = xmalloc((nr + 1) * sizeof(*order));
	int err = 0;

	/* Lookups use bisection, so the order matters. */
	for (size_t i = 1; i < nr && !err; i++)
		if (wt_entry_compare(&entries[i - 1], &entries[i]) >= 0)
			err = ckpt_error_set(CKPT_ECORRUPT, "the names in '%s' are not in order",
					     *dir->path ? dir->path : ".");
	for (size_t i = 0; i < nr; i++)
		order[i] = &entries[i];
	if (nr)
		qsort(order, nr, sizeof(*order), by_name);
	for (size_t i = 1; i < nr && !err; i++)
		if (!strcmp(order[i - 1]->name, order[i]->name))
			err = ckpt_error_set(CKPT_ECORRUPT, "the name '%s' occurs twice in '%s'",
					     order[i]->name, *dir->path ? dir->path : ".");
	free(order);
	return err;
}

static int fill_entry(struct wt_entry *out, struct snapshot *snapshot, struct wt_dir *dir,
		      const struct tree_entry *from, struct strbuf *path)
{
	size_t len = path->len;

	memset(out, 0, sizeof(*out));
	out->name = arena_memdupz(&snapshot->arena, from->name, from->name_len);
	out->name_len = (uint32_t)from->name_len;
	out->oid = from->oid;
	strbuf_add(path, from->name, from->name_len);
	out->mode = modes_lookup(&snapshot->modes, path->buf, from->mode);
	switch (from->mode) {
	case 0100644:
	case 0100755:
		out->kind = WT_FILE;
		break;
	case 0120000:
		out->kind = WT_LINK;
		break;
	case 0040000:
		out->kind = WT_DIR;
		out->dir = arena_alloc(&snapshot->arena, sizeof(*out->dir));
		memset(out->dir, 0, sizeof(*out->dir));
		out->dir->path = arena_memdupz(&snapshot->arena, path->buf, path->len);
		out->dir->parent = dir;
		out->dir->depth = (uint16_t)(dir->depth + 1);
		out->dir->tree = from->oid;
		out->dir->known = true;
		break;
	default:
		return ckpt_error_set(CKPT_ECORRUPT, "'%s' has the unknown mode %o in a checkpoint",
				      path->buf, from->mode);
	}
	strbuf_setlen(path, len);
	return 0;
}

int snapshot_expand(struct snapshot *snapshot, struct wt_dir *dir)
{
	struct strbuf tree = STRBUF_INIT, path = STRBUF_INIT;
	struct wt_entry *entries = NULL;
	size_t nr = 0, alloc = 0, at = 0;
	struct tree_entry entry;
	int err, rc = 1;

	if (dir->loaded || snapshot->loaded)
		return 0;
	err = dir->depth > WT_DEPTH_MAX
		      ? ckpt_error_set(CKPT_ECORRUPT, "its directories are nested too deeply")
		      : objects_read(&tree, snapshot->store, &dir->tree, OBJECT_TREE);
	strbuf_addstr(&path, dir->path);
	if (path.len)
		strbuf_addch(&path, '/');
	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		ALLOC_GROW(entries, nr + 1, alloc);
		if (bad_name(&entry))
			err = ckpt_error_set(CKPT_ECORRUPT, "'%s%s' is not a valid file name",
					     path.buf, entry.name);
		else
			err = fill_entry(&entries[nr++], snapshot, dir, &entry, &path);
	}
	if (!err && rc < 0)
		err = rc;
	if (!err)
		err = check_names(dir, entries, nr);
	if (err) {
		err = record_damaged(err, snapshot->store, snapshot->id);
		snapshot->damaged = err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND;
	}
	if (!err) {
		dir->nr = nr;
		dir->loaded = arena_alloc(&snapshot->arena, (nr ? nr : 1) * sizeof(*entries));
		if (nr)
			memcpy(dir->loaded, entries, nr * sizeof(*entries));
	}
	free(entries);
	strbuf_release(&tree);
	strbuf_release(&path);
	return err;
}

int snapshot_expand_all(struct snapshot *snapshot, struct wt_dir *dir)
{
	int err = snapshot_expand(snapshot, dir);

	for (size_t i = 0; i < dir->nr && !err; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			err = snapshot_expand_all(snapshot, wt_entries(dir)[i].dir);
	return err;
}

int snapshot_find(struct wt_entry **out, struct snapshot *snapshot, const char *path)
{
	struct wt_dir *dir = snapshot->root;
	struct wt_entry *found = NULL;

	*out = NULL;
	while (*path) {
		size_t len = strcspn(path, "/");
		int err = snapshot_expand(snapshot, dir);

		if (err)
			return err;
		found = wt_child(dir, path, len);
		path += len;
		path += strspn(path, "/");
		if (!found || (*path && found->kind != WT_DIR))
			return 0;
		dir = found->dir;
	}
	*out = found;
	return 0;
}
