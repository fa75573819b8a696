/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_OIDSET_H
#define CKPT_STORE_OIDSET_H

#include "base/base.h"

/** A set of object names; all zero is an empty set. It cannot contain the zero name. */
struct oidset {
	struct oid *slots;
	size_t nr, alloc; /**< alloc is a power of two */
};

/** True if it was not in the set before. */
bool oidset_add(struct oidset *set, const struct oid *oid);
bool oidset_has(const struct oidset *set, const struct oid *oid);
void oidset_release(struct oidset *set);

#endif
