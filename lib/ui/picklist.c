/* SPDX-License-Identifier: MIT */
#include "ui/picklist.h"

#include "base/base.h"

enum pick_key picklist_decode(size_t *used_out, const char *bytes, size_t len)
{
	static const struct {
		const char *bytes;
		enum pick_key key;
	} keys[] = {
		{ "\x1b[A", PICK_UP },
		{ "\x1bOA", PICK_UP },
		{ "k", PICK_UP },
		{ "\x10", PICK_UP },
		{ "\x1b[B", PICK_DOWN },
		{ "\x1bOB", PICK_DOWN },
		{ "j", PICK_DOWN },
		{ "\x0e", PICK_DOWN },
		{ "\x1b[5~", PICK_PAGE_UP },
		{ "\x1b[6~", PICK_PAGE_DOWN },
		{ " ", PICK_PAGE_DOWN },
		{ "\x1b[H", PICK_FIRST },
		{ "\x1bOH", PICK_FIRST },
		{ "\x1b[1~", PICK_FIRST },
		{ "g", PICK_FIRST },
		{ "\x1b[F", PICK_LAST },
		{ "\x1bOF", PICK_LAST },
		{ "\x1b[4~", PICK_LAST },
		{ "G", PICK_LAST },
		{ "\r", PICK_TAKE },
		{ "\n", PICK_TAKE },
		{ "K", PICK_PREVIEW_UP },
		{ "J", PICK_PREVIEW_DOWN },
		{ "q", PICK_LEAVE },
		{ "\x03", PICK_LEAVE },
		{ "\x04", PICK_LEAVE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t size = strlen(keys[i].bytes);

		if (len >= size && !memcmp(bytes, keys[i].bytes, size)) {
			*used_out = size;
			return keys[i].key;
		}
		if (len < size && !memcmp(bytes, keys[i].bytes, len)) {
			*used_out = 0;
			return PICK_MORE;
		}
	}
	*used_out = 1;
	/* An unknown sequence is dropped as a whole: its end must not be mistaken for keys. */
	if (len > 1 && bytes[0] == '\x1b' && (bytes[1] == '[' || bytes[1] == 'O')) {
		size_t end = 2;

		while (end < len && (unsigned char)bytes[end] < 0x40)
			end++;
		*used_out = end < len ? end + 1 : end;
	}
	return PICK_NOTHING;
}

static void keep_in_sight(struct picklist *list)
{
	if (list->at < list->top)
		list->top = list->at;
	if (list->at >= list->top + list->rows)
		list->top = list->at - list->rows + 1;
	/* No empty lines at the end while there is something above. */
	if (list->top + list->rows > list->nr)
		list->top = list->nr > list->rows ? list->nr - list->rows : 0;
}

void picklist_move(struct picklist *list, enum pick_key key)
{
	size_t last = list->nr - 1, below = last - list->at;

	switch (key) {
	case PICK_UP:
		list->at -= list->at > 0;
		break;
	case PICK_DOWN:
		list->at += below > 0;
		break;
	case PICK_PAGE_UP:
		list->at -= list->at < list->rows ? list->at : list->rows;
		break;
	case PICK_PAGE_DOWN:
		list->at += below < list->rows ? below : list->rows;
		break;
	case PICK_FIRST:
		list->at = 0;
		break;
	case PICK_LAST:
		list->at = last;
		break;
	case PICK_NOTHING:
	case PICK_MORE:
	case PICK_PREVIEW_UP:
	case PICK_PREVIEW_DOWN:
	case PICK_TAKE:
	case PICK_LEAVE:
		return;
	}
	keep_in_sight(list);
}

void picklist_resize(struct picklist *list, size_t rows)
{
	list->rows = rows ? rows : 1;
	keep_in_sight(list);
}
