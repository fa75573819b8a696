/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSTALL_EDIT_JSON_INTERNAL_H
#define CKPT_INSTALL_EDIT_JSON_INTERNAL_H

#include "base/base.h"

/**
 * Editing JSON that somebody else wrote: a value is added or removed, in the
 * style of its surroundings, and every other byte stays.
 *
 * The text is never printed from values: all positions are offsets into it.
 * Whether it is JSON is for jansson to say, once, in edit_json_open(); what
 * follows needs no bounds but those of a valid text. Comments are blanks to it,
 * and a byte order mark is skipped.
 *
 * Values have their place in two levels, as the settings of all agents have
 * them: {"hooks": {"Stop": [<value>]}}, which is an element, or {"mcpServers":
 * {"name": <value>}}, which is a member.
 */
struct edit_json {
	struct strbuf text;
	struct strbuf plain; /**< of the same length, with blanks for comments */
};

/**
 * The place of a value. An element that is a group of one, such as {"hooks": [<value>]}, is also found
 * if others have added to the group.
 */
struct edit_json_place {
	const char *outer, *inner;
	bool element; /**< of the array there; otherwise it is the member itself */
};

/** What is in that place. */
enum edit_json_found {
	EDIT_JSON_NOTHING,
	EDIT_JSON_SAME,
	EDIT_JSON_OTHER, /**< the member has another value; the array has other elements only */
};

/**
 * Take a copy of `text`. CKPT_ERROR if it is not JSON, or not an object: the
 * message has line and column. To be released in any case.
 */
int edit_json_open(struct edit_json *out, const struct strbuf *text, bool comments);
void edit_json_release(struct edit_json *doc);

/**
 * Look for `value`. With EDIT_JSON_OTHER, `raw` is the text of what is there
 * instead. CKPT_ERROR if a container on the way is something else.
 */
int edit_json_find(enum edit_json_found *out, struct strbuf *raw, const struct edit_json *doc,
		  const struct edit_json_place *place, const json_t *value);

/** Add it after what is there, with the containers that are missing. Only after edit_json_find(). */
void edit_json_add(struct edit_json *doc, const struct edit_json_place *place, const json_t *value);

/** Remove what equals it, and the containers that are empty then. False if there is nothing. */
bool edit_json_remove(struct edit_json *doc, const struct edit_json_place *place, const json_t *value);

#endif
