/* SPDX-License-Identifier: MIT */
#include "store/refs.h"

#include "store/refs_internal.h"
#include "store/shadow.h"

/*
 * When loose refs are packed: in a store of usual size they stay where people look for them, and one
 * that is dropped does not cost writing all others again. A large one has packed refs anyway.
 */
enum { LOOSE_MAX = 128, LOOSE_MAX_LARGE = 32, LARGE = 256 };

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
	struct ref_item *item = ALLOC_NEXT(list->items, list->nr, list->alloc);

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

static int compare_ids(const void *a, const void *b)
{
	return strcmp(((const struct ref_item *)a)->id, ((const struct ref_item *)b)->id);
}

bool refs_has(const struct ref_list *list, const char *id)
{
	struct ref_item key = { .id = "" };

	strcpy(key.id, id);
	return list->nr && bsearch(&key, list->items, list->nr, sizeof(key), compare_ids);
}

/* --- those that are files of their own --- */

/*
 * They are read once for a command that asks several times: whoever makes, replaces or removes one of
 * the files changes the times of their directory; what a bad disk does to one shows to the next
 * command.
 */
struct loose_refs {
	struct stat st; /* of the directory, before it was read */
	bool settled;	/* its times tell whether it has changed since */
	struct ref_list list;
};

void refs_free_loose(struct loose_refs *loose)
{
	if (loose)
		refs_release(&loose->list);
	free(loose);
}

static void forget_loose(struct store *store)
{
	refs_free_loose(store->loose);
	store->loose = NULL;
}

/*
 * What the file begins with; the length, or -1 with errno. There may be hundreds of them: fewer calls
 * than fs_read_file() makes. A FIFO does not block, and whatever else it is has no object name in it.
 */
static ssize_t read_file(char *out, size_t size, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = fs_read_full(fd, out, size);
	close(fd);
	return len < 0 ? 0 : len;
}

static int read_files(struct ref_list *list, struct store *store, int fd)
{
	struct strlist ids = STRLIST_INIT;
	char text[OID_HEX + 1] = "";
	int err = 0;

	if (fs_names(&ids, fd, ".", 0, refs_valid_id) < 0)
		err = ckpt_error_errno("unable to read the refs of '%s'", store->path);
	for (size_t i = 0; i < ids.nr && !err; i++) {
		ssize_t len = read_file(text, OID_HEX, fd, ids.items[i]);
		struct oid commit;

		if (len < 0 && fs_is_lack(errno))
			err = ckpt_error_errno("unable to read the refs of '%s'", store->path);
		/* Missing: it was just dropped. A damaged ref proves that there is one. */
		else if (len >= 0 || errno != ENOENT)
			refs_add(list, ids.items[i],
				 len == OID_HEX && oid_parse(&commit, text) ? &commit : NULL);
	}
	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare_ids);
	strlist_release(&ids);
	return err;
}

static int read_loose(const struct ref_list **out, struct store *store)
{
	int fd = openat(store->dirfd, REFS_CHECKPOINTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct loose_refs *loose = store->loose;
	int64_t now = clock_file_ns();
	struct stat st = { 0 };

	if (fd < 0 ? errno != ENOENT : fstat(fd, &st) < 0)
		err = ckpt_error_errno("unable to read the refs of '%s'", store->path);
	if (err || !loose || !loose->settled || !fs_same_file(&loose->st, &st)) {
		forget_loose(store);
		loose = store->loose = xcalloc(1, sizeof(*loose));
		loose->st = st;
		loose->settled = fd >= 0 && fs_is_settled(&st, now);
		if (!err && fd >= 0)
			err = read_files(&loose->list, store, fd);
	}
	fs_close(fd);
	if (err)
		forget_loose(store);
	else
		*out = &loose->list;
	return err;
}

/* --- all of them --- */

static void append_items(struct ref_list *out, const struct ref_list *from, size_t at, size_t nr)
{
	if (nr)
		memcpy(out->items + out->nr, from->items + at, nr * sizeof(*from->items));
	out->nr += nr;
}

/* Both are sorted, and so is the result. Of the same name the loose one wins. */
static void merge_lists(struct ref_list *out, const struct ref_list *loose, const struct ref_list *packed)
{
	size_t at = 0;

	ALLOC_GROW(out->items, packed->nr + loose->nr, out->alloc);
	for (size_t i = 0; i < loose->nr; i++) {
		const char *id = loose->items[i].id;
		size_t from = at;

		LOWER_BOUND(at, packed->nr, strcmp(packed->items[at].id, id) < 0);
		append_items(out, packed, from, at - from);
		append_items(out, loose, i, 1);
		at += at < packed->nr && !strcmp(packed->items[at].id, id);
	}
	append_items(out, packed, at, packed->nr - at);
}

int refs_list(struct ref_list *out, struct store *store)
{
	const struct ref_list *loose = NULL;
	int err = read_loose(&loose, store);

	if (!err)
		err = packed_refs_check(store);
	memset(out, 0, sizeof(*out));
	if (!err) {
		merge_lists(out, loose, packed_refs_checkpoints(store));
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

	forget_loose(store);
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

/* --- refs of any kind --- */

/* What is in the file hides a packed one. */
int refs_read(struct oid *out, struct store *store, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_file(&text, store->dirfd, name);
	bool missing = err == CKPT_ENOTFOUND || (err && errno == ENOTDIR);

	memset(out, 0, sizeof(*out));
	if (err && !missing && (errno == EISDIR || errno == ELOOP || errno == EINVAL))
		err = 0;
	if (missing)
		err = !packed_refs_find(out, store, name) ? CKPT_ENOTFOUND :
		      oid_is_zero(out)			  ? CKPT_ECORRUPT :
							    0;
	/* One that leads to another ref names no commit itself. */
	else if (!err && !strncmp(text.buf, "ref:", 4))
		err = CKPT_ENOTFOUND;
	else if (!err && (text.len < OID_HEX || !oid_parse(out, text.buf)))
		err = CKPT_ECORRUPT;
	strbuf_release(&text);
	return err;
}

bool refs_read_loose(struct oid *out, struct store *store, const char *name)
{
	return !faccessat(store->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) &&
	       !refs_read(out, store, name);
}

/* What git is about to write is none. */
static bool is_ref_name(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && (len < 5 || strcmp(name + len - 5, ".lock") != 0);
}

static int add_files(struct strlist *out, struct store *store, const char *dir)
{
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (!strcmp(dir, "refs/checkpoints"))
		return 0;
	if (fs_names(&names, store->dirfd, dir, O_NOFOLLOW, is_ref_name) < 0 && errno != ENOENT &&
	    errno != ENOTDIR)
		err = ckpt_error_errno("unable to read '%s/%s'", store->path, dir);
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *path = xstrfmt("%s/%s", dir, names.items[i]);
		struct stat st;

		if (!fstatat(store->dirfd, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode))
			err = add_files(out, store, path);
		else
			strlist_add(out, path);
		free(path);
	}
	strlist_release(&names);
	return err;
}

int refs_below(struct strlist *out, struct store *store, const char *dir)
{
	char *prefix = xstrfmt("%s/", dir);
	int err = add_files(out, store, dir);

	if (!err)
		err = packed_refs_check(store);
	if (!err)
		packed_refs_below(out, store, prefix);
	strlist_sort_unique(out);
	free(prefix);
	return err;
}

/* --- removing --- */

/* The packed one first: it would show as soon as the loose one is gone. */
int refs_remove_named(struct store *store, const char *name, enum fs_durability durability)
{
	struct packed_change change = { .name = name };
	struct oid oid;
	int err;

	forget_loose(store);
	err = packed_refs_find(&oid, store, name) ? packed_refs_change(store, &change, 1) : 0;

	if (!err && !unlinkat(store->dirfd, name, 0))
		err = durability == FS_DURABLE ? fs_sync_holder(store->dirfd, name) : 0;
	else if (!err && errno == EISDIR)
		err = fs_remove_tree(store->dirfd, name); /* damaged, but it was asked to go */
	else if (!err && errno != ENOENT && errno != ENOTDIR)
		err = ckpt_error_errno("unable to remove '%s'", name);
	return err;
}

int refs_remove(struct store *store, const char *dir, const char *name)
{
	char *ref = xstrfmt("%s/%s", dir, name);
	int err = refs_remove_named(store, ref, FS_DURABLE);

	free(ref);
	return err;
}

bool refs_exist(struct store *store, const char *id)
{
	char *name = xstrfmt(REFS_CHECKPOINTS "%s", id);
	struct oid oid;
	bool there = !faccessat(store->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) ||
		     packed_refs_find(&oid, store, name);

	free(name);
	return there;
}

int refs_delete(struct store *store, const char *id)
{
	/* A name that leads elsewhere, or to the directory itself, must not be removed. */
	if (!refs_valid_id(id))
		return ckpt_error_set(CKPT_ERROR, "'%s' is not the id of a checkpoint", id);
	return refs_remove(store, "refs/checkpoints", id);
}

/* --- many at a time --- */

int refs_unpack(struct store *store, const struct strlist *ids)
{
	struct packed_change *changes = xcalloc(ids->nr + 1, sizeof(*changes));
	struct oid oid;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < ids->nr; i++) {
		char *name = xstrfmt(REFS_CHECKPOINTS "%s", ids->items[i]);

		if (packed_refs_find(&oid, store, name))
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

	if (read_loose(&loose, store))
		return;
	changes = xcalloc(loose->nr + 1, sizeof(*changes));

	for (size_t i = 0; i < loose->nr; i++)
		if (!oid_is_zero(&loose->items[i].commit))
			changes[nr++] = (struct packed_change){
				.name = xstrfmt(REFS_CHECKPOINTS "%s", loose->items[i].id),
				.commit = loose->items[i].commit,
			};
	forget_loose(store);
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

/* --- where git log begins --- */

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
