/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_BUNDLE_INTERNAL_H
#define CKPT_REMOTE_BUNDLE_INTERNAL_H

#include "base/base.h"
#include "store/store.h"

/** What the head of a git bundle says; it may be from anybody. */
struct bundle_name {
	char *name;
	struct oid commit;
};

struct bundle {
	struct ref_list refs;	   /**< checkpoints, in the order of the file */
	struct bundle_name *names; /**< given names that can be one */
	size_t names_nr, names_alloc;
	struct strlist pinned; /**< ids, sorted */
	struct strlist others; /**< refs that are none of these */
};

enum {
	BUNDLE_HEAD_MAX = 4 << 20, /**< bytes; a longer head is refused */
	BUNDLE_REFS_MAX = 10000,
};

/**
 * Parse the head: version 2, or 3 with SHA-1, in the first `len` bytes of a file. CKPT_ERROR, with
 * the reason, if it is not a bundle, is damaged, or needs commits that it does not have.
 */
int bundle_parse(struct bundle *out, const char *data, size_t len);
void bundle_release(struct bundle *bundle);

#endif
