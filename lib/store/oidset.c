/* SPDX-License-Identifier: MIT */
#include "store/oidset.h"

#include "base/base.h"

/* Names are hashes: their first bytes are well distributed. */
static struct oid *slot(const struct oidset *set, const struct oid *oid)
{
	size_t mask = set->alloc - 1, at;

	memcpy(&at, oid->id, sizeof(at));
	for (at &= mask;; at = (at + 1) & mask)
		if (oid_is_zero(&set->slots[at]) || oid_equal(&set->slots[at], oid))
			return &set->slots[at];
}

static void grow(struct oidset *set)
{
	struct oidset bigger = { .alloc = set->alloc ? set->alloc * 2 : 1024, .nr = set->nr };

	bigger.slots = xcalloc(bigger.alloc, sizeof(*bigger.slots));
	for (size_t i = 0; i < set->alloc; i++)
		if (!oid_is_zero(&set->slots[i]))
			*slot(&bigger, &set->slots[i]) = set->slots[i];
	free(set->slots);
	*set = bigger;
}

bool oidset_add(struct oidset *set, const struct oid *oid)
{
	struct oid *at;

	if (set->nr * 2 >= set->alloc)
		grow(set);
	at = slot(set, oid);
	if (!oid_is_zero(at))
		return false;
	*at = *oid;
	set->nr++;
	return true;
}

bool oidset_has(const struct oidset *set, const struct oid *oid)
{
	return set->alloc && !oid_is_zero(slot(set, oid));
}

void oidset_release(struct oidset *set)
{
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
