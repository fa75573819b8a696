/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKED_REFS_INTERNAL_H
#define CKPT_STORE_PACKED_REFS_INTERNAL_H

#include "base/base.h"

struct ref_list;
struct store;

/**
 * The packed-refs file of a store, in git's format: many refs that are read at
 * once. For refs.c, keepers.c and reach.c, which know about the loose refs that
 * override these.
 *
 * It is read on first use, and again when it has been replaced: whoever
 * changes it, we or git, puts a new file in its place. Lines that are not refs
 * are skipped. Not for several threads at a time.
 */
struct packed_ref {
	const char *name; /**< NUL-terminated */
	const char *hex;  /**< the text before it, which may not be an object name */
	size_t hex_len;
	const char *peeled; /**< git's line about a tag, with its newline, or NULL */
	size_t peeled_len;
};

struct packed_refs;

/**
 * Fails if the file cannot be read for lack of descriptors or memory; otherwise the functions below
 * can be used.
 */
int packed_refs_check(struct store *store);

/** Whether a ref may have been in it that cannot be read any more. */
bool packed_refs_damaged(struct store *store);

/** Whether there is a ref of that full name. */
bool packed_refs_has(struct store *store, const char *name);

/** A ref by its full name, or NULL; not of a checkpoint. Valid until the next call. */
const struct packed_ref *packed_refs_find(struct store *store, const char *name);

/**
 * All refs whose names begin with `prefix`, ordered by name; `nr_out` is their number. None of
 * checkpoints. Valid until the next call.
 */
const struct packed_ref *packed_refs_below(struct store *store, const char *prefix, size_t *nr_out);

/** Where the refs of checkpoints are. */
#define REFS_CHECKPOINTS "refs/checkpoints/"

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
