/* SPDX-License-Identifier: MIT */
#include "store/oidset.h"

#include "base/base.h"

/* Names are hashes: their first bytes are well distributed. */
static uint32_t *slot(const struct oidset *set, const struct oid *oid)
{
	size_t mask = set->slots_nr - 1, at;

	memcpy(&at, oid->id, sizeof(at));
	for (at &= mask;; at = (at + 1) & mask)
		if (!set->slots[at] || oid_equal(&set->items[set->slots[at] - 1], oid))
			return &set->slots[at];
}

static void grow(struct oidset *set)
{
	set->slots_nr = set->slots_nr ? set->slots_nr * 2 : 1024;
	free(set->slots);
	set->slots = xcalloc(set->slots_nr, sizeof(*set->slots));
	for (size_t i = 0; i < set->nr; i++)
		*slot(set, &set->items[i]) = (uint32_t)i + 1;
}

bool oidset_add(struct oidset *set, const struct oid *oid)
{
	uint32_t *at;

	if (set->nr * 2 >= set->slots_nr)
		grow(set);
	at = slot(set, oid);
	if (*at)
		return false;
	ALLOC_GROW(set->items, set->nr + 1, set->alloc);
	set->items[set->nr++] = *oid;
	*at = (uint32_t)set->nr;
	return true;
}

int64_t oidset_find(const struct oidset *set, const struct oid *oid)
{
	return set->slots_nr ? (int64_t)*slot(set, oid) - 1 : -1;
}

bool oidset_has(const struct oidset *set, const struct oid *oid)
{
	return oidset_find(set, oid) >= 0;
}

void oidset_release(struct oidset *set)
{
	free(set->items);
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
