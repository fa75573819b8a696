/* SPDX-License-Identifier: MIT */
#include "base/strlist.h"

static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = hash_mix(HASH_MIX_START, text, len);

	return hash ^ hash >> 32;
}

size_t intern_add(struct intern *intern, const char *text, size_t len)
{
	const struct intern_item *items = intern->items;
	uint32_t number;

	HASH_TABLE_FIND(number, &intern->table, hash_text(text, len),
			items[number - 1].len == len && !memcmp(items[number - 1].text, text, len));
	if (number)
		return number;
	*ALLOC_NEXT(intern->items, intern->nr, intern->alloc) =
		(struct intern_item){ arena_memdupz(&intern->arena, text, len), len };
	for (size_t i = hash_table_room(&intern->table, intern->nr); i < intern->nr; i++)
		hash_table_put(&intern->table, hash_text(intern->items[i].text, intern->items[i].len),
			       (uint32_t)i + 1);
	return intern->nr;
}

void intern_release(struct intern *intern)
{
	free(intern->items);
	free(intern->table.slots);
	arena_release(&intern->arena);
	memset(intern, 0, sizeof(*intern));
}
