/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REACH_H
#define CKPT_STORE_REACH_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/**
 * Which objects of a store are needed, and by whom.
 *
 * Roots are added one after the other; an object belongs to the first root
 * that leads to it. Added from what stays longest to what goes first, the
 * bytes that belong to a root are those that are freed when it goes and all
 * that were added after it have gone before.
 */
struct reach;

struct reach *reach_new(struct store *store);
void reach_free(struct reach *reach);

/** Give up after so many seconds from now on. */
void reach_limit(struct reach *reach, double seconds);

/**
 * Add all that a commit leads to: its tree, its parents, and theirs; a tag or
 * tree that stock git made a ref for may be given, too. What is missing or
 * damaged is passed over, and noted: see reach_damaged(). CKPT_ECANCELLED
 * is the only failure; 1 if the time is up.
 */
int reach_add(struct reach *reach, const struct oid *root, uint32_t owner);

bool reach_has(const struct reach *reach, const struct oid *oid);

/** Bytes in packs of what belongs to `owner`. */
uint64_t reach_bytes(struct reach *reach, uint32_t owner);

/** True if something that leads to further objects could not be read: they are not known then. */
bool reach_damaged(const struct reach *reach);

/**
 * Every ref of the store that is no checkpoint's, and detached HEADs, those of
 * linked worktrees too: stock git lets people make such things in it.
 */
int reach_add_refs(struct reach *reach, uint32_t owner);

size_t reach_count(const struct reach *reach);

/** Object `index` in the order in which they were found, and the name it was found under. */
const struct oid *reach_at(const struct reach *reach, size_t index, const char **name_out);

#endif
