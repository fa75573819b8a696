/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_STATCACHE_INTERNAL_H
#define CKPT_TREE_STATCACHE_INTERNAL_H

#include "tree/statcache.h"

#include <pthread.h>

/**
 * The inside of a stat cache, for statcache*.c alone.
 *
 * The file: a header, then the blocks, children before their parents so that
 * offsets are known when they are written. Numbers are in the machine's byte
 * order; `byte_order` and the sizes in the header expose a file from another
 * kind of machine, or of another build.
 *
 * Blocks are never changed. If few directories changed, theirs and those above
 * are appended, and the header is written over: a reader has its own copy of
 * the old one, with which the old blocks make up the old tree. If that is
 * interrupted, the header has a wrong checksum or still is the old one, and
 * what follows the size that it tells does not count. When
 * half of the file is blocks of old trees, it is written from scratch.
 */
struct statcache_header {
	char magic[8];
	uint32_t crc; /**< of everything that follows in the header */
	uint32_t byte_order;
	uint32_t version;
	uint32_t entry_size;
	uint64_t file_size;
	uint64_t root;
	uint64_t full_size; /**< when it was last written from scratch */
	uint64_t base;	    /**< a number that no other file has; see struct statcache_id */
	struct statcache_head head;
};

enum { STATCACHE_VERSION = 1, STATCACHE_BYTE_ORDER = 0x01020304, STATCACHE_ALIGN = 8 };
enum { STATCACHE_ENTRY_FLAGS = WT_RACY | WT_SETTLED | WT_LINKED };

extern const char statcache_magic[8];

/** Blocks that were added since the file was opened; never moved. */
struct statcache_part {
	uint64_t at; /**< where they begin */
	char *data;
	size_t len;
};

/** A block that was read from the file. */
struct statcache_copy {
	uint64_t at;
	struct statcache_dir *dir; /**< memory for all of it, never moved */
	size_t have;		   /**< bytes that were read: the head, or everything */
};

struct statcache_copies {
	struct statcache_copy *items;
	size_t nr, alloc;
	struct hash_table by_offset, by_place;
};

/**
 * Blocks are read one by one (`copies`), unless somebody said that all of them will be needed: then
 * the file is mapped.
 */
struct statcache {
	int fd;		 /**< -1: there was no file */
	const char *map; /**< NULL: it is not mapped */
	size_t size;	 /**< of the file when it was opened */
	uint64_t in_map; /**< bytes of it that count, mapped or not */
	pthread_mutex_t lock;		/**< protects `copies` */
	struct statcache_copies copies;
	dev_t dev;
	ino_t ino; /**< 0: there is no file that can be added to */
	struct statcache_header in_file; /**< as it was when the file was opened or written */
	struct statcache_header header;	 /**< the same, unless there are parts that are not written */
	struct statcache_part *parts;
	size_t parts_nr, parts_alloc;
	size_t written; /**< how many of them are in the file */
};

/** Set everything that does not depend on the tree, and the checksum. */
void statcache_seal_header(struct statcache_header *header);

/** Each is a kind, a reason, a path and a NUL. */
static inline const char *statcache_notes(const struct statcache_dir *dir)
{
	return (const char *)(statcache_entries(dir) + dir->nr) + dir->names_len;
}

/* --- statcache.c --- */

/** The size of a block, from the numbers in its head. */
size_t statcache_block_size(const struct statcache_dir *dir);
void statcache_seal_block(struct statcache_dir *dir);

#endif
