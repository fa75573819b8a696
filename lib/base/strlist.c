/* SPDX-License-Identifier: MIT */
#include "base/strlist.h"

#include "base/strbuf.h"

const struct strlist strlist_empty = STRLIST_INIT;

void strlist_release(struct strlist *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i]);
	free(list->items);
	memset(list, 0, sizeof(*list));
}

void strlist_take(struct strlist *list, char *str)
{
	*ALLOC_NEXT(list->items, list->nr, list->alloc) = str;
}

void strlist_add(struct strlist *list, const char *str)
{
	strlist_take(list, xstrdup(str));
}

void strlist_addf(struct strlist *list, const char *fmt, ...)
{
	struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	strlist_take(list, strbuf_detach(&sb, NULL));
}

void strlist_drop_first(struct strlist *list)
{
	free(list->items[0]);
	memmove(list->items, list->items + 1, --list->nr * sizeof(*list->items));
}

void strlist_extend(struct strlist *list, const struct strlist *other)
{
	for (size_t i = 0; i < other->nr; i++)
		strlist_add(list, other->items[i]);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strlist_sort_unique(struct strlist *list)
{
	size_t kept = 0;

	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare);
	for (size_t i = 0; i < list->nr; i++) {
		if (kept && !strcmp(list->items[kept - 1], list->items[i]))
			free(list->items[i]);
		else
			list->items[kept++] = list->items[i];
	}
	list->nr = kept;
}

int strlist_equal(const struct strlist *a, const struct strlist *b)
{
	if (a->nr != b->nr)
		return 0;
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->items[i], b->items[i]))
			return 0;
	return 1;
}

bool strlist_has(const struct strlist *list, const char *str)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i], str))
			return true;
	return false;
}
