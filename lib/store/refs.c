/* SPDX-License-Identifier: MIT */
#include "store/refs.h"

#include "base/base.h"
#include "store/packed_refs_internal.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

/* This many loose refs are read as fast as packed ones. */
enum { LOOSE_MAX = 128 };

static const char *const mark_dirs[] = { "refs/pinned", "refs/unpinned", "refs/imported" };

/* Thousands of ids are read for one command: a table is several times faster than comparing. */
bool refs_valid_id(const char *id)
{
	enum { DIGIT = 1, LETTER = 2 };
	static const char form[] = "chk_dddddddd_dddddd_xxxxxx";
	static const unsigned char kinds[256] = {
		['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,
		['4'] = DIGIT,  ['5'] = DIGIT,  ['6'] = DIGIT,  ['7'] = DIGIT,
		['8'] = DIGIT,  ['9'] = DIGIT,  ['a'] = LETTER, ['b'] = LETTER,
		['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER, ['f'] = LETTER,
	};
	static const unsigned char allowed[256] = { ['d'] = DIGIT, ['x'] = DIGIT | LETTER };
	size_t at = 4;

	if (strncmp(id, form, at) != 0)
		return false;
	for (; form[at]; at++) {
		unsigned char kind = allowed[(unsigned char)form[at]];

		if (kind ? !(kinds[(unsigned char)id[at]] & kind) : id[at] != form[at])
			return false;
	}
	return !id[at];
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

static void add(struct ref_list *list, const char *id, const char *hex, size_t hex_len)
{
	struct oid commit;

	refs_add(list, id, hex_len >= OID_HEX && oid_parse(&commit, hex) ? &commit : NULL);
}

const struct ref_item *refs_find(const struct ref_list *list, const char *id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].id, id))
			return &list->items[i];
	return NULL;
}

static int add_loose(struct ref_list *list, struct store *store)
{
	int fd = openat(store->dirfd, REFS_CHECKPOINTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct strlist ids = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;

	if (fd < 0 ? errno != ENOENT : fs_names(&ids, fd, ".", 0, refs_valid_id) < 0)
		err = ckpt_error_errno("unable to read the refs of '%s'", store->path);
	for (size_t i = 0; i < ids.nr && !err; i++) {
		strbuf_reset(&text);
		err = fs_read_file(&text, fd, ids.items[i]);
		if (err && fs_is_lack(errno))
			break;
		/* Missing: it was just dropped. A damaged ref proves that there is one. */
		if (err != CKPT_ENOTFOUND)
			add(list, ids.items[i], text.buf, text.len);
		err = 0;
	}
	fs_close(fd);
	strlist_release(&ids);
	strbuf_release(&text);
	return err;
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

/* Both are sorted, and so is the result. Of the same name the loose one wins. */
static void merge(struct ref_list *out, const struct ref_list *loose, const struct ref_list *packed)
{
	size_t at = 0;

	ALLOC_GROW(out->items, packed->nr + loose->nr, out->alloc);
	for (size_t i = 0; i < packed->nr; i++) {
		const char *id = packed->items[i].id;
		size_t had = at;

		while (at < loose->nr && strcmp(loose->items[at].id, id) <= 0)
			out->items[out->nr++] = loose->items[at++];
		if (at == had || strcmp(loose->items[at - 1].id, id) != 0)
			out->items[out->nr++] = packed->items[i];
	}
	while (at < loose->nr)
		out->items[out->nr++] = loose->items[at++];
}

int refs_list(struct ref_list *out, struct store *store)
{
	struct ref_list loose = { 0 };
	int err = add_loose(&loose, store);

	if (!err)
		err = packed_refs_check(store);
	memset(out, 0, sizeof(*out));
	if (!err) {
		if (loose.nr)
			qsort(loose.items, loose.nr, sizeof(*loose.items), compare);
		merge(out, &loose, packed_refs_checkpoints(store));
		out->loose = loose.nr;
	}
	refs_release(&loose);
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
	int fd = -1, err = fs_temp_open(&fd, &temp, store->dirfd, "checkpoint", 0600);

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
	int err = packed_refs_find(store, name) ? packed_refs_change(store, &change, 1) : 0;

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
		     packed_refs_find(store, name);

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

		if (packed_refs_find(store, name))
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
static void pack_loose(struct store *store, const struct ref_list *loose)
{
	struct packed_change *changes = xcalloc(loose->nr + 1, sizeof(*changes));
	size_t nr = 0;

	for (size_t i = 0; i < loose->nr; i++)
		if (!oid_is_zero(&loose->items[i].commit))
			changes[nr++] = (struct packed_change){
				.name = xstrfmt(REFS_CHECKPOINTS "%s", loose->items[i].id),
				.commit = loose->items[i].commit,
			};
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
	struct ref_list refs = { 0 };

	/* It costs little, but in a store of usual size refs stay where people look for them. */
	if (loose >= LOOSE_MAX && !add_loose(&refs, store))
		pack_loose(store, &refs);
	refs_release(&refs);
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
