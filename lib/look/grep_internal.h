/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_GREP_INTERNAL_H
#define CKPT_LOOK_GREP_INTERNAL_H

#include "base/base.h"

struct patterns;
struct store;

struct grep_blob_line {
	size_t number;	   /**< from 1 on */
	size_t start, len; /**< in `held` */
	size_t text;	   /**< for callers */
};

/** What matches in one content. All zero is nothing. */
struct grep_blob {
	bool matches;
	bool binary; /**< it is not text; then there are no lines */
	bool unread; /**< for callers */
	struct grep_blob_line *lines;
	size_t nr, alloc;
	struct strbuf held; /**< the bytes of the lines; all zero if there are none */
};

/**
 * Search a content, of any size; with `files_only` only until something is found. Fails as
 * objects_read() does. Safe from any thread that has its own patterns.
 */
int grep_blob(struct grep_blob *out, struct store *store, const struct oid *oid,
	      struct patterns *patterns, bool files_only);
void grep_blob_release(struct grep_blob *blob);

#endif
