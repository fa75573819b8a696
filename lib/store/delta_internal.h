/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_DELTA_INTERNAL_H
#define CKPT_STORE_DELTA_INTERNAL_H

#include "base/base.h"

/**
 * Deltas as in git's packs (gitformat-pack(5)): how to make an object from
 * another one. The bytes are not trusted: whatever they are, nothing outside
 * base and delta is read, and no more memory is allocated than the
 * instructions fill.
 */

/**
 * The sizes of base and result that a delta begins with; 0, or CKPT_ECORRUPT
 * if they are malformed. They need not be true.
 */
int delta_sizes(uint64_t *base_out, uint64_t *result_out, const void *delta, size_t len);

/**
 * Append the result to `out`, which must not contain the base; CKPT_ECORRUPT,
 * with `out` unchanged, if the delta is malformed or made for another base.
 */
int delta_apply(struct strbuf *out, const void *base, size_t base_len, const void *delta,
		size_t len);

/**
 * Append to `out` a delta that makes a tree from another one: entries that both have are copied,
 * the others are in the delta. False if the tree is malformed; then what was appended is useless.
 */
bool delta_make_tree(struct strbuf *out, const void *base, size_t base_len, const void *tree,
		     size_t len);

#endif
