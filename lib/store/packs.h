/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKS_H
#define CKPT_STORE_PACKS_H

#include "store/objects.h"

/**
 * Reading packs, those that pack_write.c makes and those of stock git, with
 * their deltas: whether an object exists, and its contents, whole or in
 * pieces.
 *
 * libgit2 reads packs too, but takes a lock for every lookup, asks the file
 * system about loose objects that we never have, and holds a whole object in
 * memory, however large. Only loose objects (stock git may have written to the
 * store) are left to it, see objects.c.
 *
 * The packs are those that existed at packs_open() or were found by
 * packs_refresh(). Files are mapped, a pack on first use; a pack that was
 * removed before that has no objects. Safe from any number of threads, except
 * for packs_close().
 */
struct packs;

/** Never fails: a pack whose index is damaged has no objects. */
struct packs *packs_open(int storefd);
void packs_close(struct packs *packs);

/** Whether an existing pack has it. Reads no contents and never looks for new packs. */
bool packs_have(struct packs *packs, const struct oid *oid);

/** Read it and compare its name: false if it is damaged or missing. */
bool packs_sound(struct packs *packs, const struct oid *oid);

/**
 * Type and size. CKPT_ENOTFOUND if no pack has it, or only packs that are
 * gone; CKPT_ECORRUPT if there are only damaged copies; CKPT_ERROR if that is
 * unknown, for lack of descriptors or memory. The contents are not read: if
 * they are damaged the size may be wrong.
 */
int packs_stat(enum object_type *type_out, uint64_t *size_out, struct packs *packs,
	       const struct oid *oid);

/** Append the contents, checked against the name. Otherwise like packs_stat(). */
int packs_read(struct strbuf *out, enum object_type *type_out, struct packs *packs,
	       const struct oid *oid);

typedef int (*packs_piece_fn)(const void *data, size_t len, void *payload);

/**
 * Hand out the contents piece by piece, for objects too large for memory. The
 * name is checked when all is handed out: CKPT_ECORRUPT then means that the
 * pieces were wrong. Stops if `fn` fails. What is stored as a delta (git makes
 * none of large files) is held in memory and comes as one piece.
 */
int packs_stream(struct packs *packs, const struct oid *oid, packs_piece_fn fn, void *payload);

/**
 * Look for packs that appeared since, after something was not found: another
 * process may have repacked what was in packs that are gone now. True if there
 * are new ones. Known packs stay as they are. Costs one fstat(2) if the
 * directory has not changed; if it changed a moment ago, up to a tenth of a
 * second.
 *
 * If several threads do this, one finds the packs and the others do not:
 * compare packs_count() with its value before the search.
 */
bool packs_refresh(struct packs *packs);

/** One object as it is stored in a pack. */
struct packed {
	struct oid oid;
	uint64_t offset;
	uint64_t len; /**< of its bytes in the pack, including the header; 0 if the pack is not mapped */
	uint32_t crc; /**< of these bytes, according to the index */
};

/** The contents of one pack. */
struct pack_contents {
	const char *name;     /**< "pack-<hex>", valid as long as the packs are open */
	struct packed *items; /**< by offset */
	size_t nr;
	uint64_t bytes;		   /**< on disk, pack and index */
	const unsigned char *data; /**< the mapped pack; NULL: missing or truncated */
	/**
	 * Stock git has packed it tightly: some deltas tell by a distance where their base is, and
	 * cannot be copied one by one.
	 */
	bool tight;
};

/** How many packs were found, including those that are gone. Never decreases. */
size_t packs_count(const struct packs *packs);

/**
 * The contents of pack `index`, counted in the order in which they were found.
 * For each entry a byte of the pack is read (see `tight`).
 *
 * The index is compared with the pack: CKPT_ECORRUPT if offsets are impossible
 * or shared, or if it has more or fewer entries than the pack. Names and
 * contents are not checked. A missing or truncated pack is not an error: then
 * `data` is NULL, and the items tell what should be in it.
 */
int packs_contents(struct pack_contents *out, struct packs *packs, size_t index);
void packs_contents_release(struct pack_contents *contents);

/** The bytes of its objects, whatever they are as deltas and deflated; from their headers. */
int packs_weigh(uint64_t *out, struct packs *packs, const struct pack_contents *contents);

#endif
