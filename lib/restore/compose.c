/* SPDX-License-Identifier: MIT */
#include "restore/compose_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "save/save.h"
#include "store/store.h"
#include "tree/tree.h"

struct compose *compose_new(struct store *store, const struct worktree_state *state,
			    unsigned threads, struct strlist *conflicts)
{
	struct compose *compose = xcalloc(1, sizeof(*compose));

	compose->store = store;
	compose->state = state;
	compose->threads = threads;
	compose->conflicts = conflicts;
	return compose;
}

static void release_change(struct compose_change *change)
{
	free(change->path);
	free(change->data);
}

void compose_free(struct compose *compose)
{
	if (!compose)
		return;
	for (size_t i = 0; i < compose->nr; i++)
		release_change(&compose->items[i]);
	free(compose->items);
	free(compose->dirs);
	arena_release(&compose->arena);
	free(compose);
}

/* --- what is there now --- */

struct wt_dir *compose_root(const struct compose *compose)
{
	return compose->state->scan->root;
}

const struct worktree_state *compose_state(const struct compose *compose)
{
	return compose->state;
}

const struct wt_entry *compose_now(const struct compose *compose, const char *path)
{
	return wt_find(compose_root(compose), path);
}

static int read_disk(struct strbuf *out, const struct compose *compose, const char *path,
		     const struct wt_entry *entry)
{
	const char *name;
	int dirfd = beneath_open_parent(compose->state->scan->rootfd, path, &name), err = 0;
	ssize_t n;

	if (dirfd < 0)
		return ckpt_error_errno("unable to open '%s'", path);
	if (entry->kind == WT_LINK) {
		strbuf_grow(out, out->len + 65536);
		n = readlinkat(dirfd, name, out->buf + out->len, 65535);
		if (n < 0)
			err = ckpt_error_errno("unable to read the link '%s'", path);
		else
			strbuf_setlen(out, out->len + (size_t)n);
	} else {
		err = fs_read_file(out, dirfd, name);
	}
	close(dirfd);
	return err;
}

int compose_read(struct strbuf *out, const struct compose *compose, const char *path)
{
	const struct wt_entry *entry = compose_now(compose, path);
	struct digest *sha1;
	size_t start = out->len;
	struct oid oid;
	int err;

	if (!entry || entry->kind == WT_DIR)
		return ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not a file", path);
	if (objects_exist(compose->store, &entry->oid))
		return objects_read(out, compose->store, &entry->oid, OBJECT_BLOB);
	err = read_disk(out, compose, path, entry);
	if (err)
		return err;
	sha1 = hash_new(HASH_SHA1);
	hash_object(sha1, &oid, "blob", out->buf + start, out->len - start);
	hash_free(sha1);
	return oid_equal(&oid, &entry->oid)
		       ? 0
		       : ckpt_error_set(CKPT_ERROR,
					"'%s' changed while it was read; nothing was touched", path);
}

static const char *what_is(const struct stat *st)
{
	return S_ISDIR(st->st_mode)   ? "a directory"
	       : S_ISLNK(st->st_mode) ? "a symbolic link"
	       : S_ISREG(st->st_mode) ? "a file"
				      : "a special file";
}

bool compose_is_hidden(const char **what_out, const struct compose *compose, const char *path)
{
	char *part = xstrdup(path);
	bool hidden = false;

	/* The topmost thing that the scan does not have; a directory is only on the way. */
	for (char *end = part; end && !hidden; end = end ? end + 1 : NULL) {
		const char *name;
		struct stat st;
		int fd;

		end = strchr(end, '/');
		if (end)
			*end = '\0';
		if (!compose_now(compose, part)) {
			fd = beneath_open_parent(compose->state->scan->rootfd, part, &name);
			hidden = fd >= 0 && !fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
				 (!end || !S_ISDIR(st.st_mode));
			if (hidden && what_out)
				*what_out = what_is(&st);
			fs_close(fd);
		}
		if (end)
			*end = '/';
	}
	free(part);
	return hidden;
}

/* --- what shall be there --- */

static struct compose_change *add(struct compose *compose, const char *path, enum compose_what what)
{
	struct compose_change *change;

	ALLOC_GROW(compose->items, compose->nr + 1, compose->alloc);
	change = &compose->items[compose->nr];
	*change = (struct compose_change){ .path = xstrdup(path),
					   .what = what,
					   .order = compose->said++ };
	compose->nr++;
	return change;
}

void compose_put(struct compose *compose, const char *path, enum wt_kind kind, unsigned mode,
		 const void *data, size_t len)
{
	struct compose_change *change = add(compose, path, COMPOSE_PUT);
	struct wt_entry *entry = &change->entry;
	struct digest *sha1 = hash_new(HASH_SHA1);

	data = len ? data : "";
	change->data = xmemdupz(data, len);
	change->len = len;
	entry->kind = (uint8_t)kind;
	entry->mode = kind == WT_LINK ? 0777 : (uint16_t)(mode & 07777);
	entry->st.size = len;
	entry->flags = WT_KNOWN;
	hash_object(sha1, &entry->oid, "blob", data, len);
	hash_free(sha1);
	hash_buffer(HASH_SHA256, entry->sha256, data, len);
}

void compose_put_entry(struct compose *compose, const char *path, const struct wt_entry *like,
		       unsigned mode)
{
	struct compose_change *change = add(compose, path, COMPOSE_PUT);

	change->entry = *like;
	change->entry.flags &= WT_KNOWN;
	if (like->kind != WT_LINK)
		change->entry.mode = (uint16_t)(mode & 07777);
}

void compose_put_dir(struct compose *compose, const char *path, unsigned mode)
{
	add(compose, path, COMPOSE_DIR)->entry.mode = (uint16_t)(mode & 07777);
}

void compose_set_mode(struct compose *compose, const char *path, unsigned mode)
{
	add(compose, path, COMPOSE_MODE)->entry.mode = (uint16_t)(mode & 07777);
}

void compose_remove(struct compose *compose, const char *path)
{
	add(compose, path, COMPOSE_REMOVE);
}

void compose_forget(struct compose *compose, const char *path, bool below)
{
	size_t kept = 0;

	for (size_t i = 0; i < compose->nr; i++) {
		if (below ? path_below(compose->items[i].path, path) != NULL
			  : !strcmp(compose->items[i].path, path))
			release_change(&compose->items[i]);
		else
			compose->items[kept++] = compose->items[i];
	}
	compose->nr = kept;
}

void compose_conflict(struct compose *compose, const char *path, const char *why)
{
	struct strbuf text = STRBUF_INIT;

	/* It may quote a path; its own newline ends it. */
	utf8_printable(&text, why, strlen(why), "", '?');
	strlist_addf(compose->conflicts, "%s\n%s", text.buf, path);
	strbuf_release(&text);
}

/* --- all of it --- */

static int by_path(const void *x, const void *y)
{
	const struct compose_change *a = x, *b = y;
	int cmp = compose_compare_paths(a->path, b->path);

	return cmp ? cmp : a->order < b->order ? -1 : 1;
}

static void sort_changes(struct compose *compose)
{
	size_t kept = 0;

	if (compose->nr)
		qsort(compose->items, compose->nr, sizeof(*compose->items), by_path);
	for (size_t i = 0; i < compose->nr; i++) {
		if (kept && !strcmp(compose->items[kept - 1].path, compose->items[i].path))
			release_change(&compose->items[--kept]);
		compose->items[kept++] = compose->items[i];
	}
	compose->nr = kept;
}

int compose_build(struct compose *compose)
{
	int err = 0;

	sort_changes(compose);
	for (size_t i = 0; i < compose->nr && !err; i++) {
		struct compose_change *change = &compose->items[i];

		if (change->what != COMPOSE_PUT || change->entry.flags & WT_KNOWN)
			continue;
		err = cancel_check();
		if (!err)
			err = contents_hash_entry(&change->entry, compose->store);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "'%s'", change->path);
	}
	if (err)
		return err;
	compose_make_tree(compose);
	return ingest_trees(compose->root, NULL, compose->threads);
}

static int to_path(const void *path, const void *change)
{
	return compose_compare_paths(path, ((const struct compose_change *)change)->path);
}

int compose_read_new(struct strbuf *out, const struct compose *compose, const char *path,
		     const struct wt_entry *entry)
{
	const struct compose_change *change =
		compose->nr ? bsearch(path, compose->items, compose->nr, sizeof(*compose->items),
				      to_path)
			    : NULL;
	const struct wt_entry *now = compose_now(compose, path);

	if (change && change->data) {
		strbuf_add(out, change->data, change->len);
		return 0;
	}
	if (now && now->kind != WT_DIR && oid_equal(&now->oid, &entry->oid))
		return compose_read(out, compose, path);
	return objects_read(out, compose->store, &entry->oid, OBJECT_BLOB);
}

int compose_pack(struct compose *compose, struct pack *pack)
{
	int err = 0;

	for (size_t i = 0; i < compose->nr && !err; i++) {
		const struct compose_change *change = &compose->items[i];

		if (change->data)
			err = pack_add(pack, 0, OBJECT_BLOB, &change->entry.oid, change->data,
				       change->len);
	}
	/* Named, but not stored. */
	for (size_t i = 0; i < compose->dirs_nr; i++)
		compose->dirs[i]->known = false;
	return err ? err : ingest_trees(compose->root, pack, compose->threads);
}

uint64_t compose_bytes(const struct compose *compose)
{
	enum { OBJECT_EXTRA = 64, ENTRY_EXTRA = 28 };
	uint64_t bytes = 0;

	for (size_t i = 0; i < compose->nr; i++)
		bytes += compose->items[i].len + compose->items[i].len / 1000 + OBJECT_EXTRA;
	for (size_t i = 0; i < compose->dirs_nr; i++) {
		const struct wt_dir *dir = compose->dirs[i];

		bytes += OBJECT_EXTRA;
		for (size_t j = 0; j < dir->nr; j++)
			bytes += wt_entries(dir)[j].name_len + ENTRY_EXTRA;
	}
	return bytes;
}
