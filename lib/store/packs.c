/* SPDX-License-Identifier: MIT */
#include "store/packs.h"

#include "store/pack.h"
#include "store/packs_internal.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The packs are a list that only grows, at its head, until packs_close():
 * readers need no lock, and see each pack completely or not at all. The state
 * of a pack tells in the same way whether it is mapped.
 */

enum { REFRESH_TRIES = 10 };

struct packs {
	int dirfd;
	_Atomic(struct one_pack *) head;
	atomic_size_t nr;
	atomic_int lacking;	   /* the errno for which some could not be opened */
	pthread_mutex_t map_lock;  /* protects mapping a pack */
	pthread_mutex_t scan_lock; /* protects adding packs, and what follows */
	struct timespec mtime;	   /* of the directory when it was last read */
	bool settled;		   /* no later change can have left it with that time */
};

/* --- files --- */

static struct map map_part(const struct packs *packs, const struct one_pack *pack,
			   const char *ending)
{
	char *path = xstrfmt("%s%s", pack->name, ending);
	struct map map = map_file(packs->dirfd, path);
	int saved = errno;

	free(path);
	errno = saved;
	return map;
}

bool packs_checksum_right(const struct map *file)
{
	struct oid is;

	if (file->size < OID_SIZE)
		return false;
	hash_buffer(HASH_SHA1, is.id, file->data, file->size - OID_SIZE);
	return !memcmp(is.id, file->data + file->size - OID_SIZE, OID_SIZE);
}

/* The tables of an index must be within it, and its counts must not decrease. */
static bool index_sound(const struct map *index, uint32_t *nr_out)
{
	const unsigned char *fanout = index->data + INDEX_HEAD;
	uint32_t last = 0;

	if (index->size < INDEX_HEAD + INDEX_FANOUT + INDEX_TRAILERS ||
	    memcmp(index->data, "\377tOc\0\0\0\2", INDEX_HEAD))
		return false;
	for (int i = 0; i < 256; i++) {
		uint32_t n = packs_get32(fanout + 4 * i);

		if (n < last)
			return false;
		last = n;
	}
	*nr_out = last;
	return index->size >=
	       INDEX_HEAD + INDEX_FANOUT + INDEX_TRAILERS + (uint64_t)last * (OID_SIZE + 8);
}

/* The pack ends as its index says: it belongs to it, and is not truncated. */
static bool pack_sound(const struct one_pack *pack)
{
	return pack->pack.size >= PACK_HEADER_SIZE + OID_SIZE &&
	       !memcmp(pack->pack.data + pack->pack.size - OID_SIZE,
		       pack->index.data + pack->index.size - INDEX_TRAILERS, OID_SIZE);
}

static void try_to_map(struct packs *packs, struct one_pack *pack)
{
	enum pack_state state = PACK_MAPPED;

	pack->pack = map_part(packs, pack, ".pack");
	pack->bytes = pack->pack.size;
	if (!pack->pack.data && fs_is_lack(errno)) {
		atomic_store(&packs->lacking, errno);
		return;
	}
	if (!pack->pack.data) {
		state = errno == ENOENT ? PACK_GONE : PACK_BAD;
	} else if (!pack_sound(pack)) {
		map_release(&pack->pack);
		state = PACK_BAD;
	}
	atomic_store_explicit(&pack->state, state, memory_order_release);
}

/* Map the pack if that has not been tried yet: most commands read from few. */
static enum pack_state map_once(struct packs *packs, struct one_pack *pack)
{
	int state = atomic_load_explicit(&pack->state, memory_order_acquire);

	if (state != PACK_UNTRIED)
		return state;
	pthread_mutex_lock(&packs->map_lock);
	if (atomic_load_explicit(&pack->state, memory_order_relaxed) == PACK_UNTRIED)
		try_to_map(packs, pack);
	pthread_mutex_unlock(&packs->map_lock);
	return atomic_load_explicit(&pack->state, memory_order_relaxed);
}

/* The pack that was found last; the others follow in its list. */
static struct one_pack *find_newest(const struct packs *packs)
{
	return atomic_load_explicit(&((struct packs *)packs)->head, memory_order_acquire);
}

/* --- which packs exist --- */

static void one_pack_free(struct one_pack *pack)
{
	map_release(&pack->index);
	map_release(&pack->pack);
	free(pack->name);
	free(pack);
}

static bool is_known(const struct packs *packs, const char *file, size_t len)
{
	for (const struct one_pack *pack = find_newest(packs); pack; pack = pack->next)
		if (!strncmp(pack->name, file, len) && !pack->name[len])
			return true;
	return false;
}

/* True unless it vanished while being opened; `again`: others were added before. */
static bool add_pack(struct packs *packs, const char *file, bool again)
{
	size_t len = strlen(file);
	struct one_pack *pack;

	if (len < 9 || strncmp(file, "pack-", 5) || strcmp(file + len - 4, ".idx"))
		return true;
	if (again && is_known(packs, file, len - 4))
		return true;
	pack = xcalloc(1, sizeof(*pack));
	pack->name = xmemdupz(file, len - 4);
	pack->index = map_part(packs, pack, ".idx");
	if (!pack->index.data) {
		bool gone = errno == ENOENT;

		if (fs_is_lack(errno))
			atomic_store(&packs->lacking, errno);
		one_pack_free(pack);
		return !gone;
	}
	if (!index_sound(&pack->index, &pack->nr)) {
		one_pack_free(pack);
		return true;
	}
	/* At once: another process may be about to replace this pack, too. */
	if (again && map_once(packs, pack) == PACK_GONE) {
		one_pack_free(pack);
		return false;
	}
	pack->next = find_newest(packs);
	pack->number = atomic_load_explicit(&packs->nr, memory_order_relaxed);
	atomic_store_explicit(&packs->head, pack, memory_order_release);
	atomic_store_explicit(&packs->nr, pack->number + 1, memory_order_release);
	return true;
}

/*
 * Remember the time of the directory. It has the granularity of the kernel's
 * ticks, or of seconds if the file system stores no more: changes soon after
 * another may not show. A time in the future means nothing.
 */
static void note_time(struct packs *packs, const struct stat *st, const struct timespec *now)
{
	int64_t granularity = st->st_mtim.tv_nsec ? 50000000 : 2000000000, age;

	age = clock_ns(now) - clock_ns(&st->st_mtim);
	packs->mtime = st->st_mtim;
	packs->settled = age < 0 || age > granularity;
}

static bool is_unchanged(const struct packs *packs)
{
	struct stat st;

	return packs->settled && !fstat(packs->dirfd, &st) &&
	       clock_ns(&st.st_mtim) == clock_ns(&packs->mtime);
}

/* Read the directory; false if something vanished meanwhile. */
static bool scan_packs(struct packs *packs, bool again)
{
	struct strlist names = STRLIST_INIT;
	bool whole = true;
	struct timespec now;
	struct stat st;

	/* Before it is read: what changes during that is found next time. */
	clock_gettime(CLOCK_REALTIME, &now);
	if (!fstat(packs->dirfd, &st))
		note_time(packs, &st, &now);
	atomic_store(&packs->lacking,
		     fs_names(&names, packs->dirfd, ".", 0, NULL) < 0 && fs_is_lack(errno) ? errno
											   : 0);
	for (size_t i = 0; i < names.nr; i++)
		if (!add_pack(packs, names.items[i], again))
			whole = false;
	strlist_release(&names);
	return whole;
}

struct packs *packs_open(int storefd)
{
	struct packs *packs = xcalloc(1, sizeof(*packs));

	pthread_mutex_init(&packs->map_lock, NULL);
	pthread_mutex_init(&packs->scan_lock, NULL);
	packs->dirfd = openat(storefd, "objects/pack", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (packs->dirfd >= 0)
		scan_packs(packs, false);
	else if (fs_is_lack(errno))
		atomic_store(&packs->lacking, errno);
	return packs;
}

/*
 * A directory that changes while it is read may show neither the old pack nor
 * the new one. So "nothing new" is trusted only after a quiet moment, which is
 * waited for, but not for long.
 */
bool packs_refresh(struct packs *packs)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	size_t had;
	bool found;

	if (packs->dirfd < 0)
		return false;
	pthread_mutex_lock(&packs->scan_lock);
	had = packs_count(packs);
	for (int tries = 0;
	     tries < REFRESH_TRIES && (!is_unchanged(packs) || atomic_load(&packs->lacking));
	     tries++) {
		bool whole;

		if (tries)
			nanosleep(&moment, NULL);
		whole = scan_packs(packs, true);
		if (whole && packs_count(packs) > had)
			break;
	}
	found = packs_count(packs) > had;
	pthread_mutex_unlock(&packs->scan_lock);
	return found;
}

void packs_close(struct packs *packs)
{
	struct one_pack *next;

	if (!packs)
		return;
	for (struct one_pack *pack = find_newest(packs); pack; pack = next) {
		next = pack->next;
		one_pack_free(pack);
	}
	fs_close(packs->dirfd);
	pthread_mutex_destroy(&packs->map_lock);
	pthread_mutex_destroy(&packs->scan_lock);
	free(packs);
}

size_t packs_count(const struct packs *packs)
{
	return atomic_load_explicit(&((struct packs *)packs)->nr, memory_order_acquire);
}

/* --- where an object is --- */

/* Its position in the index, or -1. */
static int64_t find_position(const struct one_pack *pack, const struct oid *oid)
{
	const unsigned char *fanout = pack->index.data + INDEX_HEAD, *names = fanout + INDEX_FANOUT;
	uint32_t low = oid->id[0] ? packs_get32(fanout + 4 * (oid->id[0] - 1)) : 0;
	uint32_t high = packs_get32(fanout + 4 * oid->id[0]);

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int cmp = memcmp(names + (size_t)mid * OID_SIZE, oid->id, OID_SIZE);

		if (!cmp)
			return mid;
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

/* The offset of the object at position `at` of the index; false if it is damaged there. */
static bool read_offset(uint64_t *out, const struct one_pack *pack, uint32_t at)
{
	size_t table = INDEX_HEAD + INDEX_FANOUT + (size_t)pack->nr * (OID_SIZE + 4);
	uint32_t offset = packs_get32(pack->index.data + table + (size_t)at * 4);
	size_t large;

	*out = offset;
	if (!(offset & 0x80000000u))
		return true;
	large = table + (size_t)pack->nr * 4 + (size_t)(offset & 0x7fffffffu) * 8;
	if (large + 8 + INDEX_TRAILERS > pack->index.size)
		return false;
	*out = (uint64_t)packs_get32(pack->index.data + large) << 32 |
	       packs_get32(pack->index.data + large + 4);
	return true;
}

/* An index alone is only a promise: what is lost must be stored again. */
bool packs_have(struct packs *packs, const struct oid *oid)
{
	for (struct one_pack *pack = find_newest(packs); pack; pack = pack->next)
		if (find_position(pack, oid) >= 0 && map_once(packs, pack) == PACK_MAPPED)
			return true;
	return false;
}

int packs_damaged(const struct oid *oid)
{
	char hex[OID_HEX + 1];

	return ckpt_error_set(CKPT_ECORRUPT, "the object '%s' is damaged", oid_hex(hex, oid));
}

/* Of a mapped pack. */
static int fill_at(struct packs_at *out, const struct one_pack *pack, int64_t at,
		   const struct oid *oid)
{
	uint64_t offset;

	out->pack = pack;
	out->data = pack->pack.data;
	out->end = pack->pack.size - OID_SIZE;
	if (!read_offset(&offset, pack, (uint32_t)at) || offset < PACK_HEADER_SIZE ||
	    offset >= out->end)
		return packs_damaged(oid);
	out->offset = offset;
	return 0;
}

int packs_next(struct packs_at *where, struct packs *packs, const struct oid *oid)
{
	struct one_pack *pack = where->pack ? where->pack->next : find_newest(packs);
	bool lacking = false;

	for (; pack && !lacking; pack = pack->next) {
		int64_t at = find_position(pack, oid);
		enum pack_state state;

		if (at < 0)
			continue;
		state = map_once(packs, pack);
		if (state == PACK_MAPPED)
			return fill_at(where, pack, at, oid);
		lacking = state == PACK_UNTRIED;
		if (lacking)
			continue;
		where->pack = pack;
		if (state == PACK_BAD)
			return packs_damaged(oid);
	}
	/* It may be in a pack that could not be opened, even if another thread can by now. */
	errno = atomic_load(&packs->lacking);
	if (lacking && !errno)
		errno = EMFILE;
	return errno ? ckpt_error_errno("unable to open all packs of the store") : CKPT_ENOTFOUND;
}

int packs_beside(struct packs_at *out, const struct packs_at *where, const struct oid *oid)
{
	int64_t at = find_position(where->pack, oid);

	return at < 0 ? CKPT_ENOTFOUND : fill_at(out, where->pack, at, oid);
}

/* --- what is in one --- */

static int by_offset(const void *a, const void *b)
{
	const struct packed *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The offsets, as the index has them; false if some are impossible. */
static bool list_items(struct pack_contents *out, const struct one_pack *pack)
{
	const unsigned char *names = pack->index.data + INDEX_HEAD + INDEX_FANOUT;
	const unsigned char *crcs = names + (size_t)pack->nr * OID_SIZE;
	bool sound = true;

	out->nr = pack->nr;
	out->items = xcalloc(out->nr + 1, sizeof(*out->items));
	for (uint32_t i = 0; i < pack->nr; i++) {
		struct packed *item = &out->items[i];

		memcpy(item->oid.id, names + (size_t)i * OID_SIZE, OID_SIZE);
		item->crc = packs_get32(crcs + (size_t)i * 4);
		sound &= read_offset(&item->offset, pack, i);
	}
	qsort(out->items, out->nr, sizeof(*out->items), by_offset);
	return sound;
}

/* Each object ends where the next starts, and together they are the pack. */
static bool measure_items(struct pack_contents *out, const struct one_pack *pack)
{
	const unsigned char *data = pack->pack.data;
	uint64_t end = pack->pack.size - OID_SIZE;

	if (packs_get32(data + 8) != out->nr ||
	    (out->nr && out->items[0].offset != PACK_HEADER_SIZE))
		return false;
	for (size_t i = out->nr; i--;) {
		struct packed *item = &out->items[i];

		if (item->offset >= end)
			return false;
		item->len = end - item->offset;
		end = item->offset;
		out->tight |= (data[item->offset] >> 4 & 7) == PACK_OFS_DELTA;
	}
	return true;
}

int packs_contents(struct pack_contents *out, struct packs *packs, size_t index)
{
	struct pack_contents all = { 0 };
	struct one_pack *pack = find_newest(packs);
	bool sound;

	while (pack && pack->number != index)
		pack = pack->next;
	if (!pack)
		return ckpt_error_set(CKPT_ENOTFOUND, "no such pack");
	all.name = pack->name;
	sound = list_items(&all, pack);
	if (map_once(packs, pack) == PACK_MAPPED) {
		all.data = pack->pack.data;
		sound = sound && measure_items(&all, pack);
	}
	all.bytes = pack->index.size + pack->bytes;
	if (!sound) {
		packs_contents_release(&all);
		return ckpt_error_set(CKPT_ECORRUPT, "the index of the pack '%s' is damaged",
				      pack->name);
	}
	*out = all;
	return 0;
}

void packs_contents_release(struct pack_contents *contents)
{
	free(contents->items);
	*contents = (struct pack_contents){ 0 };
}
