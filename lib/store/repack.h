/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REPACK_H
#define CKPT_STORE_REPACK_H

#include "base/base.h"
#include "store/packs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/**
 * New packs from old ones. The store must be locked.
 *
 * repack_copy() moves objects as they are, deflated bytes and all: as fast as
 * the disk, but without deltas. repack_tight() lets stock git search for deltas
 * (pack-objects knows how, and its packs are what everybody can read) and is
 * the one thing that may be done without the lock.
 */

typedef bool (*repack_wanted_fn)(const struct oid *oid, void *payload);

/**
 * Copy what is wanted of these packs, none of which has deltas, into a new
 * pack, durable on return. `name_out` gets its name ("pack-<hex>", "" if
 * nothing was wanted). What is damaged is not copied; `damaged_out` gets the
 * names of packs with such an object: they must stay.
 */
int repack_copy(char **name_out, struct strlist *damaged_out, struct store *store,
		const struct pack_contents *packs, size_t nr, unsigned threads,
		repack_wanted_fn wanted, void *payload);

/** True if the bytes of this object are those that its pack was written with. */
bool repack_intact(const struct pack_contents *pack, const struct packed *item);

/** Remove a pack: first what makes it visible. Not durable before the directory is synced. */
int repack_remove(struct store *store, const char *name);

/** True if somebody asked stock git to keep it. */
bool repack_is_kept(struct store *store, const char *name);

/** Where repack_tight() leaves its result, in the store. */
#define REPACK_DIR "checkpoint/gc"

/**
 * Have stock git make one pack of the objects in `list` ("<hex> <name>" lines)
 * in REPACK_DIR, check it and sync it. Deltas that there are already are kept,
 * and new ones made for what lies in different packs or loses its base; with
 * REPACK_SEARCH all are looked for anew, which takes long; with REPACK_SHOW git
 * shows on stderr how far it is. `name_out` is its name. CKPT_ENOTFOUND: there
 * is no git here. CKPT_ELOCKED: it was asked to yield.
 */
enum repack_flags { REPACK_SEARCH = 1 << 0, REPACK_SHOW = 1 << 1 };

int repack_tight(char **name_out, struct store *store, const struct strbuf *list, unsigned flags,
		 unsigned threads);

/** Put that pack in place, durably. */
int repack_adopt(struct store *store, const char *name);

/** Remove what killed ones left behind; nobody else may be packing. */
void repack_sweep(struct store *store);

#endif
