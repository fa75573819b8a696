/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_STATCACHE_H
#define CKPT_WORKTREE_STATCACHE_H

#include "base/base.h"
#include "worktree/origin.h"
#include "worktree/wt_tree.h"

/**
 * The stat cache: what stat(2) said of every file when its contents were last
 * read, and what was read. With it a file whose times, size, inode and mode
 * did not change is not read again, a directory whose own times did not change
 * is not listed again, and a directory in which nothing changed keeps its
 * tree.
 *
 * The file is mapped into memory and used as it is. Each directory is a block
 * with its own checksum, read only when the walk gets there; a block that is
 * damaged, or a file that is truncated, foreign, of another version or
 * missing, counts as "nothing known": everything is read again, and nothing
 * worse happens. Even a block with a correct checksum is not trusted: each
 * offset, count and name in it is checked before use, and if one cannot be
 * right the whole block is unknown, with everything below.
 *
 * It describes one checkpoint, named in its header. While that checkpoint is
 * in the store, so are all its objects; the caller checks this before relying
 * on them (see `checkpoint` and `packs`).
 */
struct statcache;

/** The header of a directory's block; its entries follow. */
struct statcache_dir {
	uint32_t crc; /**< of everything that follows in the block */
	uint32_t nr;
	uint32_t names_len;
	uint32_t listing; /**< enum wt_listing */
	struct wt_stat st;
	uint64_t rules;
	struct oid tree;
	uint32_t padding;
	unsigned char sha256[SHA256_SIZE]; /**< its part of the state hash */
};

struct statcache_entry {
	struct wt_stat st;
	uint64_t child; /**< offset of a directory's block, else 0 */
	uint32_t name_at;  /**< offset in the block's names; a NUL follows the name */
	uint32_t name_len;
	uint16_t mode;
	uint8_t kind;
	uint8_t flags; /**< WT_RACY, WT_SETTLED */
	struct oid oid;
	unsigned char sha256[SHA256_SIZE];
};

struct statcache_head {
	struct oid commit;    /**< the checkpoint that it describes */
	uint32_t padding;     /**< 0: what is written to disk has no gaps */
	uint64_t packs;       /**< a fingerprint of the packs at that time, see store/objects.h */
	struct origin origin; /**< where its files were read: how far their times can be trusted */
};

/** NULL if there is none, or it cannot be used. */
struct statcache *statcache_open(int dirfd, const char *path);
void statcache_close(struct statcache *cache);

const struct statcache_head *statcache_head(const struct statcache *cache);

/** The root's block, or NULL. */
const struct statcache_dir *statcache_root(const struct statcache *cache);

/** The block of a directory entry, or NULL if it is damaged. */
const struct statcache_dir *statcache_child(const struct statcache *cache,
					    const struct statcache_entry *entry);

static inline const struct statcache_entry *statcache_entries(const struct statcache_dir *dir)
{
	return (const struct statcache_entry *)(dir + 1);
}

static inline const char *statcache_name(const struct statcache_dir *dir,
					 const struct statcache_entry *entry)
{
	return (const char *)(statcache_entries(dir) + dir->nr) + entry->name_at;
}

/**
 * Write the cache for a tree that was captured as `head` describes; all entries must be known, and
 * all directories hashed. `old` is the cache that the tree was scanned with: what did not change
 * stays where it is, so that the cost follows the change; NULL: write all of it, to a file as small
 * as can be. The caller has the lock of the store.
 */
int statcache_write(int dirfd, const char *path, const struct statcache_head *head,
		    const struct wt_dir *root, const struct statcache *old);

/**
 * Packs were changed without losing anything: if the cache was written with the
 * fingerprint `before`, it is valid with `after`.
 */
void statcache_set_packs(int dirfd, const char *path, uint64_t before, uint64_t after);

#endif
