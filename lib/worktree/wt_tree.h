/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_WT_TREE_H
#define CKPT_WORKTREE_WT_TREE_H

#include "base/base.h"

/**
 * A directory tree in memory, as a scan finds it.
 *
 * Entries of a directory are in the order of git's trees: by bytes of the
 * name, with "/" appended to the name of a directory. Walked in this order,
 * files come in byte order of their full path.
 */
enum wt_kind { WT_FILE, WT_LINK, WT_DIR };

enum wt_flags {
	WT_KNOWN = 1 << 0, /**< oid and sha256 are those of the current contents */
	WT_RACY = 1 << 1,  /**< its times cannot be trusted later: it just changed, or has a writer */
	WT_DEAD = 1 << 2,  /**< not captured after all; removed by wt_compact() */
	WT_TOUCHED = 1 << 3, /**< its size is the cached one, but its contents must be read */
	WT_SETTLED = 1 << 4, /**< its contents came from the disk: a power cut does not change them */
	WT_EARLIER = 1 << 5, /**< had the same times on an earlier boot; reading it settles it */
	WT_LINKED = 1 << 6,  /**< a file with other names (hard links), in the worktree or elsewhere */
};

/** What is known about the names in a directory. */
enum wt_listing {
	WT_PLAIN = 1 << 0,     /**< every name was captured, and none only because it is tracked */
	WT_GITIGNORE = 1 << 1, /**< there is a .gitignore */
	WT_WHOLE = 1 << 2,     /**< as WT_PLAIN, but only when it was looked at: it may be changing */
};

/** What shows whether a file may have changed. */
struct wt_stat {
	uint64_t size;
	int64_t mtime_ns;
	int64_t ctime_ns;
	uint64_t ino;
};

struct wt_entry {
	const char *name;
	uint32_t name_len;
	uint16_t mode; /**< permission bits, 07777 */
	uint8_t kind;
	uint8_t flags;
	struct wt_stat st;
	struct oid oid; /**< blob; of a directory see `dir->tree` */
	unsigned char sha256[SHA256_SIZE]; /**< of the contents or of the link target */
	struct wt_dir *dir;                /**< of a WT_DIR */
};

struct statcache_dir;

struct wt_dir {
	const char *path; /**< relative to the root, "" for the root */
	struct wt_dir *parent;
	struct wt_stat st;    /**< of the directory itself, from before it was listed */
	uint64_t rules;       /**< fingerprint of the rules that applied in it */
	uint8_t listing;      /**< enum wt_listing */
	struct wt_entry *entries;
	size_t nr;
	struct oid tree;   /**< valid if `known` */
	bool known;        /**< nothing below differs from the cache, or the tree was built */
	bool hashed;       /**< `sha256` is that of what is below now */
	unsigned char sha256[SHA256_SIZE]; /**< its part of the state hash, see statehash.h */
	bool ignored;      /**< only tracked files in it are captured; without any it does not count */
	bool lost;         /**< could not be read: not part of the tree */
	bool outside;      /**< only on the way to the scope: its mode is not recorded */
	const struct statcache_dir *cached; /**< what the stat cache has of it, or NULL */
};

/** Order of git's trees. */
int wt_name_compare(const char *a, size_t a_len, bool a_dir, const char *b, size_t b_len,
		    bool b_dir);
int wt_entry_compare(const void *a, const void *b);

void wt_stat_from(struct wt_stat *out, const struct stat *st);
bool wt_stat_equal(const struct wt_stat *a, const struct wt_stat *b);

/**
 * True if a file with these times, read no earlier than `read_ns` (see
 * clock_file_ns()), could change again without a change of its times.
 */
bool wt_stat_racy(const struct wt_stat *st, int64_t read_ns);

/** Mode as in the state hash: 0100644, 0120000, 040000. */
static inline unsigned wt_entry_mode(const struct wt_entry *entry)
{
	switch (entry->kind) {
	case WT_LINK:
		return 0120000;
	case WT_DIR:
		return 0040000;
	default:
		return 0100000u | entry->mode;
	}
}

/** Mode as in a git tree. */
static inline unsigned wt_git_mode(const struct wt_entry *entry)
{
	if (entry->kind != WT_FILE)
		return wt_entry_mode(entry);
	return entry->mode & 0100 ? 0100755 : 0100644;
}

/** Remove dead entries below `dir`. */
void wt_compact(struct wt_dir *dir);

/** The entry of that name in a directory, or NULL. */
struct wt_entry *wt_child(const struct wt_dir *dir, const char *name, size_t len);

/** The entry at a path, or NULL. */
const struct wt_entry *wt_find(const struct wt_dir *root, const char *path);

struct wt_counts {
	uint64_t files; /**< files and links */
	uint64_t dirs;  /**< without the root */
	uint64_t bytes;
};

void wt_count(struct wt_counts *out, const struct wt_dir *dir);

/**
 * Called in byte order of path for what makes up the state hash: files, links,
 * and directories with nothing below. `path` is valid during the call.
 */
typedef int (*wt_visit_fn)(const char *path, size_t len, const struct wt_entry *entry,
			   void *payload);
int wt_visit(const struct wt_dir *root, wt_visit_fn fn, void *payload);

#endif
