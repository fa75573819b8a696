/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REFS_INTERNAL_H
#define CKPT_STORE_REFS_INTERNAL_H

#include "base/base.h"

struct loose_refs;
struct packed_refs;
struct ref_list;
struct store;

/** Refs of any kind: for refs.c, keepers.c, fetched.c and reach.c. */

/** Where the refs of checkpoints are. */
#define REFS_CHECKPOINTS "refs/checkpoints/"

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
int refs_remove_named(struct store *store, const char *name, enum fs_durability durability);

/** For store_close(). */
void refs_free_loose(struct loose_refs *loose);

/* --- packed-refs, for refs.c, which knows the loose refs that override these --- */

/**
 * The file is in git's format: many refs that are read at once. It is read on first use, and again
 * when it has been replaced: whoever changes it, we or git, puts a new file in its place. Lines
 * that are not refs are skipped. Not for several threads at a time.
 *
 * Fails if the file cannot be read for lack of descriptors or memory; otherwise the functions below
 * can be used.
 */
int packed_refs_check(struct store *store);

/** Whether a ref may have been in it that cannot be read any more. */
bool packed_refs_damaged(struct store *store);

/** False if there is none of that full name; `*out` is zero if it cannot be read. */
bool packed_refs_find(struct oid *out, struct store *store, const char *name);

/** The names of all that begin with `prefix`, apart from those of checkpoints. */
void packed_refs_below(struct strlist *out, struct store *store, const char *prefix);

/** All checkpoints that have a ref here, by id; valid until the next call. */
const struct ref_list *packed_refs_checkpoints(struct store *store);

struct packed_change {
	const char *name;
	struct oid commit; /**< zero: remove the ref */
};

/**
 * Write the whole file with these changes, at most one per name, under git's
 * own lock on it: CKPT_ELOCKED if another process holds that for long. Durable
 * when it returns. The store must be locked.
 */
int packed_refs_change(struct store *store, struct packed_change *changes, size_t nr);

/** Forgets what was read. */
void packed_refs_free(struct packed_refs *packed);

#endif
