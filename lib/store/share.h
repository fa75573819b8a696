/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_SHARE_H
#define CKPT_STORE_SHARE_H

#include "base/base.h"

struct oidset;
struct store;

/**
 * Packs that several stores use, as hard links. This is safe because nobody
 * writes to a pack that is in place: every command makes new files and removes
 * names, and what one store removes the others still have.
 *
 * What it costs: the disk has the contents once, so damage to them is damage
 * in every store that shares them. Each object is therefore compared with its
 * checksum before a pack is linked; and a store that makes new packs (`gc`, a
 * repair) has its own copy from then on.
 */

/**
 * Link those packs of `from` that consist mostly of what is wanted and are
 * intact. `store` is locked, `from` need not be: a pack that vanishes meanwhile
 * is left out, as is one of another user or on another file system. Returns the
 * bytes that were linked; no more than `limit` (0: any number).
 */
uint64_t share_packs(struct store *store, struct store *from, const struct oidset *wanted,
		     uint64_t limit);

#endif
