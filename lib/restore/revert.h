/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_REVERT_H
#define CKPT_RESTORE_REVERT_H

#include "record/record.h"
#include "restore/compose.h"

struct session;

/**
 * Taking back what changed from one checkpoint to another, and keeping what was done since: for
 * each path a three-way merge, with the later checkpoint as base, the worktree as ours and the
 * earlier one as theirs. Picking is the same with the two exchanged: what changed from the earlier
 * to the later one is done here as well. It only makes a target (see compose.h); the restore is one
 * like any other.
 *
 * What cannot be merged stays as it is, and is named.
 */
struct revert {
	struct session *session;
	const struct ckpt_record *from; /**< theirs: how it was, or shall be, without what was done here */
	const struct ckpt_record *to;	/**< base: what the worktree is compared with */
	bool pick;		     /**< `from` is the later one; for the sentences alone */
	const struct pathspec *only;	     /**< limits it; NULL: all of it */
	bool markers;			     /**< write text with git's conflict markers */
};

/** For restore_opts.composed; `payload` is a struct revert. */
int revert_compose(struct compose *compose, void *payload);

/**
 * Turn a second record of `from` into the target of the restore, which says how the worktree is to
 * be scanned: so that everything is seen that is in either.
 */
void revert_widen(struct ckpt_record *target, const struct ckpt_record *to);

/**
 * The two checkpoints that "<c>", "<a>..<b>" or "<a>.." means: what `show -p <c>` compares, or
 * what was named; the newest that is not a safety checkpoint if nothing is. CKPT_ENOTFOUND,
 * with a message that names the way, if the one before <c> is gone or there was none. Call
 * record_release() on both in any case.
 */
int revert_range(struct ckpt_record *from, struct ckpt_record *to, struct session *session,
		 const char *typed);

#endif
