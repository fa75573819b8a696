/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_NAMES_H
#define CKPT_STORE_NAMES_H

#include "base/base.h"

struct ref_list;
struct store;

/**
 * refs/names/<name>: names that people give to checkpoints. Each leads to the
 * commit of its checkpoint, so that stock git knows them too. A checkpoint has
 * at most one, and a named one is pinned.
 *
 * A name whose commit is that of no checkpoint means nothing.
 */

/**
 * True if a checkpoint can have this name: letters, digits, '.', '_' and '-',
 * beginning with a letter or a digit, a valid end of a ref, and nothing that
 * could be an id, a commit or another way to name a checkpoint.
 */
bool names_valid(const char *name);

/** The commit that it leads to; false if there is no such name, or it cannot be read. */
bool names_find(struct oid *out, struct store *store, const char *name);

/** The name of the checkpoint with this commit, or NULL. Valid until names are read again. */
const char *names_of(struct store *store, const struct oid *commit);

/** Fails if they cannot be read: then nothing may be assumed to have no name. */
int names_check(struct store *store);

/** All names, sorted, whatever they lead to. */
void names_list(struct strlist *out, struct store *store);

/**
 * Give it, or move it: durable when it returns. Another name of the same commit
 * is removed. The store must be locked, here and below.
 */
int names_set(struct store *store, const char *name, const struct oid *commit);

/** It is not an error if it does not exist. */
int names_remove(struct store *store, const char *name);

/** Remove the name of this commit, but not `except`, which may be NULL. */
int names_forget(struct store *store, const struct oid *commit, const char *except);

/** Remove the names of checkpoints that no longer exist, but of none in `lost`. */
int names_sweep(struct store *store, const struct ref_list *lost);

/** For store_close(). */
struct names;
void names_free(struct names *names);

#endif
