/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITBACK_H
#define CKPT_GITSTATE_GITBACK_H

#include "gitstate/gitplan.h"
#include "gitstate/gitrecord.h"

struct session;

/** What of the repository a restore brings back, because it was asked for. */
struct gitback_opts {
	enum journal_git what;
	/**
	 * A step on the stack of restores, or an interrupted one: branches that move, as in the
	 * journal, and the configuration that goes with them. NULL: they go where the target has them.
	 */
	const struct strlist *refs, *config;
	bool reverse; /**< these go from their new values to the old ones */
};

/** What it does, for those who show it. */
struct gitback_told {
	enum journal_git what; /**< JOURNAL_FILES: nothing */
	struct strlist says;   /**< what changes, a line each; none: nothing does */
	struct gitback_side {
		char *head, *branch, *operation; /**< each may be NULL */
		struct gitindex_counts index;
	} from, to;
	bool checked, match; /**< the result was read again, and is as it should be */
	bool left;	     /**< nothing was touched, because the files did not verify */
};

void gitback_told_release(struct gitback_told *told);

struct gitback {
	/* To be set. */
	struct session *session;
	const struct ckpt_record *target;
	struct gitback_opts opts;
	enum journal_kind kind;
	struct journal
		*journal; /**< of the restore, written when the repository is about to change */
	bool interrupted; /**< the journal is that of an interrupted restore, which this finishes */
	bool force;	  /**< whatever an operation of another machine may run */

	struct gitstate now;
	struct strbuf stat;    /**< whether it still is `now`; may be empty */
	struct gitrecord goal; /**< as the target has it */
	struct gitwrite_refs remembered;
	struct gitplan_opts how;
	struct gitplan plan;
	bool planned;
	struct strlist blobs; /**< ids that the repository may lack and the checkpoint has */
};

/** Decide what to do, refuse what cannot be done, say it in `out`. */
int gitback_plan(struct gitback_told *out, struct gitback *back);

/** Nothing is to be done. */
bool gitback_is_empty(const struct gitback *back);

/** Put into the journal what is needed to go on or back. */
void gitback_note(struct gitback *back);

/** What is about to go must be in the safety checkpoint: 0 or CKPT_EREFUSED. */
int gitback_check_safety(const struct gitback *back, const struct ckpt_record *safety);

/** Do it, unless it is to be `left`, and look at the result. */
int gitback_apply(struct gitback_told *out, struct gitback *back, bool left);

void gitback_release(struct gitback *back);

/* --- for a new worktree, too --- */

/** Add `head` to `gone` if it, its history or its files are not all in the repository. */
int gitback_check_history(struct strlist *gone, const struct repo *repo, const char *head);

/**
 * Objects of the index: those to `blobs` that the checkpoint has and the repository may lack, so that
 * they can be written, and those to `missing` that nobody has. The former are read now, while nothing
 * is touched.
 */
int gitback_find_objects(struct strlist *blobs, struct strlist *missing, struct store *store,
			 const struct repo *repo, const struct gitrecord *goal);

#endif
