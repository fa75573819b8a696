/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITSAVE_H
#define CKPT_GITSTATE_GITSAVE_H

#include "gitstate/gitrecord.h"

struct session;

/**
 * The state of the project's repository on its way into a checkpoint.
 *
 * While the stat data of the repository stays what it was, nothing is read: the
 * file "gitstate" in the store remembers that data and which checkpoint has the
 * state. It can be removed at any time; then everything is read again.
 *
 * Contents that only the project's repository has are copied: what is staged,
 * and what an operation put aside. git is asked only for what is neither in the
 * store nor among the files that were just read. What the repository lacks, or
 * is too large, is named in the notes.
 *
 * A repository that cannot be read does not prevent a checkpoint: it is taken
 * without this, and the notes say so.
 */
struct gitsave {
	struct session *session;
	struct strlist *notes;
	double until; /**< clock_monotonic(), when git must have answered; 0: the usual */
	struct repo_state project; /**< as far as it is known, whatever else is */
	bool known;		   /**< what follows is the state now */
	char hash[STATEHASH_SIZE];
	struct gitindex_counts index;
	unsigned step, total;
	bool read;	      /**< `git` has it all; otherwise `tree` is that of a checkpoint */
	struct gitrecord git; /**< without blobs until they are written */
	struct oid tree;
	struct strbuf stat; /**< for gitstate_is_same(); empty: cannot be relied on */
};

/**
 * Find out the state. The store is locked, `refs` are its checkpoints; what is wrong goes to `notes`,
 * now and later. Call gitsave_release() in any case.
 */
void gitsave_look(struct gitsave *save, struct session *session, const struct ref_list *refs,
		  struct strlist *notes, double until);
void gitsave_release(struct gitsave *save);

/** A rebase has just put changes aside: record the state before that. */
void gitsave_undo_autostash(struct gitsave *save);

/** True if a checkpoint has it, as far as it is known. */
bool gitsave_is_same(const struct gitsave *save, const struct ckpt_record *record);

/**
 * Bytes of staged contents that the store does not have, at most; after the scan. `newest` and `pack`
 * may be NULL.
 */
uint64_t gitsave_bytes(const struct gitsave *save, const struct ckpt_record *newest,
		       struct pack *pack);

/** Put it into a pack, and say which tree it is; zero: nothing is known. */
int gitsave_write(struct oid *tree_out, struct gitsave *save, const struct ckpt_record *newest,
		  struct pack *pack);

/** What a record says of it. */
void gitsave_describe(struct ckpt_record *record, const struct gitsave *save);

/** Remember that a checkpoint, whose tree of it is `tree`, has this state. */
void gitsave_remember(const struct gitsave *save, const char *id, const struct oid *tree);

#endif
