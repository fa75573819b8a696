/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_STATCACHE_H
#define CKPT_TREE_STATCACHE_H

#include "tree/wt_tree.h"

/* --- on which boot something was read: origin.c --- */

/**
 * Where something was read: on which boot of which machine, from which mounted
 * file system.
 *
 * It decides what the times of a file prove. While the system runs, a file
 * whose times did not change has the contents that were read. A power cut
 * breaks this: what was read may have been in memory only, and after the cut a
 * journal brings back the new size, times and inode of a file that was edited
 * in place, but not its data. So what was read on another boot is read again.
 *
 * Once is enough. A file that has the same times on two boots was not written
 * during the second, so what is read there came from the disk, and what was on
 * the disk stays. It is then settled: later boots need not read it. This relies
 * neither on clocks, which jump, nor on writeback intervals, which users may
 * switch off; and a file is read for this reason once in its life, not once per
 * boot. (60,000 files, 200 MB, two cores: reading everything takes 1.5 s from
 * memory and 7 s from a disk just after boot, while only checking takes 0.1 and
 * 1.3 s.)
 *
 * "On the second boot" must mean that the memory of the first is gone. With
 * network and user space file systems it is another machine's memory that
 * matters: they never settle anything, and everything is read after each boot.
 *
 * A file system that was unmounted and mounted again without a reboot, say
 * because its disk was unplugged, is recognised by the inode of the directory
 * that the kernel makes for it in /sys/fs (not by the mount: each container and
 * each sandbox has its own mounts of the same memory), or by its device; then
 * everything is read, but nothing settles.
 *
 * Without /proc the boot is unknown; then nothing that is not settled is
 * trusted, not even what was read a moment ago.
 *
 * Not detected: the disk of the worktree is rolled back to an earlier state
 * while the store is on another.
 */
enum { BOOT_ID_SIZE = 16 };

struct origin {
	unsigned char boot[BOOT_ID_SIZE]; /**< the kernel's boot id; all 0: unknown */
	uint64_t dev;                     /**< st_dev */
	uint64_t fsid;                    /**< f_fsid */
	uint64_t fstype;                  /**< f_type */
	uint64_t mount;                   /**< inode of its directory in /sys/fs; 0: unknown */
};

enum origin_relation {
	ORIGIN_SAME,    /**< same boot, same mount: times can be trusted */
	ORIGIN_EARLIER, /**< another boot: read again, which settles it */
	ORIGIN_UNSURE,  /**< read again, which proves nothing for later */
};

/** The origin of the file system that `fd` is on, now; what cannot be determined is 0. */
void origin_now(struct origin *out, int fd);

/** What `then` is, as seen from `now`. */
enum origin_relation origin_compare(const struct origin *then, const struct origin *now);

/** True if the file system keeps its files on a disk of this machine. */
bool origin_on_disk(const struct origin *origin);

/* --- files that need not be read again: statcache.c --- */

/**
 * The stat cache: what stat(2) said of every file when its contents were last
 * read, and what was read. With it a file whose times, size, inode and mode
 * did not change is not read again, a directory whose own times did not change
 * is not listed again, and a directory in which nothing changed keeps its
 * tree.
 *
 * The file is used as it is, mapped or block by block. Each directory is a block
 * with its own checksums, read only when the walk gets there; a block that is
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

/** What a directory is like that cannot be skipped, even if nobody changed it. */
enum statcache_flags {
	STATCACHE_LOOK = 1 << 0, /**< something in it may change without anybody seeing it: a file
				  * with other names, now or a while ago, or read while it was
				  * written */
	STATCACHE_INDEX = 1 << 1, /**< what is captured of it depends on what is tracked */
	STATCACHE_NOTES = 1 << 2, /**< it has notes */
	STATCACHE_FLAGS = (1 << 3) - 1,
};

/**
 * The head of a directory's block; the modes belong to it. Entries, names and notes follow, with a
 * checksum of their own: whoever only wants to know what all below adds up to does not read them.
 */
struct statcache_dir {
	uint32_t crc;	   /**< of the rest of the head, with the modes */
	uint32_t body_crc; /**< of what follows them */
	uint32_t nr;
	uint32_t modes_nr;
	uint32_t names_len;
	uint32_t notes_len;
	uint16_t listing; /**< enum wt_listing */
	uint8_t own;	  /**< enum statcache_flags */
	uint8_t below;	  /**< the same for all directories below it together */
	uint32_t padding;
	struct wt_stat st;
	uint64_t rules;
	struct wt_counts counts; /**< of everything below */
	struct oid tree;
	uint32_t padding2;
	unsigned char sha256[SHA256_SIZE]; /**< its part of the state hash */
};

struct statcache_entry {
	struct wt_stat st;
	uint64_t child; /**< offset of a directory's block, else 0 */
	uint32_t name_at;  /**< offset in the block's names; a NUL follows the name */
	uint32_t name_len;
	uint16_t mode;
	uint8_t kind;
	uint8_t flags; /**< WT_RACY, WT_SETTLED, WT_LINKED */
	struct oid oid;
	unsigned char sha256[SHA256_SIZE];
};

/** A moment in the life of one watcher; see watched.h. All 0: nobody watched. */
struct watch_mark {
	uint64_t instance;
	uint64_t tick;
};

struct statcache_head {
	struct oid commit;    /**< the checkpoint that it describes */
	uint32_t padding;     /**< 0: what is written to disk has no gaps */
	uint64_t packs;       /**< a fingerprint of the packs at that time, see store/objects.h */
	struct origin origin; /**< where its files were read: how far their times can be trusted */
	struct watch_mark mark; /**< when the walk began that it comes from */
	int64_t full_at; /**< when everything was last looked at, by clock_monotonic() */
	uint64_t circumstances; /**< what a walk depends on besides files and rules, see scan.h */
	struct wt_stat index; /**< of the project's index when the walk began; all 0: none, or it
			       * had just changed */
};

/**
 * Which cache it is. While `base` stays the same, blocks are only added, after `size` bytes: a
 * directory whose block is further in front is as it was, with everything below it.
 */
struct statcache_id {
	uint64_t base;
	uint64_t size;
};

/** NULL if there is none, or it cannot be used. */
struct statcache *statcache_open(int dirfd, const char *path);
void statcache_close(struct statcache *cache);

const struct statcache_head *statcache_head(const struct statcache *cache);

struct statcache_id statcache_id(const struct statcache *cache);

/** With what was added to it since it was opened. */
uint64_t statcache_size(const struct statcache *cache);

/** Where a block begins; 0 if it is not one of this cache. */
uint64_t statcache_offset(const struct statcache *cache, const struct statcache_dir *dir);

/** The root's block, or NULL. */
const struct statcache_dir *statcache_root(const struct statcache *cache);

/** The block of a directory entry, or NULL if it is damaged. */
const struct statcache_dir *statcache_child(const struct statcache *cache,
					    const struct statcache_entry *entry);

/** The same, but only its head was checked; statcache_sound() checks the rest. */
const struct statcache_dir *statcache_glance(const struct statcache *cache,
					     const struct statcache_entry *entry);
bool statcache_sound(const struct statcache *cache, const struct statcache_dir *dir);

/** Everything will be needed: faster at once than block by block. */
void statcache_populate(struct statcache *cache);

/** How many of each mode are below it, sorted. */
static inline const struct wt_mode_count *statcache_modes(const struct statcache_dir *dir)
{
	return (const struct wt_mode_count *)(dir + 1);
}

static inline const struct statcache_entry *statcache_entries(const struct statcache_dir *dir)
{
	return (const struct statcache_entry *)(statcache_modes(dir) + dir->modes_nr);
}

static inline const char *statcache_name(const struct statcache_dir *dir,
					 const struct statcache_entry *entry)
{
	return (const char *)(statcache_entries(dir) + dir->nr) + entry->name_at;
}

struct statcache_note {
	const char *path;
	uint8_t kind; /**< enum wt_note_kind */
	uint8_t why;
};

/** The next note of a directory; `at` is 0 for the first. False if there are no more. */
bool statcache_next_note(struct statcache_note *note, size_t *at, const struct statcache_dir *dir);

/* --- statcache_write.c --- */

/** Whether the notes of a directory, and what follows from them, are those of its block. */
bool statcache_same_notes(const struct wt_dir *dir);

/** An empty one, which is in no file yet. */
struct statcache *statcache_new(void);

/**
 * Describe another tree, captured as `head` says; all entries must be known, and all directories
 * hashed. If the tree was scanned with it, blocks of directories in which nothing changed stay; all of
 * them stay valid until it is closed. Only in memory.
 */
void statcache_update(struct statcache *cache, const struct statcache_head *head,
		      const struct wt_dir *root);

/**
 * Write it to its file, which the caller has locked with the store: what was added is appended, so
 * that the cost follows the change. With `small` all of it is written, to a file as small as can be.
 */
int statcache_save(struct statcache *cache, int dirfd, const char *path, bool small);

/**
 * Packs were changed without losing anything: if the cache was written with the
 * fingerprint `before`, it is valid with `after`.
 */
void statcache_set_packs(int dirfd, const char *path, uint64_t before, uint64_t after);

/** Nothing differs from what the file says; only change its head, if it is still that file. */
void statcache_set_head(struct statcache *cache, int dirfd, const char *path,
			const struct statcache_head *head);

#endif
