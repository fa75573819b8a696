/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_VERSIONS_INTERNAL_H
#define CKPT_LOOK_VERSIONS_INTERNAL_H

#include "base/base.h"
#include "record/record.h"

struct pathspec;
struct store;

/**
 * Which contents files have in some checkpoints, and in which of them, from trees alone:
 * checkpoints of the same scope are compared one after the other.
 */
struct version {
	size_t path;   /**< its number in `paths` */
	size_t blob;   /**< its number in `blobs` */
	size_t oldest, newest; /**< indexes of records; there may be others in between */
	size_t count;	       /**< how many have it */
};

struct versions {
	struct intern paths, blobs; /**< the latter are object names */
	struct version *items;
	size_t nr, alloc;
	struct strlist damaged; /**< a sentence about each checkpoint that cannot be read */
	bool *bad;		/**< for each record: it is one of them, or has no files */
};

/** Of regular files among `only` (NULL: all), in all of `records`, in the order of saving. */
int versions_collect(struct versions *out, struct store *store, const struct ckpt_records *records,
		     const struct pathspec *only);
void versions_release(struct versions *versions);

#endif
