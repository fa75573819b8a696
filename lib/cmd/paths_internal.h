/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_PATHS_INTERNAL_H
#define CKPT_CMD_PATHS_INTERNAL_H

#include "base/base.h"
#include "git/git.h"

struct ckpt_record;
struct session;

/**
 * Paths on the command line: relative to the current directory, and patterns as git has them.
 * What exists by exactly the name that was typed, in the worktree or in one of the checkpoints, is
 * always meant as a path: a file called "[id].js" needs no special care.
 */

/** Checkpoints in which a path may exist. */
struct paths_where {
	const struct ckpt_record *records;
	size_t nr;
};

/** The arguments from `first` on; fails as session_path() and pathspec_split() do. */
int paths_parse(struct pathspec *out, struct session *session, const struct strlist *args,
		size_t first, const struct paths_where *where);

/** The same where all checkpoints matter; their records are read only if there is a pattern. */
int paths_parse_ever(struct pathspec *out, struct session *session, const struct strlist *args,
		     size_t first);

/** As git has it: what is not after "--" must exist to be taken for a path, or be a pattern. */
bool paths_may_be(const struct session *session, const char *typed);

/** Whether a path from the root is in one of the checkpoints. */
int paths_find(bool *out, struct session *session, const char *path,
	       const struct paths_where *where);

/**
 * The paths, sorted, that a restore of `target` concerns if it is limited to `spec`: as they are
 * if there is no pattern, otherwise those of the files that match, in the checkpoint or now in the
 * worktree. CKPT_ENOTFOUND, with a message that names it, if something matches nothing. Never
 * empty unless `spec` is.
 */
int paths_expand(struct strlist *out, struct session *session, const struct ckpt_record *target,
		 const struct pathspec *spec);

/** The same of what is in the checkpoint; the worktree is not looked at. */
int paths_expand_stored(struct strlist *out, struct session *session,
			const struct ckpt_record *target, const struct pathspec *spec);

#endif
