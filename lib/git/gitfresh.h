/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITFRESH_H
#define CKPT_GIT_GITFRESH_H

#include "base/base.h"
#include "git/gitindex.h"

struct gitconfig;
struct repo;

/**
 * What `git worktree add` wrote: files of a new linked worktree that certainly
 * have the bytes of the blob that the index names.
 *
 * The index alone does not prove that. Its id is that of the contents as git
 * stores them; what is in the worktree went through filters, and with `ident`,
 * `working-tree-encoding` or a `filter` even the same size proves nothing.
 * (Line endings are harmless: converting one changes the size.) And what
 * counts are the attributes of the moment at which git wrote the file, which
 * may have changed since: the file has not, so git does not write it again.
 *
 * So only those files count that git wrote between the creation of the worktree
 * and what it notes at the end, while HEAD has been nowhere else. The attributes
 * of that moment are those of the commit, and those outside of the worktree: the
 * former are looked at if the index still has them all, and count for files that
 * are not older; the latter must not have been touched since. One word that could
 * concern bytes, one thing that cannot be known, and no file counts.
 *
 * Not detected: attributes that were named on the command line of that git, by a
 * configuration that was changed since, or by a file in the worktree that was
 * there only for a while, before a `git reset`.
 */
struct gitfresh {
	struct gitindex *index;
	int64_t index_ns; /**< when it was written */
	int64_t from_ns, to_ns; /**< when git wrote the files */
};

/**
 * Times are read from the files that git wrote; `after_ns` is the earliest that counts. False if it
 * is not a linked worktree, or in any doubt. Then there is nothing to release.
 */
bool gitfresh_open(struct gitfresh *out, const struct repo *repo, const struct gitconfig *config,
		   int64_t after_ns);
void gitfresh_release(struct gitfresh *fresh);

/** Whether the file is as the index says, and git wrote it then; `st` is from lstat(2). */
bool gitfresh_wrote(struct oid *out, const struct gitfresh *fresh, const char *path,
		    const struct stat *st);

/* --- decisions, for tests --- */

/** True if attributes like these may change bytes without changing their number. */
bool gitfresh_bytes_differ(const char *attributes);

/**
 * The commit that a reflog of HEAD begins with, if HEAD was never elsewhere; NULL if it was, or if
 * it has more lines than a new worktree has: one, or two for a branch (`twice_out`). The caller
 * frees it.
 */
char *gitfresh_only_commit(bool *twice_out, const char *reflog);

#endif
