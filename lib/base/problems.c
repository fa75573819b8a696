/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/alloc.h"
#include "base/strbuf.h"

void problems_addf(struct problems *list, bool fixed, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	list->items[list->nr].fixed = fixed;
	list->items[list->nr++].what = strbuf_detach(&text, NULL);
}

void problems_truncate(struct problems *list, size_t nr)
{
	while (list->nr > nr)
		free(list->items[--list->nr].what);
}

void problems_release(struct problems *list)
{
	problems_truncate(list, 0);
	free(list->items);
	memset(list, 0, sizeof(*list));
}
