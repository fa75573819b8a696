/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKS_INFLATE_INTERNAL_H
#define CKPT_STORE_PACKS_INFLATE_INTERNAL_H

#include "base/base.h"
#include "store/packs.h"

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
