/* SPDX-License-Identifier: MIT */
#include "remote/flat_internal.h"

#include "base/base.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

/* --- what HEAD has --- */

struct head_entry {
	unsigned mode;
	char *hex, *path;
};

struct head {
	struct strbuf text;
	struct head_entry *items; /* by path; they point into the text */
	size_t nr, alloc;
};

/* "<mode> <type> <id>\t<path>", each ended by a NUL. */
static int parse_head(struct head *head)
{
	char *p = head->text.buf, *end = p + head->text.len;

	while (p < end) {
		char *path = strchr(p, '\t'), *type = strchr(p, ' '), *hex;
		size_t len = strlen(p);

		hex = type ? strchr(type + 1, ' ') : NULL;
		if (!path || !hex || hex > path || (size_t)(path - hex) >= GITSTATE_OID + 1)
			return ckpt_error_set(CKPT_ERROR, "'git ls-tree' gave an unknown answer");
		*path++ = *hex++ = '\0';
		ALLOC_GROW(head->items, head->nr + 1, head->alloc);
		head->items[head->nr++] =
			(struct head_entry){ (unsigned)strtoul(p, NULL, 8), hex, path };
		p += len + 1;
	}
	return 0;
}

static int check_commit(const struct repo *repo, const char *commit)
{
	struct strlist wanted = STRLIST_INIT, missing = STRLIST_INIT;
	int err;

	strlist_add(&wanted, commit);
	err = gitwrite_missing(&missing, repo, &wanted);
	if (!err && missing.nr)
		err = ckpt_error_set(CKPT_ERROR,
				     "the repository does not have the commit '%s', on which the "
				     "checkpoint is based; fetch it first",
				     commit);
	strlist_release(&wanted);
	strlist_release(&missing);
	return err;
}

static int read_head(struct head *out, const struct session *session, const char *commit)
{
	const char *const args[] = { "ls-tree", "-r", "-z", "--full-tree", commit, NULL };
	const struct gitrun how = { .gitdir = session->repo->gitdir };
	int err = check_commit(session->repo, commit);

	if (!err)
		err = askgit(&out->text, &how, args);
	return err ? err : parse_head(out);
}

static void head_release(struct head *head)
{
	strbuf_release(&head->text);
	free(head->items);
}

/* --- what stays of it --- */

struct staying {
	struct strlist scope;	/* empty: everything is in it */
	struct strlist missing; /* could not be captured, with everything below */
	struct strlist sparse;	/* not in the worktree, because a sparse checkout left it out */
	struct strlist modules; /* submodules of HEAD */
};

static void staying_release(struct staying *staying)
{
	strlist_release(&staying->scope);
	strlist_release(&staying->missing);
	strlist_release(&staying->sparse);
	strlist_release(&staying->modules);
}

static int read_staying(struct staying *out, struct session *session,
			const struct ckpt_record *record, const struct head *head)
{
	struct gitrecord git;
	struct ckpt_meta meta;
	int err = meta_read(&meta, session->store, record, false);

	if (err)
		return err;
	strlist_extend(&out->scope, &record->scope);
	for (size_t i = 0; i < meta.skips.nr; i++)
		strlist_add(&out->missing, meta.skips.items[i].path);
	meta_release(&meta);
	err = gitrecord_load(&git, session->store, record);
	for (size_t i = 0; i < git.state.entries_nr && !err; i++)
		if (git.state.entries[i].flags & GITINDEX_SKIP_WORKTREE)
			strlist_add(&out->sparse, git.state.entries[i].path);
	gitrecord_release(&git);
	for (size_t i = 0; i < head->nr; i++)
		if (head->items[i].mode == 0160000)
			strlist_add(&out->modules, head->items[i].path);
	strlist_sort_unique(&out->scope);
	strlist_sort_unique(&out->missing);
	strlist_sort_unique(&out->sparse);
	strlist_sort_unique(&out->modules);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

/* Nothing in the checkpoint, nor above it, is in the place of a path of HEAD. */
static bool is_free(const struct flat *flat, const char *path)
{
	char *copy = xstrdup(path);
	bool free_place = !wt_find(flat->snapshot->root, path);

	for (char *slash = strrchr(copy, '/'); slash && free_place; slash = strrchr(copy, '/')) {
		const struct wt_entry *above;

		*slash = '\0';
		above = wt_find(flat->snapshot->root, copy);
		free_place = !above || above->kind == WT_DIR;
	}
	free(copy);
	return free_place;
}

static bool stays(const struct flat *flat, const struct staying *staying,
		  const struct head_entry *entry)
{
	if (entry->mode == 0160000)
		return true;
	if (staying->scope.nr && !pathset_covers(&staying->scope, entry->path))
		return is_free(flat, entry->path);
	return (pathset_covers(&staying->missing, entry->path) ||
		pathset_has(&staying->sparse, entry->path)) &&
	       is_free(flat, entry->path);
}

/* --- the list --- */

static struct flat_entry *add(struct flat *flat, const char *path, size_t len, unsigned mode)
{
	struct flat_entry *item;

	ALLOC_GROW(flat->items, flat->nr + 1, flat->alloc);
	item = &flat->items[flat->nr++];
	*item = (struct flat_entry){ .path = xmemdupz(path, len), .mode = mode };
	return item;
}

struct collecting {
	struct flat *flat;
	const struct staying *staying;
};

static int hash_piece(const void *data, size_t len, void *payload)
{
	hash_update(payload, data, len);
	return 0;
}

/* The name that a SHA-256 repository gives to a blob. */
static int name_sha256(struct flat_entry *item, struct store *store)
{
	struct digest *sha256 = hash_new(HASH_SHA256);
	unsigned char id[SHA256_SIZE];
	char header[64];
	uint64_t size;
	int err = objects_size(&size, store, &item->entry->oid);

	if (!err) {
		hash_update(sha256, header, hash_object_header(header, "blob", size));
		err = objects_stream(store, &item->entry->oid, hash_piece, sha256);
	}
	if (!err) {
		hash_end(sha256, id);
		oid_hex_encode(item->hex, id, sizeof(id));
	}
	hash_free(sha256);
	return err;
}

static int collect(const char *path, size_t len, const struct wt_entry *entry, void *payload)
{
	const struct collecting *collecting = payload;
	struct flat *flat = collecting->flat;
	struct flat_entry *item;
	char *copy;
	bool taken;

	if (entry->kind == WT_DIR)
		return 0;
	copy = xmemdupz(path, len);
	taken = pathset_covers(&collecting->staying->modules, copy) ||
		pathset_has(&flat->ignored, copy) || pathset_has(&flat->secret, copy);
	free(copy);
	if (taken)
		return 0;
	item = add(flat, path, len, wt_git_mode(entry));
	item->entry = entry;
	if (flat->sha256)
		return name_sha256(item, flat->session->store);
	oid_hex(item->hex, &entry->oid);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct flat_entry *)a)->path, ((const struct flat_entry *)b)->path);
}

static int merge(struct flat *flat, const struct head *head, const struct staying *staying)
{
	struct collecting collecting = { flat, staying };
	int err = wt_visit(flat->snapshot->root, collect, &collecting);

	for (size_t i = 0; i < head->nr && !err; i++)
		if (stays(flat, staying, &head->items[i]))
			strcpy(add(flat, head->items[i].path, strlen(head->items[i].path),
				   head->items[i].mode)
				       ->hex,
			       head->items[i].hex);
	if (flat->nr)
		qsort(flat->items, flat->nr, sizeof(*flat->items), by_path);
	return err;
}

static int leave_out_ignored(struct flat *flat, const struct ckpt_record *record,
			     const struct head *head)
{
	struct strlist tracked = STRLIST_INIT;
	struct gitrecord git;
	int err;

	for (size_t i = 0; i < head->nr; i++)
		strlist_add(&tracked, head->items[i].path);
	/* What was staged, too. */
	err = gitrecord_load(&git, flat->session->store, record);
	for (size_t i = 0; i < git.state.entries_nr && !err; i++)
		strlist_add(&tracked, git.state.entries[i].path);
	gitrecord_release(&git);
	if (err && err != CKPT_ENOTFOUND) {
		strlist_release(&tracked);
		return err;
	}
	strlist_sort_unique(&tracked);
	err = flat_find_ignored(&flat->ignored, &flat->secret, flat, record, &tracked);
	strlist_release(&tracked);
	return err;
}

int flat_read(struct flat *out, struct session *session, const struct ckpt_record *record,
	      unsigned flags)
{
	struct head head = { .text = STRBUF_INIT };
	struct staying staying = { 0 };
	int err;

	*out = (struct flat){ .session = session,
			      .sha256 = session->repo && session->repo->sha256 };
	if (record->state_only)
		return ckpt_error_set(CKPT_ERROR, "checkpoint '%s' has no files", record->id);
	if (session->repo && record->head)
		out->head = xstrdup(record->head);
	err = objects_open(session->store);
	if (!err)
		err = snapshot_open(&out->snapshot, session->store, record);
	if (!err)
		err = snapshot_expand_all(out->snapshot, out->snapshot->root);
	if (!err && out->head)
		err = read_head(&head, session, out->head);
	if (!err)
		err = read_staying(&staying, session, record, &head);
	if (!err && flags & FLAT_NO_IGNORED)
		err = leave_out_ignored(out, record, &head);
	if (!err)
		err = merge(out, &head, &staying);
	staying_release(&staying);
	head_release(&head);
	return err;
}

void flat_release(struct flat *flat)
{
	for (size_t i = 0; i < flat->nr; i++)
		free(flat->items[i].path);
	free(flat->items);
	free(flat->head);
	snapshot_free(flat->snapshot);
	strlist_release(&flat->ignored);
	strlist_release(&flat->secret);
	strlist_release(&flat->unfit);
	memset(flat, 0, sizeof(*flat));
}
