/* SPDX-License-Identifier: MIT */
#include "store/refs.h"

#include "base/base.h"
#include "store/loose_refs_internal.h"
#include "store/packed_refs_internal.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

/*
 * When loose refs are packed: in a store of usual size they stay where people look for them, and one
 * that is dropped does not cost writing all others again. A large one has packed refs anyway.
 */
enum { LOOSE_MAX = 128, LOOSE_MAX_LARGE = 32, LARGE = 256 };

static const char *const mark_dirs[] = { "refs/pinned", "refs/unpinned", "refs/imported" };

/* Eight at once. */
static bool are_digits(const char text[8])
{
	const uint64_t tops = 0x8080808080808080u, zeros = 0x3030303030303030u,
		       to_top = 0x4646464646464646u; /* takes what is above '9' past 0x7f */
	uint64_t is;

	memcpy(&is, text, sizeof(is));
	/* Neither below '0' nor above '9', nor beyond ASCII, so that no byte borrows from the next. */
	return !((is | (is + to_top) | (((is | tops) - zeros) ^ tops)) & tops);
}

/* Thousands of ids are read for one command. */
bool refs_valid_id(const char *id)
{
	static const unsigned char hex[256] = {
		['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
		['8'] = 1, ['9'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1,
	};
	enum { DATE_AT = 4, TIME_AT = 12, HEX_AT = 20, LEN = 26 };
	unsigned char all = 1;
	char time[8]; /* _HHMMSS_ */

	if (strnlen(id, LEN + 1) != LEN || memcmp(id, "chk_", DATE_AT) != 0 ||
	    id[TIME_AT] != '_' || id[HEX_AT - 1] != '_')
		return false;
	memcpy(time, id + TIME_AT, sizeof(time));
	time[0] = time[7] = '0';
	for (size_t at = HEX_AT; at < LEN; at++)
		all &= hex[(unsigned char)id[at]];
	return all && are_digits(id + DATE_AT) && are_digits(time);
}

void refs_add(struct ref_list *list, const char *id, const struct oid *commit)
{
	struct ref_item *item;

	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	item = &list->items[list->nr++];
	memset(item, 0, sizeof(*item));
	strcpy(item->id, id);
	if (commit)
		item->commit = *commit;
}

const struct ref_item *refs_find(const struct ref_list *list, const char *id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].id, id))
			return &list->items[i];
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct ref_item *)a)->id, ((const struct ref_item *)b)->id);
}

void refs_copy_by_id(struct ref_list *out, const struct ref_list *list)
{
	bool sorted = true;

	*out = (struct ref_list){ .nr = list->nr, .alloc = list->nr, .loose = list->loose };
	if (!list->nr)
		return;
	out->items = xcalloc(list->nr, sizeof(*out->items));
	memcpy(out->items, list->items, list->nr * sizeof(*out->items));
	for (size_t i = 1; i < out->nr && sorted; i++)
		sorted = compare(&out->items[i - 1], &out->items[i]) <= 0;
	if (!sorted)
		qsort(out->items, out->nr, sizeof(*out->items), compare);
}

bool refs_has(const struct ref_list *list, const char *id)
{
	struct ref_item key = { .id = "" };

	strcpy(key.id, id);
	return list->nr && bsearch(&key, list->items, list->nr, sizeof(key), compare);
}

static void append(struct ref_list *out, const struct ref_item *items, size_t nr)
{
	if (nr)
		memcpy(out->items + out->nr, items, nr * sizeof(*items));
	out->nr += nr;
}

/* Both are sorted, and so is the result. Of the same name the loose one wins. */
static void merge(struct ref_list *out, const struct ref_list *loose, const struct ref_list *packed)
{
	size_t at = 0;

	ALLOC_GROW(out->items, packed->nr + loose->nr, out->alloc);
	for (size_t i = 0; i < loose->nr; i++) {
		const char *id = loose->items[i].id;
		size_t from = at;

		LOWER_BOUND(at, packed->nr, strcmp(packed->items[at].id, id) < 0);
		append(out, packed->items + from, at - from);
		append(out, &loose->items[i], 1);
		at += at < packed->nr && !strcmp(packed->items[at].id, id);
	}
	append(out, packed->items + at, packed->nr - at);
}

int refs_list(struct ref_list *out, struct store *store)
{
	const struct ref_list *loose = NULL;
	int err = loose_refs_read(&loose, store);

	if (!err)
		err = packed_refs_check(store);
	memset(out, 0, sizeof(*out));
	if (!err) {
		merge(out, loose, packed_refs_checkpoints(store));
		out->loose = loose->nr;
	}
	return err;
}

void refs_release(struct ref_list *list)
{
	free(list->items);
	memset(list, 0, sizeof(*list));
}

/* Written elsewhere and moved: git takes everything below refs/ for a ref. */
int refs_write(struct store *store, const char *dir, const char *name, const struct oid *commit,
	       enum fs_durability durability)
{
	struct strbuf temp = STRBUF_INIT;
	char *path = xstrfmt("%s/%s", dir, name);
	char text[OID_HEX + 2];
	int fd = -1, err;

	loose_refs_forget(store);
	err = fs_temp_open(&fd, &temp, store->dirfd, "checkpoint", 0600);

	if (err)
		goto out;
	oid_hex(text, commit);
	text[OID_HEX] = '\n';
	if (fs_write_all(fd, text, OID_HEX + 1) < 0 || (durability == FS_DURABLE && fsync(fd) < 0))
		err = ckpt_error_errno("unable to write '%s'", path);
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to close '%s'", path);
	if (!err)
		err = fs_rename(store->dirfd, temp.buf, path, dir, durability);
	if (err)
		unlinkat(store->dirfd, temp.buf, 0);
out:
	strbuf_release(&temp);
	free(path);
	return err;
}

int refs_create(struct store *store, const char *id, const struct oid *commit)
{
	bool there = refs_exist(store, id);
	int err = refs_write(store, "refs/checkpoints", id, commit, FS_DURABLE);

	/*
	 * In place but perhaps not durable: then it must not look like a checkpoint. A ref
	 * that existed before, however damaged, says that there is one.
	 */
	if (err && !there) {
		char *name = xstrfmt(REFS_CHECKPOINTS "%s", id);

		unlinkat(store->dirfd, name, 0);
		free(name);
	}
	return err;
}

/* --- removing --- */

/* The packed one first: it would show as soon as the loose one is gone. */
int refs_remove(struct store *store, const char *dir, const char *id)
{
	char *name = xstrfmt("%s/%s", dir, id);
	struct packed_change change = { .name = name };
	int err;

	loose_refs_forget(store);
	err = packed_refs_has(store, name) ? packed_refs_change(store, &change, 1) : 0;

	if (!err && !unlinkat(store->dirfd, name, 0))
		err = fs_sync_dir(store->dirfd, dir);
	else if (!err && errno == EISDIR)
		err = fs_remove_tree(store->dirfd, name); /* damaged, but it was asked to go */
	else if (!err && errno != ENOENT && errno != ENOTDIR)
		err = ckpt_error_errno("unable to remove '%s'", name);
	free(name);
	return err;
}

static bool ref_is_there(struct store *store, const char *dir, const char *id)
{
	char *name = xstrfmt("%s/%s", dir, id);
	bool there = !faccessat(store->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) ||
		     packed_refs_has(store, name);

	free(name);
	return there;
}

bool refs_exist(struct store *store, const char *id)
{
	return ref_is_there(store, "refs/checkpoints", id);
}

int refs_delete(struct store *store, const char *id)
{
	int err;

	/* A name that leads elsewhere, or to the directory itself, must not be removed. */
	if (!refs_valid_id(id))
		return ckpt_error_set(CKPT_ERROR, "'%s' is not the id of a checkpoint", id);
	err = refs_remove(store, "refs/checkpoints", id);
	for (size_t i = 0; i < ARRAY_SIZE(mark_dirs) && !err; i++)
		err = refs_remove(store, mark_dirs[i], id);
	return err;
}

/* --- many at a time --- */

int refs_unpack(struct store *store, const struct strlist *ids)
{
	struct packed_change *changes = xcalloc(ids->nr + 1, sizeof(*changes));
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < ids->nr; i++) {
		char *name = xstrfmt(REFS_CHECKPOINTS "%s", ids->items[i]);

		if (packed_refs_has(store, name))
			changes[nr++].name = name;
		else
			free(name);
	}
	if (nr)
		err = packed_refs_change(store, changes, nr);
	for (size_t i = 0; i < nr; i++)
		free((char *)changes[i].name);
	free(changes);
	return err;
}

bool refs_read_loose(struct oid *out, struct store *store, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	bool found = !fs_read_file(&text, store->dirfd, name) && text.len >= OID_HEX &&
		     oid_parse(out, text.buf);

	strbuf_release(&text);
	return found;
}

/* If another process has changed it since, it is another file. */
static bool is_still(struct store *store, const struct packed_change *change)
{
	struct oid commit;

	return refs_read_loose(&commit, store, change->name) && oid_equal(&commit, &change->commit);
}

/*
 * They are durable in packed-refs before the first loose one goes, and gone for good
 * before they can be deleted from there: none is ever without a ref, and none comes back.
 */
static void pack_loose(struct store *store)
{
	const struct ref_list *loose;
	struct packed_change *changes;
	size_t nr = 0;

	if (loose_refs_read(&loose, store))
		return;
	changes = xcalloc(loose->nr + 1, sizeof(*changes));

	for (size_t i = 0; i < loose->nr; i++)
		if (!oid_is_zero(&loose->items[i].commit))
			changes[nr++] = (struct packed_change){
				.name = xstrfmt(REFS_CHECKPOINTS "%s", loose->items[i].id),
				.commit = loose->items[i].commit,
			};
	loose_refs_forget(store);
	if (nr && !packed_refs_change(store, changes, nr)) {
		for (size_t i = 0; i < nr; i++)
			if (is_still(store, &changes[i]))
				unlinkat(store->dirfd, changes[i].name, 0);
		(void)fs_sync_dir(store->dirfd, "refs/checkpoints");
	}
	for (size_t i = 0; i < nr; i++)
		free((char *)changes[i].name);
	free(changes);
}

void refs_pack(struct store *store, size_t loose)
{
	size_t packed = packed_refs_checkpoints(store)->nr;

	if (loose >= (packed < LARGE ? LOOSE_MAX : LOOSE_MAX_LARGE))
		pack_loose(store);
}

/* --- marks --- */

enum refs_mark refs_mark(struct store *store, const char *id)
{
	if (ref_is_there(store, "refs/pinned", id))
		return REFS_PINNED;
	return ref_is_there(store, "refs/unpinned", id) ? REFS_UNPINNED : REFS_UNMARKED;
}

static int add_marks(struct strlist *out, struct store *store, const char *path)
{
	char *prefix = xstrfmt("%s/", path);
	const struct packed_ref *packed;
	size_t nr;
	int err = 0;

	if (fs_names(out, store->dirfd, path, 0, refs_valid_id) < 0 && errno != ENOENT &&
	    errno != ENOTDIR)
		err = ckpt_error_errno("unable to read '%s' of '%s'", path, store->path);
	if (!err)
		err = packed_refs_check(store);
	packed = err ? NULL : packed_refs_below(store, prefix, &nr);
	for (size_t i = 0; packed && i < nr; i++)
		if (refs_valid_id(packed[i].name + strlen(prefix)))
			strlist_add(out, packed[i].name + strlen(prefix));
	strlist_sort_unique(out);
	free(prefix);
	return err;
}

int refs_marks_read(struct refs_marks *out, struct store *store)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = add_marks(&out->pinned, store, "refs/pinned");
	if (!err)
		err = add_marks(&out->unpinned, store, "refs/unpinned");
	if (!err)
		err = add_marks(&out->imported, store, "refs/imported");
	if (err)
		refs_marks_release(out);
	return err;
}

void refs_marks_release(struct refs_marks *marks)
{
	strlist_release(&marks->pinned);
	strlist_release(&marks->unpinned);
	strlist_release(&marks->imported);
}

enum refs_mark refs_marks_find(const struct refs_marks *marks, const char *id)
{
	if (pathset_has(&marks->pinned, id))
		return REFS_PINNED;
	return pathset_has(&marks->unpinned, id) ? REFS_UNPINNED : REFS_UNMARKED;
}

int refs_set_mark(struct store *store, const char *id, const struct oid *commit,
		  enum refs_mark mark)
{
	const char *dir = mark == REFS_PINNED ? "refs/pinned" : "refs/unpinned",
		   *other = mark == REFS_PINNED ? "refs/unpinned" : "refs/pinned";
	int err = mark == REFS_UNMARKED ? refs_remove(store, dir, id) :
					  fs_ensure_dir(store->dirfd, dir, 0700);

	if (!err && mark != REFS_UNMARKED)
		err = refs_write(store, dir, id, commit, FS_DURABLE);
	/* For a moment both exist: then it is pinned, which loses nothing. */
	return err ? err : refs_remove(store, other, id);
}

int refs_set_imported(struct store *store, const char *id, const struct oid *commit)
{
	int err = fs_ensure_dir(store->dirfd, "refs/imported", 0700);

	return err ? err : refs_write(store, "refs/imported", id, commit, FS_DURABLE);
}

bool refs_imported(struct store *store, const char *id)
{
	return ref_is_there(store, "refs/imported", id);
}

/* Including those that stock git packed. */
int refs_sweep_marks(struct store *store, const struct ref_list *lost)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(mark_dirs) && !err; i++) {
		struct strlist ids = STRLIST_INIT;

		err = add_marks(&ids, store, mark_dirs[i]);
		for (size_t j = 0; j < ids.nr && !err; j++)
			if (!refs_exist(store, ids.items[j]) && !refs_has(lost, ids.items[j]))
				err = refs_remove(store, mark_dirs[i], ids.items[j]);
		strlist_release(&ids);
	}
	return err;
}

void refs_set_latest(struct store *store, const struct oid *commit)
{
	if (commit && !refs_write(store, "refs/heads", "latest", commit, FS_FAST))
		return;
	/* Better none than one that points at what is gone. */
	(void)refs_remove(store, "refs/heads", "latest");
}

bool refs_latest(struct oid *out, struct store *store)
{
	return refs_read_loose(out, store, "refs/heads/latest");
}

void refs_repair_latest(struct store *store, const struct ref_list *refs)
{
	const struct oid *newest = NULL;
	struct oid present;

	for (size_t i = refs->nr; i-- && !newest;)
		if (!oid_is_zero(&refs->items[i].commit))
			newest = &refs->items[i].commit;
	if (!refs_latest(&present, store) || !newest || !oid_equal(&present, newest))
		refs_set_latest(store, newest);
}
