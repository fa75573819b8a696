/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITWRITE_H
#define CKPT_GITSTATE_GITWRITE_H

#include "base/base.h"

struct gitstate;
struct repo;
struct store;

/**
 * Changing the project's repository, because the user asked for that by name.
 *
 * Refs, HEAD, objects and configuration are changed by stock git, with the old
 * value given; the index is made by it beside the old one and put in place through
 * index.lock. No hook, fsmonitor program or filter runs.
 *
 * Each function leads to a state, whatever part of it exists already: called
 * again after an interruption it does the rest. Everything is durable when it
 * returns. What a killed process may leave is a lock or the new index beside the
 * old one; gitwrite_remove_own() removes both, and nothing of anybody else.
 */
struct gitwrite {
	const struct repo *repo;
	const char *message; /**< for reflogs: "checkpoint: restore chk_…" */
	const char *index;   /**< a file in place of the repository's index, or NULL */
};

/** A ref, by its full name, and where it is to go; NULL: it does not exist. */
struct gitwrite_ref {
	char *name, *old, *new;
};

struct gitwrite_refs {
	struct gitwrite_ref *items;
	size_t nr, alloc;
};

void gitwrite_refs_add(struct gitwrite_refs *refs, const char *name, const char *old,
		       const char *new);
void gitwrite_refs_release(struct gitwrite_refs *refs);

/* --- gitwrite_refs.c --- */

/**
 * Move, make and delete all of them or none, then HEAD, or HEAD first where it
 * must leave a ref that goes. HEAD is `ref`, or `commit` if that is NULL; `now`
 * is where it is. Fails if one of them is not where it is said to be; CKPT_EREFUSED where a link leads
 * elsewhere.
 */
int gitwrite_move(const struct gitwrite *how, const struct gitwrite_refs *refs, const char *ref,
		  const char *commit, const struct gitstate *now);

/** Make new ones, without HEAD. */
int gitwrite_refs_make(const struct gitwrite *how, const struct gitwrite_refs *refs);

/** Add the lines "branch.<name>.<key>=<value>" of a branch, or remove exactly these. */
int gitwrite_config(const struct gitwrite *how, const char *branch, const struct strlist *lines,
		    bool add);

/** Take out of such lines what the configuration has. */
void gitwrite_config_drop_present(const struct gitwrite *how, struct strlist *lines);

/* --- gitwrite_operation.c --- */

/** Make the files of the operation in progress those of `goal`; `now` has those that exist. */
int gitwrite_operation(const struct repo *repo, const struct gitstate *now,
		       const struct gitstate *goal);

/* --- gitwrite_objects.c --- */

/** The contents of a blob that the repository may lack. CKPT_ENOTFOUND: there are none. */
typedef int (*gitwrite_blob_fn)(struct strbuf *out, const char *oid, void *payload);

/** Of these ids, add those that the repository lacks to `out`; sorted. */
int gitwrite_missing(struct strlist *out, const struct repo *repo, const struct strlist *oids);

/** Whether the repository has it. */
int gitwrite_has(bool *out, const struct repo *repo, const char *oid);

/** Make blobs of these ids, all of which `blob` must have. */
int gitwrite_blobs(const struct gitwrite *how, const struct strlist *oids, gitwrite_blob_fn blob,
		   void *payload);

/**
 * Add the objects of a pack, which may be a thin one. `strict`: only if `git fsck --strict` has nothing
 * against them.
 */
int gitwrite_pack(const struct gitwrite *how, const void *data, size_t len, bool strict);

/* --- gitwrite_index.c --- */

/**
 * Whether the present index is that: what the tree `goal->head_tree` has, with the entries of `goal`
 * in its place. CKPT_ENOTFOUND: the repository lacks the tree. CKPT_EREFUSED: it has paths that git
 * allows in no index.
 */
int gitwrite_index_is(bool *out, const struct repo *repo, const struct gitstate *goal);

/**
 * Make such an index beside the present one and take index.lock; CKPT_EREFUSED if somebody else has
 * that. Stat data are those of the present index where an entry is the same.
 */
int gitwrite_index_lock(struct store *store, const struct repo *repo, const struct gitstate *goal);

/**
 * Make it in the store alone, to see whether git takes all of it, and would on any system: CKPT_EREFUSED
 * or CKPT_ERROR if it does not.
 */
int gitwrite_index_try(struct store *store, const struct repo *repo, const struct gitstate *goal);

/** Put it in place, which releases the lock. */
int gitwrite_index_place(const struct repo *repo);

/* --- gitwrite_worktree.c --- */

/** Whether git allows this short name for a branch: CKPT_ERROR if not. */
int gitwrite_check_branch_name(const struct repo *repo, const char *branch);

/**
 * Whether a new branch can have this short name: CKPT_EREFUSED if it exists, or if the name of
 * another is in its way, which is only looked for if there is a `commit`; CKPT_ERROR if no branch can have
 * it. Nothing is written.
 */
int gitwrite_check_branch(const struct repo *repo, const char *branch, const char *commit);

/**
 * Make a directory that has no .git, but may have files, the root of a new linked worktree, with
 * HEAD at `commit` and no index. `aside` is a name in it that is used for a moment; what an
 * interrupted call left there is removed. CKPT_ERROR with what git says.
 */
int gitwrite_worktree(const struct gitwrite *how, const char *dir, const char *aside,
		      const char *commit);

/** If such a call was interrupted at its end: let git know where that worktree is. */
int gitwrite_worktree_settle(const struct gitwrite *how, const char *dir, const char *aside);

/* --- gitwrite_locks.c --- */

/**
 * The path of a lock that keeps these refs and HEAD (`refs` not NULL), the configuration or the
 * index from being written, or NULL. The caller frees it.
 */
char *gitwrite_find_lock(const struct repo *repo, const struct gitwrite_refs *refs, bool config);

/**
 * What git would write through for this, to a file that is elsewhere: a link in place of a ref, of
 * the configuration, of a reflog, or of a directory that leads there; or a reflog that has another
 * name. NULL: nothing. The caller frees it.
 */
char *gitwrite_find_link(const struct repo *repo, const struct gitwrite_refs *refs, bool config);

/** Say so. */
int gitwrite_refuse_link(const char *path);

/**
 * After an interruption: remove what a process that was to do this left, and wait a moment for a
 * git that is about to end. `since` is when it began, in seconds.
 */
void gitwrite_remove_own(const struct repo *repo, const struct gitwrite_refs *refs, bool config,
			 int64_t since);

#endif
