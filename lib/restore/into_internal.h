/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_INTO_INTERNAL_H
#define CKPT_RESTORE_INTO_INTERNAL_H

#include "gitstate/gitstate.h"
#include "keep/keep.h"
#include "restore/into.h"
#include "session/session.h"

/** The internals of a copy, for into*.c alone. */

/** What the linked worktree is to be. */
struct into_git {
	struct gitrecord goal;
	struct strlist blobs; /**< ids that the repository lacks and the checkpoint has */
	char *ref;	      /**< full name of the new branch, or NULL */
};

struct into {
	struct session *session;
	const struct into_opts *opts;
	struct into_result *out;
	struct strlist paths; /**< limit; empty: none */
	struct snapshot *tree;
	struct keepers_hold hold;

	int fd;		  /**< of the destination; -1: not open */
	size_t made;	  /**< so much of its path is the outermost directory to be made; 0: none */
	char *marker;	  /**< its name in the destination */
	int marker_fd;	  /**< locked while this process works on it */
	bool begun;	  /**< the marker is there */
	bool left;	  /**< some of it may be there already */
	bool no_clones;	  /**< all contents come from the store */

	const struct wt_entry **dirs; /**< each after the one that contains it */
	size_t dirs_nr, dirs_alloc;
	struct into_batch *batches;
	size_t batches_nr, batches_alloc;
	struct into_git git;
};

/* --- into.c --- */

/** True for names in the destination's root that are ours and not part of the copy. */
bool into_is_own(const struct into *into, const char *name);

/** The part of the destination in which git makes the worktree. */
char *into_aside_name(const struct into *into);

/* --- into_write.c --- */

/** List what is to be written. */
int into_list(struct into *into);

/** An unfinished copy must have nothing that is not part of it. */
int into_check_left(struct into *into);

/** Write everything; what is there already stays if it is as it should be. */
int into_write(struct into *into);

/** The hash that the copy must have. */
int into_hash_target(struct into *into);

/** Read what is on disk; sets post_hash, verified, match and differing. */
int into_verify(struct into *into);

void into_write_release(struct into *into);

/* --- into_worktree.c --- */

/** Look at the repository before anything is written, and refuse what cannot be done. */
int into_git_plan(struct into *into);

/** Make the linked worktree, with HEAD, index and branch. */
int into_git_apply(struct into *into);
void into_git_release(struct into_git *git);

#endif
