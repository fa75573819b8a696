/* SPDX-License-Identifier: MIT */
#include "store/oidset.h"

int64_t oidset_find(const struct oidset *set, const struct oid *oid)
{
	uint32_t number;

	HASH_TABLE_FIND(number, &set->table, oid_hash(oid), oid_equal(&set->items[number - 1], oid));
	return (int64_t)number - 1;
}

bool oidset_has(const struct oidset *set, const struct oid *oid)
{
	return oidset_find(set, oid) >= 0;
}

bool oidset_add(struct oidset *set, const struct oid *oid)
{
	if (oidset_has(set, oid))
		return false;
	*ALLOC_NEXT(set->items, set->nr, set->alloc) = *oid;
	for (size_t i = hash_table_room(&set->table, set->nr); i < set->nr; i++)
		hash_table_put(&set->table, oid_hash(&set->items[i]), (uint32_t)i + 1);
	return true;
}

void oidset_release(struct oidset *set)
{
	free(set->items);
	free(set->table.slots);
	memset(set, 0, sizeof(*set));
}
