/* SPDX-License-Identifier: MIT */
#include "base/strlist.h"

#include "base/alloc.h"
#include "base/std.h"

static size_t hash(const char *text, size_t len)
{
	uint64_t sum = 1469598103934665603u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)text[i]) * 1099511628211u;
	return (size_t)(sum ^ sum >> 32);
}

/* Where it is, or belongs. */
static size_t *slot(const struct intern *intern, const char *text, size_t len)
{
	size_t mask = intern->slots_nr - 1;

	for (size_t at = hash(text, len) & mask;; at = (at + 1) & mask) {
		size_t number = intern->slots[at];
		const struct intern_item *item = number ? &intern->items[number - 1] : NULL;

		if (!item || (item->len == len && !memcmp(item->text, text, len)))
			return &intern->slots[at];
	}
}

static void grow(struct intern *intern)
{
	free(intern->slots);
	intern->slots_nr = intern->slots_nr ? intern->slots_nr * 2 : 1024;
	intern->slots = xcalloc(intern->slots_nr, sizeof(*intern->slots));
	for (size_t i = 0; i < intern->nr; i++)
		*slot(intern, intern->items[i].text, intern->items[i].len) = i + 1;
}

size_t intern_add(struct intern *intern, const char *text, size_t len)
{
	size_t *at;

	if (intern->nr * 2 >= intern->slots_nr)
		grow(intern);
	at = slot(intern, text, len);
	if (!*at) {
		ALLOC_GROW(intern->items, intern->nr + 1, intern->alloc);
		intern->items[intern->nr++] = (struct intern_item){
			arena_memdupz(&intern->arena, text, len), len
		};
		*at = intern->nr;
	}
	return *at;
}

void intern_release(struct intern *intern)
{
	free(intern->items);
	free(intern->slots);
	arena_release(&intern->arena);
	memset(intern, 0, sizeof(*intern));
}
