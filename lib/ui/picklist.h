/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_PICKLIST_H
#define CKPT_UI_PICKLIST_H

#include <stddef.h>

/** Where one is in a list that is longer than the screen, and what a key does to that. No I/O. */

enum pick_key {
	PICK_NOTHING, /**< not a key that means something */
	PICK_MORE,    /**< the beginning of one: more bytes may follow */
	PICK_UP,
	PICK_DOWN,
	PICK_PAGE_UP,
	PICK_PAGE_DOWN,
	PICK_FIRST,
	PICK_LAST,
	PICK_TAKE,
	PICK_LEAVE,
};

/**
 * The key that the `len` bytes begin with; `used_out` is how many of them it
 * is. A lone escape is PICK_MORE: if nothing follows, it means PICK_LEAVE.
 */
enum pick_key picklist_decode(size_t *used_out, const char *bytes, size_t len);

struct picklist {
	size_t nr;   /**< at least 1 */
	size_t rows; /**< of them visible, at least 1 */
	size_t at;   /**< the chosen one */
	size_t top;  /**< the first that is visible */
};

/** Move, and keep the chosen one in sight. */
void picklist_move(struct picklist *list, enum pick_key key);

/** The screen has another height now. */
void picklist_resize(struct picklist *list, size_t rows);

#endif
