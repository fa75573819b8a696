/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACK_H
#define CKPT_STORE_PACK_H

#include "store/objects.h"
#include "tree/tree.h"

/**
 * Writing packs: one pack and its index for each save, in git's format
 * (gitformat-pack(5)), version 2 both.
 *
 * Loose objects would cost a file, an fsync and a disk block each; libgit2's
 * pack builder wants every object in its database before it packs it. So this
 * is ours: each object deflated by the thread that read it and appended as it
 * comes. A save makes no deltas; where packs are merged, trees become deltas.
 *
 * Nothing is visible before pack_commit(): until then everything is in a
 * temporary, which pack_free() removes. An object that the store, or this
 * pack, already has is not written again.
 *
 * What a save adds is whole: see pack_demand_whole().
 */
struct pack;

/** What is known about an object in the pack; also for pack_verify.c. */
struct pack_entry {
	struct oid oid;
	uint32_t crc; /**< of the bytes in the pack */
	uint64_t offset;
	uint64_t len; /**< of the bytes in the pack */
};

/** For `workers` threads that add concurrently; `level` of deflate, 0 to 9. */
struct pack *pack_new(struct store *store, unsigned workers, unsigned level);
void pack_free(struct pack *pack);

/**
 * From now on a tree or commit can only be added after everything that it names: what is neither in
 * this pack nor in the store makes adding it fail with CKPT_ECORRUPT. So the commit of a checkpoint
 * cannot be made, and no ref to it, while any of its contents are missing.
 */
void pack_demand_whole(struct pack *pack);

/** Add an object whose name is known. Safe from any thread that uses its own `worker` number. */
int pack_add(struct pack *pack, unsigned worker, enum object_type type, const struct oid *oid,
	     const void *data, size_t len);

/** Name an object and add it. */
int pack_add_new(struct pack *pack, struct oid *oid_out, enum object_type type, const void *data,
		 size_t len);

/** Feeds pack_add_stream(): the number of bytes put into `buf`, 0 at the end, negative on failure. */
typedef int (*pack_read_fn)(void *buf, size_t size, void *payload);

struct pack_source {
	uint64_t size;
	pack_read_fn read;
	void *payload;
	struct digest *sha256; /**< is fed the same bytes; may be NULL */
	/**
	 * Its name, if its bytes were hashed before, else NULL. Then `read` must make sure that they
	 * are the same; if they are not, pack_commit() fails.
	 */
	const struct oid *name;
};

/**
 * Add a blob that is too large to be held in memory. Without a name, it is found while the blob is
 * read and written; if the store has it already, or if there are more or fewer bytes than `size`
 * (CKPT_ERROR), what was written is discarded. The threads of the pack share the work; no other
 * thread may add at the same time.
 */
int pack_add_stream(struct pack *pack, struct oid *oid_out, const struct pack_source *source);

/**
 * Add an object as it is stored in another pack: `len` bytes with the header
 * before the deflated ones. If it is a delta, then one that names its base, which must be added,
 * too. It is written even if the store has it. Only worker 0 may add at the same time.
 */
int pack_add_copy(struct pack *pack, const struct oid *oid, const void *bytes, size_t len,
		  uint32_t crc);

/** Likewise an object that has to be deflated. */
int pack_add_anew(struct pack *pack, enum object_type type, const struct oid *oid, const void *data,
		  size_t len);

/** Likewise a delta; its base must be added, too. */
int pack_add_delta(struct pack *pack, const struct oid *oid, const struct oid *base,
		   const void *delta, size_t len);

/** Limit the size of the pack; beyond it, adding fails with CKPT_EREFUSED. 0: no limit. */
void pack_set_limit(struct pack *pack, uint64_t bytes);

/** True if the store, or this pack, has an object, so that it need not be added. */
bool pack_has(struct pack *pack, const struct oid *oid);

/** True if nothing was added. */
bool pack_is_empty(struct pack *pack);

/**
 * Complete the pack: read every object back from it and compare its name, write the index, sync
 * both and move them into place. After this the objects survive a power cut. `bytes_out` (may be
 * NULL) is set to the bytes on disk. Does nothing for an empty pack.
 */
int pack_commit(struct pack *pack, uint64_t *bytes_out);

/** True after pack_commit() if it wrote this object, and so has just read it back. */
bool pack_wrote(struct pack *pack, const struct oid *oid);

/** After pack_commit(): the name that stock git gives it, without "pack-"; all zero if it was empty. */
const struct oid *pack_id(const struct pack *pack);

/* --- parts, for the files of the writer and their tests --- */

enum { PACK_HEADER_SIZE = 12 };

/** Types of entries that enum object_type does not have. */
enum { PACK_OFS_DELTA = 6, PACK_REF_DELTA = 7 };

/**
 * Parse the header before the deflated bytes of an object: its type, which may be that of a delta,
 * and its size. Returns the length of the header; 0 if it is malformed.
 */
size_t pack_entry_header(unsigned *type, uint64_t *size, const unsigned char *p, size_t len);

/** Append the index of `nr` entries, sorted by oid. */
void pack_make_index(struct strbuf *out, const struct pack_entry *entries, size_t nr,
		     const struct oid *pack_id);

/** Write it to `fd`. */
int pack_write_index(int fd, const struct pack_entry *entries, size_t nr, const struct oid *pack_id);

/**
 * Read the pack in `fd` of `size` bytes (without the trailer) and check the
 * checksum and the name of each object, with `threads` threads; compute the
 * pack's SHA-1 on the way. `entries` must be sorted by offset. Only with
 * `deltas` some may be deltas, whose bases must be in the pack.
 * `progress` may be NULL.
 */
int pack_verify(struct oid *pack_id_out, int fd, uint64_t size, const struct pack_entry *entries,
		size_t nr, bool deltas, unsigned threads, progress_fn progress);

#endif
