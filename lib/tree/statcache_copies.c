/* SPDX-License-Identifier: MIT */
#include "tree/statcache_internal.h"

#include "base/base.h"

/*
 * Blocks that were read one by one. Mapped, each of them would take sixteen pages or more of
 * memory, as the kernel maps what surrounds a page, and few are needed if little changed.
 */

static size_t slot_of(const struct statcache_copies *copies, uint64_t key, bool by_place)
{
	size_t mask = copies->slots_nr - 1, at = (size_t)((key >> 3) * 0x9e3779b97f4a7c15u >> 20) & mask;
	const uint32_t *slots = by_place ? copies->by_place : copies->by_offset;

	for (;; at = (at + 1) & mask) {
		const struct statcache_copy *copy =
			slots[at] ? &copies->items[slots[at] - 1] : NULL;

		if (!copy || (by_place ? (uint64_t)(uintptr_t)copy->dir : copy->at) == key)
			return at;
	}
}

static void insert(struct statcache_copies *copies, uint32_t number)
{
	const struct statcache_copy *copy = &copies->items[number - 1];

	copies->by_offset[slot_of(copies, copy->at, false)] = number;
	copies->by_place[slot_of(copies, (uint64_t)(uintptr_t)copy->dir, true)] = number;
}

static void grow(struct statcache_copies *copies)
{
	copies->slots_nr = copies->slots_nr ? copies->slots_nr * 2 : 256;
	free(copies->by_offset);
	free(copies->by_place);
	copies->by_offset = xcalloc(copies->slots_nr, sizeof(*copies->by_offset));
	copies->by_place = xcalloc(copies->slots_nr, sizeof(*copies->by_place));
	for (uint32_t i = 0; i < copies->nr; i++)
		insert(copies, i + 1);
}

struct statcache_copy *statcache_copies_find(const struct statcache_copies *copies, uint64_t at)
{
	uint32_t number = copies->slots_nr ? copies->by_offset[slot_of(copies, at, false)] : 0;

	return number ? &copies->items[number - 1] : NULL;
}

struct statcache_copy *statcache_copies_find_place(const struct statcache_copies *copies,
						   const struct statcache_dir *dir)
{
	uint64_t place = (uint64_t)(uintptr_t)dir;
	uint32_t number = copies->slots_nr ? copies->by_place[slot_of(copies, place, true)] : 0;

	return number ? &copies->items[number - 1] : NULL;
}

struct statcache_copy *statcache_copies_add(struct statcache_copies *copies, uint64_t at,
					    struct statcache_dir *dir, size_t have)
{
	if ((copies->nr + 1) * 2 > copies->slots_nr)
		grow(copies);
	ALLOC_GROW(copies->items, copies->nr + 1, copies->alloc);
	copies->items[copies->nr++] = (struct statcache_copy){ at, dir, have };
	insert(copies, (uint32_t)copies->nr);
	return &copies->items[copies->nr - 1];
}

void statcache_copies_release(struct statcache_copies *copies)
{
	for (size_t i = 0; i < copies->nr; i++)
		free(copies->items[i].dir);
	free(copies->items);
	free(copies->by_offset);
	free(copies->by_place);
	memset(copies, 0, sizeof(*copies));
}
