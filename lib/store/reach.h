/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REACH_H
#define CKPT_STORE_REACH_H

#include "base/base.h"

struct store;

/**
 * Which objects of a store are needed, and by which checkpoint.
 *
 * Roots are added one after another; an object belongs to the first root that
 * leads to it. If they are added from the one that stays longest to the one
 * that goes first, the bytes that belong to a root are those freed by removing
 * it after all that were added later.
 */
struct reach;

struct reach *reach_new(struct store *store);
void reach_free(struct reach *reach);

/** Give up after this many seconds from now. */
void reach_limit(struct reach *reach, double seconds);

/**
 * Add everything that a commit leads to: its tree, its parents, and theirs;
 * also a tag or tree for which stock git made a ref. What is missing or
 * damaged is skipped, and noted: see reach_damaged(). CKPT_ECANCELLED is the
 * only failure; 1 if the time is up.
 */
int reach_add(struct reach *reach, const struct oid *root, uint32_t owner);

bool reach_has(const struct reach *reach, const struct oid *oid);

/** Bytes in packs of the objects that belong to `owner`. */
uint64_t reach_bytes(struct reach *reach, uint32_t owner);

/** True if something that leads to other objects could not be read, so that they are unknown. */
bool reach_damaged(const struct reach *reach);

/**
 * Add every ref of the store that is not a checkpoint, and detached HEADs,
 * also of linked worktrees: with stock git people can create these in a store.
 */
int reach_add_refs(struct reach *reach, uint32_t owner);

size_t reach_count(const struct reach *reach);

/** Object `index` in the order in which they were found, and the name under which it was found. */
const struct oid *reach_at(const struct reach *reach, size_t index, const char **name_out);

#endif
