/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKS_H
#define CKPT_STORE_PACKS_H

#include "base/oid.h"
#include "base/strbuf.h"
#include "store/objects.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * Reading packs as pack_write.c makes them: whether an object is there, and
 * its contents, whole or in pieces.
 *
 * libgit2 reads packs too, but takes a lock for every question, asks the file
 * system about loose objects that we never have, and holds a whole object in
 * memory, however large. What only it can read (deltas, loose objects: stock
 * git may have repacked the store) is left to it, see objects.c.
 *
 * The packs are those that were there at packs_open(). Files are mapped; safe
 * from any number of threads.
 */
struct packs;

/** Never fails: a pack whose index is damaged has no objects. */
struct packs *packs_open(int storefd);
void packs_close(struct packs *packs);

bool packs_have(struct packs *packs, const struct oid *oid);

/** Read it and compare its name: false if the stored copy is damaged. */
bool packs_sound(struct packs *packs, const struct oid *oid);

/**
 * Type and size. CKPT_ENOTFOUND also for what only libgit2 can read;
 * CKPT_ECORRUPT if the pack is damaged there.
 */
int packs_stat(enum object_type *type_out, uint64_t *size_out, struct packs *packs,
	       const struct oid *oid);

/** Append the contents, checked against the name. Else as packs_stat(). */
int packs_read(struct strbuf *out, enum object_type *type_out, struct packs *packs,
	       const struct oid *oid);

typedef int (*packs_piece_fn)(const void *data, size_t len, void *payload);

/**
 * Hand out the contents piece by piece, for objects too large for memory. The
 * name is checked when all is handed out: CKPT_ECORRUPT then means that the
 * pieces were wrong. Stops if `fn` fails.
 */
int packs_stream(struct packs *packs, const struct oid *oid, packs_piece_fn fn, void *payload);

#endif
