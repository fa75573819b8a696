/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_WT_TREE_H
#define CKPT_TREE_WT_TREE_H

#include "base/base.h"

/**
 * A directory tree in memory, as a scan finds it.
 *
 * Entries of a directory are in the order of git's trees: by bytes of the
 * name, with "/" appended to the name of a directory. Walked in this order,
 * files come in byte order of their full path.
 */
enum wt_kind { WT_FILE, WT_LINK, WT_DIR };

/**
 * How deep a tree may be, as in git (core.maxTreeDepth). What makes trees, the scan and whatever
 * reads those of a store, goes no further: so everything else may recurse over them.
 */
enum { WT_DEPTH_MAX = 2048 };

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
	WT_TIMED = 1 << 3,     /**< any name that comes or goes later changes its times; those that are
				* not captured were left out, or are noted */
	WT_RENAMED = 1 << 4,   /**< names came or went since everything was last looked at: a file in
				* it may have been linked to elsewhere for a moment */
	WT_NAMES = WT_PLAIN | WT_WHOLE | WT_TIMED,
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

/** What a walk noted in a directory: names that are not in the tree, or not only there. */
enum wt_note_kind {
	WT_NOTE_SKIP,	 /**< could not be captured */
	WT_NOTE_DEFAULT, /**< a default pattern left it out */
	WT_NOTE_SECRET,	 /**< captured, but looks like a secret */
	WT_NOTE_REPO,	 /**< has a repository of its own */
	WT_NOTE_LEFT,	 /**< a directory that a rule left out, and that would count with one */
	WT_NOTES,
};

struct wt_note {
	struct wt_note *next;
	const char *path; /**< relative to the root */
	uint8_t kind;
	uint8_t why; /**< WT_NOTE_SKIP: enum skip_why */
};

struct statcache_dir;
struct wt_source;

struct wt_dir {
	const char *path; /**< relative to the root, "" for the root */
	struct wt_dir *parent;
	const struct wt_source *source; /**< has the entries, which nobody asked for yet; or NULL */
	struct wt_stat st;    /**< of the directory itself, from before it was listed */
	uint64_t rules;       /**< fingerprint of the rules that applied in it */
	uint8_t listing;      /**< enum wt_listing */
	uint16_t depth;       /**< of the root 0; no more than WT_DEPTH_MAX */
	struct wt_entry *loaded; /**< the entries, once somebody asked for them: wt_entries() */
	size_t nr;
	struct oid tree;   /**< valid if `known` */
	bool known;        /**< nothing below differs from the cache, or the tree was built */
	bool hashed;       /**< `sha256` is that of what is below now */
	unsigned char sha256[SHA256_SIZE]; /**< its part of the state hash, see statehash.h */
	bool ignored;      /**< only tracked files in it are captured; without any it does not count */
	bool lost;         /**< could not be read: not part of the tree */
	bool same;         /**< it and everything below is exactly what `cached` says */
	bool look;         /**< it must be looked at each time, whoever says that nothing changed */
	bool outside;      /**< only on the way to the scope: its mode is not recorded */
	const struct statcache_dir *cached; /**< what the stat cache has of it, or NULL */
	struct wt_note *notes; /**< in no particular order */
};

/** Sets `loaded` of a directory, which has its `nr` already. */
struct wt_source {
	void (*load)(struct wt_dir *dir);
};

/**
 * The entries of a directory, in order. They are loaded when they are first asked for, if nobody
 * had a reason to look at the directory; only one thread may do this at a time. A directory of a
 * snapshot is not loaded like this: see snapshot_expand().
 */
static inline struct wt_entry *wt_entries(const struct wt_dir *dir)
{
	if (dir->source)
		dir->source->load((struct wt_dir *)dir);
	return dir->loaded;
}

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

/** What was noted in a directory that is not captured after all is kept with its parent. */
void wt_inherit_notes(struct wt_dir *parent, struct wt_dir *dir);

/** Remove dead entries of `dir`, and directories that nothing is left of; below them it is done. */
void wt_compact_dir(struct wt_dir *dir);

/** The same for all that is below `dir`. */
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

/** How many of each mode there are: permission bits, and WT_MODE_DIR for a directory. */
enum { WT_MODE_DIR = 1 << 12, WT_MODES = 1 << 13 };

struct wt_mode_count {
	uint32_t mode;
	uint32_t nr;
};

/** Of everything below `dir`, without links and without directories on the way to a scope. */
void wt_count_modes(uint32_t counts[WT_MODES], const struct wt_dir *dir);

/** False if it is certain that nothing below `dir` has a mode for which `fn` is true. */
bool wt_has_mode(const struct wt_dir *dir, bool (*fn)(unsigned mode, void *payload), void *payload);

/**
 * Called in byte order of path for what makes up the state hash: files, links,
 * and directories with nothing below. `path` is valid during the call.
 */
typedef int (*wt_visit_fn)(const char *path, size_t len, const struct wt_entry *entry,
			   void *payload);
int wt_visit(const struct wt_dir *root, wt_visit_fn fn, void *payload);

#endif
