/* SPDX-License-Identifier: MIT */
#include "tree/scan.h"

static const char *const names[] = {
	[SKIP_UNREADABLE] = "unreadable", [SKIP_OVERSIZE] = "oversize",
	[SKIP_CHANGING] = "changing",	  [SKIP_VANISHED] = "vanished",
	[SKIP_SENSITIVE] = "sensitive",	  [SKIP_SPECIAL] = "special",
	[SKIP_MOUNT] = "mount",		  [SKIP_DEEP] = "deep",
};

const char *skip_why_name(enum skip_why why)
{
	return names[why];
}

bool skip_why_parse(enum skip_why *out, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name)) {
			*out = (enum skip_why)i;
			return true;
		}
	return false;
}

bool skip_why_incomplete(enum skip_why why)
{
	/* A file that has vanished is captured correctly: as missing. */
	return why == SKIP_UNREADABLE || why == SKIP_OVERSIZE || why == SKIP_CHANGING ||
	       why == SKIP_DEEP;
}

void skip_list_add(struct skip_list *list, const char *path, enum skip_why why)
{
	*ALLOC_NEXT(list->items, list->nr, list->alloc) =
		(struct skip){ .path = xstrdup(path), .why = why };
}

static int compare(const void *x, const void *y)
{
	const struct skip *a = x, *b = y;
	int cmp = strcmp(a->path, b->path);

	return cmp ? cmp : (int)a->why - (int)b->why;
}

void skip_list_sort(struct skip_list *list)
{
	size_t kept = 0;

	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare);
	for (size_t i = 0; i < list->nr; i++) {
		if (kept && !strcmp(list->items[kept - 1].path, list->items[i].path))
			free(list->items[i].path);
		else
			list->items[kept++] = list->items[i];
	}
	list->nr = kept;
}

void skip_list_drop(struct skip_list *list, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (path_below(list->items[i].path, path))
			free(list->items[i].path);
		else
			list->items[kept++] = list->items[i];
	}
	list->nr = kept;
}

void skip_list_release(struct skip_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].path);
	free(list->items);
	memset(list, 0, sizeof(*list));
}

size_t skip_list_incomplete(const struct skip_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->nr; i++)
		n += skip_why_incomplete(list->items[i].why);
	return n;
}
