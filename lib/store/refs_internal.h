/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REFS_INTERNAL_H
#define CKPT_STORE_REFS_INTERNAL_H

#include "base/base.h"

struct loose_refs;
struct store;
struct strlist;

/** Refs of any kind: for refs.c, keepers.c, fetched.c and reach.c. */

/**
 * The commit that one names, loose or packed; zero after a failure. CKPT_ENOTFOUND: there is none;
 * CKPT_ECORRUPT: it names no commit; CKPT_ERROR: that cannot be told now.
 */
int refs_read(struct oid *out, struct store *store, const char *name);

/**
 * The full names of all below a directory ("refs", "refs/keep"), sorted, whatever they lead to;
 * none of checkpoints.
 */
int refs_below(struct strlist *out, struct store *store, const char *dir);

/** `<dir>/<name>`, written in one go; the directory must exist. */
int refs_write(struct store *store, const char *dir, const char *name, const struct oid *commit,
	       enum fs_durability durability);

/** Loose and packed; it is not an error if it does not exist. */
int refs_remove(struct store *store, const char *dir, const char *name);
int refs_remove_named(struct store *store, const char *name);

/** For store_close(). */
void refs_free_loose(struct loose_refs *loose);

#endif
