/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REPACK_INTERNAL_H
#define CKPT_STORE_REPACK_INTERNAL_H

#include "base/base.h"
#include "store/packs.h"

struct store;

/** What is copied from old packs into a new one, for repack_copy.c and repack_trees.c alone. */
struct repack_item {
	const struct packed *packed;
	const unsigned char *bytes;  /**< its entry */
	unsigned type;		     /**< of the entry */
	const struct repack_item *base; /**< of a delta; NULL: it is written whole */
	unsigned height;	     /**< the longest chain of deltas that rests on it */
	struct strbuf delta;	     /**< a new one, made of `base`; empty: the entry is copied */
	bool visited;
};

struct repack_items {
	struct repack_item *items; /**< in the order in which they are written */
	size_t nr, alloc;
	struct repack_item **by_oid;
};

/** The one with that name, or NULL. */
struct repack_item *repack_find(const struct repack_items *items, const struct oid *oid);

/**
 * Make deltas of trees that have the same path in several of the commits among `items`. What
 * cannot be read stays as it is.
 */
void repack_trees(struct repack_items *items, struct store *store);

#endif
