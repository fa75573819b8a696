/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REPACK_H
#define CKPT_STORE_REPACK_H

#include "store/packs.h"

/**
 * New packs from old ones. The store must be locked.
 *
 * repack_copy() moves objects as they are, without inflating them: as fast as
 * the disk. Only trees, which are most of what a save writes, become deltas of the same directory
 * in a newer checkpoint. repack_tight() lets stock git search for deltas
 * (pack-objects is good at it, and any git can read its packs) and is the only
 * function here that needs no lock.
 */

typedef bool (*repack_wanted_fn)(const struct oid *oid, void *payload);

/**
 * Copy the wanted objects of these packs, none of which stock git has packed tightly, into a new
 * pack, durable on return. `name_out` is set to its name ("pack-<hex>", "" if
 * nothing was wanted). Damaged objects are not copied; `damaged_out` is set to
 * the names of packs that have some: these must stay.
 */
int repack_copy(char **name_out, struct strlist *damaged_out, struct store *store,
		const struct pack_contents *packs, size_t nr, unsigned threads,
		repack_wanted_fn wanted, void *payload);

/** True if the bytes of this object are those with which its pack was written. */
bool repack_intact(const struct pack_contents *pack, const struct packed *item);

/**
 * Remove a pack, starting with its index, which makes it visible. Not durable until the directory
 * is synced.
 */
int repack_remove(struct store *store, const char *name);

/** True if somebody asked stock git to keep it. */
bool repack_is_kept(struct store *store, const char *name);

/** Where repack_tight() leaves its result, in the store. */
#define REPACK_DIR "checkpoint/gc"

/**
 * Let stock git make one pack of the objects in `list` ("<hex> <name>" lines)
 * in REPACK_DIR, check it and sync it. Existing deltas are kept, and new ones
 * made for objects that are in different packs or lose their base; with
 * REPACK_SEARCH all are searched again, which takes long; with REPACK_SHOW git
 * shows its progress on stderr. `name_out` is the name of the pack.
 * CKPT_ENOTFOUND: git is not installed. CKPT_ELOCKED: it was asked to yield.
 */
enum repack_flags { REPACK_SEARCH = 1 << 0, REPACK_SHOW = 1 << 1 };

int repack_tight(char **name_out, struct store *store, const struct strbuf *list, unsigned flags,
		 unsigned threads);

/** Move a pack ("pack-<hex>") from a directory in the store into place, durably. */
int repack_adopt(struct store *store, const char *dir, const char *name);

/* --- who packs --- */

/**
 * Which process packs. There is one at a time, which need not hold the store's
 * lock: saves go on meanwhile. What it reads must stay, so nothing is freed.
 */

/**
 * Be the only process that packs, until `*fd_out` is closed; CKPT_ELOCKED, naming the process, if
 * another does.
 */
int repack_lock(int *fd_out, struct store *store);

/**
 * Before something is removed for a budget: a process that packs would keep it
 * from being freed, so make it give up. CKPT_ELOCKED if it does not. The store
 * must be locked, so that no other starts.
 */
int repack_make_way(struct store *store);

/** For the process that packs: whether it was asked to give up. */
bool repack_must_yield(struct store *store);

/**
 * Forget a request left by a killed process. Both locks must be held: so no other process is
 * asking.
 */
void repack_forget(struct store *store);

/** Remove what killed processes left; no other process may be packing. */
void repack_sweep(struct store *store);

#endif
