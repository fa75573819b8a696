/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_FLAT_INTERNAL_H
#define CKPT_REMOTE_FLAT_INTERNAL_H

#include "gitstate/gitstate.h"

/**
 * A checkpoint as the project's git would commit it: a flat list of paths, as an index has them.
 *
 * Files and links are those of the checkpoint. Of the recorded HEAD stay: submodules, what is
 * outside the scope of the checkpoint, what it could not capture, and what a sparse checkout
 * leaves out. Empty directories are left out.
 */
struct flat_entry {
	char *path;
	unsigned mode;		/**< 0100644, 0100755, 0120000, 0160000 */
	char hex[GITSTATE_OID]; /**< its id in the project */
	const struct wt_entry *entry; /**< in the checkpoint; NULL: it is that of HEAD */
};

struct flat {
	struct session *session;
	struct snapshot *snapshot;
	bool sha256;
	char *head; /**< the recorded commit; NULL: there was none, or there is no repository */
	struct flat_entry *items; /**< by path */
	size_t nr, alloc;
	struct strlist ignored, secret; /**< paths that were left out, sorted */
	struct strlist unfit;		/**< see flat_fill_index() */
};

enum flat_flags {
	/** Leave out what a rule of the checkpoint ignores, and secrets, unless they are tracked. */
	FLAT_NO_IGNORED = 1 << 0,
};

/**
 * CKPT_ERROR if the project lacks the recorded commit, or the checkpoint has no files. Call
 * flat_release() in any case.
 */
int flat_read(struct flat *out, struct session *session, const struct ckpt_record *record,
	      unsigned flags);
void flat_release(struct flat *flat);

/**
 * Make an index of it, in the file and repository of `how`. Paths that git does not take are left
 * out, and in `unfit` from then on.
 */
int flat_fill_index(struct flat *flat, const struct gitrun *how);

/** Make blobs, in the repository of `how`, of what it lacks. */
int flat_write_blobs(const struct flat *flat, const struct gitwrite *how);

#endif
