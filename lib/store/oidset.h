/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_OIDSET_H
#define CKPT_STORE_OIDSET_H

#include "base/base.h"

/** A set of object names; all zero is an empty set. */
struct oidset {
	struct oid *items; /**< in the order in which they were added */
	size_t nr, alloc;
	struct hash_table table;
};

/** True if it was not in the set before. */
bool oidset_add(struct oidset *set, const struct oid *oid);
bool oidset_has(const struct oidset *set, const struct oid *oid);

/** Its index in `items`, or -1. */
int64_t oidset_find(const struct oidset *set, const struct oid *oid);
void oidset_release(struct oidset *set);

#endif
