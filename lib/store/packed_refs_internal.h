/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACKED_REFS_INTERNAL_H
#define CKPT_STORE_PACKED_REFS_INTERNAL_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct store;

/**
 * The file packed-refs of a store, as git has it: many refs that are read at
 * once. For refs.c alone, which knows of the loose ones that win over these.
 *
 * It is read when it is first asked for, and again when it is another file:
 * whoever changes it, we or git, puts a new one in its place. Lines that are
 * not refs are passed over. Not for several threads at a time.
 */
struct packed_ref {
	const char *name; /**< NUL-terminated */
	const char *hex;  /**< what stands before it, perhaps no object name */
	size_t hex_len;
	const char *peeled; /**< the line of git about a tag, with its newline, or NULL */
	size_t peeled_len;
};

struct packed_refs;

/** Fails if the file cannot be read for want of descriptors or memory; else it may be asked. */
int packed_refs_check(struct store *store);

/** A ref by its full name, or NULL. Valid until the next call. */
const struct packed_ref *packed_refs_find(struct store *store, const char *name);

/** All whose names begin with `prefix`, in the order of names; `nr_out` many. Valid until the next call. */
const struct packed_ref *packed_refs_below(struct store *store, const char *prefix, size_t *nr_out);

struct packed_change {
	const char *name;
	struct oid commit; /**< zero: the ref goes */
};

/**
 * Write the whole file with these changes, of which each name has one, under
 * git's own lock on it: CKPT_ELOCKED if another process holds that for long.
 * Durable when it returns. The store must be locked.
 */
int packed_refs_change(struct store *store, struct packed_change *changes, size_t nr);

/** What was read is forgotten. */
void packed_refs_free(struct packed_refs *packed);

#endif
