/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_INDEXFILE_INTERNAL_H
#define CKPT_GIT_INDEXFILE_INTERNAL_H

#include "base/base.h"

/** Parsing an index file, for gitindex.c alone; others use gitindex.h. */

struct index_entry {
	const char *name;
	bool submodule;
};

struct gitindex {
	struct index_entry *entries;
	size_t nr, alloc;
	char *data[2]; /**< the index and the shared index; names point into them */
	struct arena names;
};

/**
 * Append the entries of the index file `file`, merged with the shared part
 * beside it if it is split. `needs_git_out`: it is sparse, or has an unknown
 * extension, so that only git can list all names. CKPT_ENOTFOUND if the file
 * does not exist, CKPT_ECORRUPT if it is damaged.
 */
int indexfile_read(struct gitindex *index, bool *needs_git_out, const char *file,
		   const char *gitdir, size_t hash_len);

void indexfile_add(struct gitindex *index, const char *name, unsigned mode);

/** Set the message for a damaged index; CKPT_ECORRUPT. */
int indexfile_corrupt(const char *file, const char *what);

#endif
