/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKS_INTERNAL_H
#define CKPT_STORE_PACKS_INTERNAL_H

#include "store/packs.h"

#include <stdatomic.h>

/**
 * Which packs exist and where objects are in them: the part of packs.c on
 * which packs_read.c, packs_inflate.c and rescue.c build. Not for any other file.
 */

/** The parts of an index. */
enum { INDEX_HEAD = 8, INDEX_FANOUT = 256 * 4, INDEX_TRAILERS = 2 * OID_SIZE };

/** Pack or index: its last bytes are the SHA-1 of all before them. */
bool packs_checksum_right(const struct map *file);

enum pack_state {
	PACK_UNTRIED, /**< or it cannot be opened now, for lack of descriptors or memory */
	PACK_MAPPED,
	PACK_GONE, /**< the file no longer exists */
	PACK_BAD,  /**< truncated, not the pack of the index, or impossible to open */
};

/** All but the last three are constant once it is in the list. */
struct one_pack {
	struct one_pack *next; /**< the one that was found before this */
	size_t number;	       /**< counted from the first that was found */
	char *name;	       /**< without its extension */
	struct map index;
	uint32_t nr;	  /**< number of objects, according to the index */
	struct map pack;  /**< only valid once its state is PACK_MAPPED */
	uint64_t bytes;	  /**< of the pack on disk, even if it is PACK_BAD */
	atomic_int state; /**< enum pack_state */
};

struct packs_at {
	const struct one_pack *pack; /**< where to continue, and where a base is looked for first */
	const unsigned char *data;   /**< the mapped pack from its start */
	uint64_t offset;	     /**< of the object, within `data` and after the header */
	uint64_t end;		     /**< of the last object: the trailer starts here */
};

/**
 * The next copy of an object: the newest if `where->pack` is NULL, otherwise
 * the one after it. CKPT_ENOTFOUND if there are no more; packs that are gone
 * are skipped. CKPT_ERROR if it may be in a pack that cannot be opened now.
 * CKPT_ECORRUPT if this copy cannot be read; the caller may ask for the next
 * one.
 */
int packs_next(struct packs_at *where, struct packs *packs, const struct oid *oid);

/** An object in the same pack as `where`; like packs_next(). */
int packs_beside(struct packs_at *out, const struct packs_at *where, const struct oid *oid);

/**
 * Read the object whose entry is at an offset, which may be in a pack that is not in the list. Without
 * `at->pack`, bases of REF_DELTA entries are searched in the listed packs only. The name of the
 * object is not checked. `used_out` gets the length of its entry. CKPT_ECORRUPT if it is damaged.
 */
int packs_read_at(struct strbuf *out, enum object_type *type_out, size_t *used_out,
		  struct packs *packs, const struct packs_at *at);

/** Set the message that an object is damaged, and return CKPT_ECORRUPT. */
int packs_damaged(const struct oid *oid);

static inline uint32_t packs_get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/** Deflated bytes in a pack. */
struct deflated {
	uint64_t size; /**< when inflated, according to the header before them */
	const unsigned char *data;
	size_t left; /**< to the end of the pack */
};

/**
 * Inflate piece by piece. `fn` gets the pieces in order, one at a time, but not always from the same
 * thread; `sha1` (may be NULL) is fed with them. `used_out` (may be NULL) gets the number of bytes
 * that it took.
 */
int packs_inflate(size_t *used_out, const struct deflated *from, const struct oid *oid,
		  struct digest *sha1, packs_piece_fn fn, void *payload);

#endif
