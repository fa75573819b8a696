/* SPDX-License-Identifier: MIT */
#include "store/share.h"

#include "store/oidset.h"
#include "store/packs.h"
#include "store/packs_internal.h"
#include "store/repack.h"
#include "store/shadow.h"

#define DIR_NAME "objects/pack"

/* Whoever can write to it could change what this store has. */
static bool is_ours(int dirfd, const char *path, const struct stat *own)
{
	struct stat st;

	return !fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       st.st_uid == own->st_uid && st.st_dev == own->st_dev && !(st.st_mode & 022);
}

static bool is_wanted(const struct pack_contents *pack, const struct oidset *wanted)
{
	uint64_t sum = 0, all = 0;

	for (size_t i = 0; i < pack->nr; i++) {
		all += pack->items[i].len;
		if (oidset_has(wanted, &pack->items[i].oid))
			sum += pack->items[i].len;
	}
	/* What it may bring along besides: as much again. */
	return sum && sum >= all - sum;
}

/* As it was written, names and contents: a damaged one is worth nothing to a second store. */
static bool is_intact(const struct store *from, const struct pack_contents *pack)
{
	char *path = xstrfmt(DIR_NAME "/%s.idx", pack->name);
	struct map index = map_file(from->dirfd, path);
	bool intact = packs_checksum_right(&index);

	for (size_t i = 0; i < pack->nr && intact; i++)
		intact = repack_intact(pack, &pack->items[i]);
	map_release(&index);
	free(path);
	return intact;
}

static bool link_part(const struct store *store, const struct store *from, const char *name,
		      const char *ending, const struct stat *own)
{
	char *path = xstrfmt(DIR_NAME "/%s%s", name, ending);
	bool linked = is_ours(from->dirfd, path, own) &&
		      (!linkat(from->dirfd, path, store->dirfd, path, 0) || errno == EEXIST);

	free(path);
	return linked;
}

/* The index last: with it the pack counts. */
static bool link_pack(struct store *store, const struct store *from, const char *name,
		      const struct stat *own)
{
	if (!link_part(store, from, name, ".pack", own))
		return false;
	if (link_part(store, from, name, ".idx", own))
		return true;
	(void)repack_remove(store, name);
	return false;
}

uint64_t share_packs(struct store *store, struct store *from, const struct oidset *wanted,
		     uint64_t limit)
{
	struct packs *packs = packs_open(from->dirfd);
	struct stat own, other;
	uint64_t sum = 0;

	if (fstat(store->dirfd, &own) < 0 || fstat(from->dirfd, &other) < 0 ||
	    own.st_uid != other.st_uid || own.st_dev != other.st_dev)
		goto out;
	for (size_t i = 0; i < packs_count(packs); i++) {
		struct pack_contents pack;

		if (packs_contents(&pack, packs, i))
			continue;
		if (pack.data && (!limit || sum + pack.bytes <= limit) && is_wanted(&pack, wanted) &&
		    is_intact(from, &pack) && link_pack(store, from, pack.name, &own))
			sum += pack.bytes;
		packs_contents_release(&pack);
	}
	/* A link that is lost in a crash would take a checkpoint with it. */
	if (sum && fs_sync_dir(store->dirfd, DIR_NAME))
		sum = 0;
out:
	packs_close(packs);
	return sum;
}
