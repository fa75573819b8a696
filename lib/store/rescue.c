/* SPDX-License-Identifier: MIT */
#include "store/health.h"

#include "store/pack.h"
#include "store/packs.h"
#include "store/packs_internal.h"
#include "store/shadow.h"

#define DIR_NAME "objects/pack"

/* A pack as it is, in whatever state. */
struct wreck {
	struct store *store;
	char *name; /* "pack-<hex>" */
	struct map file;
	uint64_t end;	      /* of the objects, as far as can be determined */
	struct one_pack
		self; /* index and pack, for the reader of packs; only what it needs */
	struct packed *named; /* from its index, by offset; NULL: unusable */
	size_t named_nr;
	uint32_t promised; /* number of objects, according to its header */
	bool sound;	   /* it has the checksum that it ends with */
	bool index_sound;
	bool index_there;
	int unreadable; /* errno: it exists but cannot be read, so nothing is known about it */
	struct strbuf made; /* an index of what was found, if it has none */
};

/* --- looking --- */

static bool has_path(struct store *store, const char *path)
{
	return !faccessat(store->dirfd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* What its index says is in it, if that can be trusted at all. */
static void take_names(struct wreck *wreck)
{
	struct packs *packs = wreck->store->packs;
	struct pack_contents contents;

	for (size_t i = 0; i < packs_count(packs); i++) {
		if (packs_contents(&contents, packs, i))
			continue;
		if (!strcmp(contents.name, wreck->name) && !wreck->named) {
			wreck->named = contents.items;
			wreck->named_nr = contents.nr;
			contents.items = NULL;
		}
		packs_contents_release(&contents);
	}
}

static void check_index(struct wreck *wreck)
{
	char *path = xstrfmt(DIR_NAME "/%s.idx", wreck->name);
	struct map *index = &wreck->self.index;

	wreck->index_there = has_path(wreck->store, path);
	*index = map_file(wreck->store->dirfd, path);
	if (packs_checksum_right(index))
		take_names(wreck);
	/* An index that belongs to another pack does not count. */
	wreck->index_sound = wreck->named && index->size >= INDEX_TRAILERS &&
			     (!wreck->sound || !memcmp(index->data + index->size - INDEX_TRAILERS,
						       wreck->file.data + wreck->end, OID_SIZE));
	free(path);
}

static void open_wreck(struct wreck *out, struct store *store, const char *name)
{
	char *path = xstrfmt(DIR_NAME "/%s.pack", name);
	bool head;

	memset(out, 0, sizeof(*out));
	strbuf_init(&out->made);
	out->store = store;
	out->name = xstrdup(name);
	out->file = map_file(store->dirfd, path);
	/* Gone, empty or not a file: that is known. */
	if (!out->file.data && errno != ENOENT && errno != ELOOP && errno != EINVAL)
		out->unreadable = errno;
	head = out->file.size >= PACK_HEADER_SIZE && !memcmp(out->file.data, "PACK\0\0\0\2", 8);
	out->sound = head && packs_checksum_right(&out->file);
	if (head)
		out->promised = packs_get32(out->file.data + 8);
	out->end = out->file.size - (out->sound ? OID_SIZE : 0);
	check_index(out);
	out->self.nr = (uint32_t)out->named_nr;
	out->self.pack = (struct map){ out->file.data, out->end + OID_SIZE };
	free(path);
}

static void close_wreck(struct wreck *wreck)
{
	map_release(&wreck->file);
	if (wreck->made.len)
		wreck->self.index = (struct map){ 0 };
	map_release(&wreck->self.index);
	strbuf_release(&wreck->made);
	free(wreck->named);
	free(wreck->name);
}

/* --- rescuing --- */

struct rescued {
	struct pack *pack; /* NULL: only count */
	struct digest *sha1;
	size_t found;
	size_t lost; /* objects known to be missing */
	struct pack_entry *entries; /* found without an index */
	size_t entries_alloc;
	uint64_t *waiting; /* where deltas are whose base was not found yet */
	size_t waiting_nr, waiting_alloc;
};

/* One object; `expected` is its name if that is known. */
static int take_object(struct rescued *rescued, struct wreck *wreck, uint64_t offset,
		       const struct oid *expected, size_t *used_out)
{
	struct packs_at at = {
		.pack = wreck->self.nr ? &wreck->self : NULL,
		.data = wreck->file.data,
		.offset = offset,
		.end = wreck->end,
	};
	struct packs *packs = wreck->store->packs;
	struct strbuf text = STRBUF_INIT;
	enum object_type type;
	struct oid is;
	int err = packs_read_at(&text, &type, used_out, packs, &at);
	bool ok;

	/* The base of a delta may be sound elsewhere. */
	if (err == CKPT_ECORRUPT && at.pack) {
		at.pack = NULL;
		strbuf_reset(&text);
		err = packs_read_at(&text, &type, used_out, packs, &at);
	}
	ok = !err;
	if (err == CKPT_ECORRUPT)
		err = cancel_check();
	if (ok) {
		hash_object(rescued->sha1, &is, objects_type_name(type), text.buf, text.len);
		ok = !expected || oid_equal(&is, expected);
	}
	if (!err && ok) {
		if (!wreck->named) {
			ALLOC_GROW(rescued->entries, rescued->found + 1, rescued->entries_alloc);
			rescued->entries[rescued->found] =
				(struct pack_entry){ .oid = is, .offset = offset };
		}
		rescued->found++;
		if (rescued->pack)
			err = pack_add(rescued->pack, 0, type, &is, text.buf, text.len);
	} else {
		rescued->lost++;
	}
	strbuf_release(&text);
	return err;
}

/* Whether an entry can begin there: before its deflated bytes there is a header, and these have one. */
static bool may_begin(const struct wreck *wreck, uint64_t offset)
{
	const unsigned char *p = wreck->file.data + offset;
	size_t left = (size_t)(wreck->end - offset), n;
	uint64_t size;
	unsigned type;

	n = pack_entry_header(&type, &size, p, left);
	if (!n)
		return false;
	if (type == PACK_REF_DELTA)
		n += OID_SIZE;
	else if (type == PACK_OFS_DELTA)
		while (n < left && p[n++] & 0x80)
			;
	return n + 2 <= left && (p[n] & 15) == 8 && (p[n] << 8 | p[n + 1]) % 31 == 0;
}

static int by_oid(const void *a, const void *b)
{
	return memcmp(a, b, OID_SIZE);
}

/* So that the bases of deltas are found by name. */
static void make_index(struct wreck *wreck, const struct rescued *rescued)
{
	static const struct oid unknown;

	if (wreck->made.len)
		strbuf_reset(&wreck->made);
	else
		map_release(&wreck->self.index);
	if (rescued->found)
		qsort(rescued->entries, rescued->found, sizeof(*rescued->entries), by_oid);
	pack_make_index(&wreck->made, rescued->entries, rescued->found, &unknown);
	wreck->self.index = (struct map){ (unsigned char *)wreck->made.buf, wreck->made.len };
	wreck->self.nr = (uint32_t)rescued->found;
}

/* Deltas that name a base in the same pack, which may be a delta itself. */
static int take_waiting(struct rescued *rescued, struct wreck *wreck)
{
	size_t before, used;
	int err = 0;

	do {
		size_t left = 0;

		before = rescued->found;
		if (rescued->waiting_nr)
			make_index(wreck, rescued);
		for (size_t i = 0; i < rescued->waiting_nr && !err; i++) {
			size_t found = rescued->found;

			err = take_object(rescued, wreck, rescued->waiting[i], NULL, &used);
			if (rescued->found == found)
				rescued->waiting[left++] = rescued->waiting[i];
		}
		rescued->waiting_nr = left;
	} while (!err && rescued->found > before && rescued->waiting_nr);
	return err;
}

static bool names_base(const struct wreck *wreck, uint64_t offset)
{
	return (wreck->file.data[offset] >> 4 & 7) == PACK_REF_DELTA;
}

/* Without an index one after the other; after a damaged one the next is searched for. */
static int take_unnamed(struct rescued *rescued, struct wreck *wreck)
{
	uint64_t at = PACK_HEADER_SIZE;
	size_t used = 0;
	int err = 0;

	while (!err && at < wreck->end) {
		size_t found = rescued->found;

		if (may_begin(wreck, at))
			err = take_object(rescued, wreck, at, NULL, &used);
		if (rescued->found == found && may_begin(wreck, at) && names_base(wreck, at))
			*ALLOC_NEXT(rescued->waiting, rescued->waiting_nr, rescued->waiting_alloc) =
				at;
		at += rescued->found > found ? used : 1;
	}
	return err ? err : take_waiting(rescued, wreck);
}

static int take_all(struct rescued *rescued, struct wreck *wreck)
{
	size_t used = 0;
	int err = 0;

	if (!wreck->file.data) {
		rescued->lost = wreck->named_nr;
		return 0;
	}
	for (size_t i = 0; i < wreck->named_nr && !err; i++)
		err = take_object(rescued, wreck, wreck->named[i].offset, &wreck->named[i].oid,
				  &used);
	if (wreck->named)
		return err;
	err = take_unnamed(rescued, wreck);
	/*
	 * More than there should be: then that number is damaged, and it is unknown what is
	 * missing.
	 */
	rescued->lost = wreck->promised < rescued->found ? 1 : wreck->promised - rescued->found;
	return err;
}

static void remove_file(struct wreck *wreck, const char *ending)
{
	char *path = xstrfmt(DIR_NAME "/%s%s", wreck->name, ending);

	unlinkat(wreck->store->dirfd, path, 0);
	free(path);
}

/* The index first: without it the pack does not count. */
static int clear_away(struct wreck *wreck, bool keep)
{
	char *from = xstrfmt(DIR_NAME "/%s.pack", wreck->name),
	     *to = xstrfmt("checkpoint/damaged/%s.pack", wreck->name);
	int err = 0;

	remove_file(wreck, ".idx");
	remove_file(wreck, ".rev");
	remove_file(wreck, ".bitmap");
	if (keep)
		err = fs_ensure_dir(wreck->store->dirfd, "checkpoint/damaged", 0700);
	if (keep && !err)
		err = fs_rename(wreck->store->dirfd, from, to, "checkpoint/damaged", FS_DURABLE);
	if (keep && !err)
		err = fs_sync_dir(wreck->store->dirfd, DIR_NAME);
	if (!keep)
		remove_file(wreck, ".pack");
	free(from);
	free(to);
	return err;
}

static int rescue_wreck(struct rescued *rescued, struct wreck *wreck)
{
	/* A store without packs: everything is written again, even what only the damaged one has. */
	struct store view = *wreck->store;
	char hex[OID_HEX + 1];
	int err;

	view.packs = packs_open(-1);
	rescued->pack = pack_new(&view, 1, 1);
	err = take_all(rescued, wreck);
	if (!err)
		err = pack_commit(rescued->pack, NULL);
	if (!err) {
		/* The same bytes give the same name: then it is already replaced. */
		bool same = !pack_is_empty(rescued->pack) &&
			    !strcmp(wreck->name + strlen("pack-"),
				    oid_hex(hex, pack_id(rescued->pack)));

		if (!same)
			err = clear_away(wreck, rescued->lost && wreck->file.size);
	}
	pack_free(rescued->pack);
	packs_close(view.packs);
	return err;
}

static void describe_wreck(struct problems *out, const struct wreck *wreck, const struct rescued *rescued,
		     bool fix)
{
	const char *what = !wreck->file.size	 ? "is gone or empty"
			   : !wreck->sound	 ? "is damaged"
			   : !wreck->index_there ? "has no index"
						 : "has a damaged index";
	struct strbuf more = STRBUF_INIT;

	if (rescued->lost)
		strbuf_addf(&more, "; %zu of its %zu objects cannot be read", rescued->lost,
			    rescued->lost + rescued->found);
	else
		strbuf_addstr(&more, "; all its objects can be read");
	if (fix && rescued->found)
		strbuf_addstr(&more, "; what can be read was written to a new pack");
	if (fix && rescued->lost && wreck->file.size)
		strbuf_addf(&more,
			    "; its remains are in '%s/checkpoint/damaged', which may be removed",
			    wreck->store->path);
	problems_addf(out, fix, "the pack '%s' %s%s", wreck->name, what, more.buf);
	strbuf_release(&more);
}

static int check_pack(struct problems *out, struct store *store, const char *name, bool fix)
{
	struct rescued rescued = { .sha1 = hash_new(HASH_SHA1) };
	struct wreck wreck;
	int err = 0;

	open_wreck(&wreck, store, name);
	if (wreck.unreadable) {
		/* Perhaps another time, or for another user: then all of it is readable. */
		problems_addf(out, false, "the pack '%s' cannot be read: %s", name,
			      strerror(wreck.unreadable));
	} else if (!wreck.sound || !wreck.index_sound) {
		err = fix ? rescue_wreck(&rescued, &wreck) : take_all(&rescued, &wreck);
		if (!err)
			describe_wreck(out, &wreck, &rescued, fix);
	}
	close_wreck(&wreck);
	free(rescued.entries);
	free(rescued.waiting);
	hash_free(rescued.sha1);
	return err;
}

static void list_packs(struct strlist *out, struct store *store)
{
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, store->dirfd, DIR_NAME, 0, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		const char *name = names.items[i], *dot = strrchr(name, '.');

		if (!strncmp(name, "pack-", 5) && dot &&
		    (!strcmp(dot, ".pack") || !strcmp(dot, ".idx")))
			strlist_take(out, xmemdupz(name, (size_t)(dot - name)));
	}
	strlist_release(&names);
	strlist_sort_unique(out);
}

int rescue_packs(struct problems *out, struct store *store, bool fix)
{
	struct strlist names = STRLIST_INIT;
	size_t before = out->nr;
	int err = objects_reopen(store);

	list_packs(&names, store);
	for (size_t i = 0; i < names.nr && !err; i++)
		err = check_pack(out, store, names.items[i], fix);
	strlist_release(&names);
	if (!err && fix && out->nr > before)
		err = objects_reopen(store);
	return err;
}
