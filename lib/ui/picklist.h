/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_PICKLIST_H
#define CKPT_UI_PICKLIST_H

#include "base/base.h"

/** The position in a list that is longer than the screen, and what a key does to it. No I/O. */

enum pick_key {
	PICK_NOTHING, /**< not a known key */
	PICK_MORE,    /**< the beginning of a key: more bytes may follow */
	PICK_UP,
	PICK_DOWN,
	PICK_PAGE_UP,
	PICK_PAGE_DOWN,
	PICK_FIRST,
	PICK_LAST,
	PICK_PREVIEW_UP, /**< what is shown about the selected one, not the list */
	PICK_PREVIEW_DOWN,
	PICK_TAKE,
	PICK_LEAVE,
};

/**
 * The key that the `len` bytes begin with; `used_out` is the number of its
 * bytes. A lone escape is PICK_MORE: if nothing follows, it means PICK_LEAVE.
 */
enum pick_key picklist_decode(size_t *used_out, const char *bytes, size_t len);

struct picklist {
	size_t nr;   /**< at least 1 */
	size_t rows; /**< how many are visible, at least 1 */
	size_t at;   /**< the selected one */
	size_t top;  /**< the first visible one */
};

/** Move, and keep the selected one visible. */
void picklist_move(struct picklist *list, enum pick_key key);

/** The height of the screen has changed. */
void picklist_resize(struct picklist *list, size_t rows);

#endif
