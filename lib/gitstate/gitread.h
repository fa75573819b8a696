/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITREAD_H
#define CKPT_GITSTATE_GITREAD_H

#include "git/git.h"

/**
 * Where the user is in a repository: HEAD, branches, stashes, the index, an
 * operation in progress. Read without locking or writing anything; hooks,
 * filters and fsmonitor programs of the repository do not run.
 *
 * The same structure tells what a checkpoint recorded (see record/). All
 * strings belong to it, gitstate_release() frees them. Ids are hex digits, 40
 * or 64 of them.
 */

/* Room for an id and a NUL. */
enum { GITSTATE_OID = 65 };

/** Beside enum gitindex_flags: mode and object are those of HEAD's tree, other flags differ. */
enum { GITSTATE_AS_HEAD = 1 << 3 };

/**
 * A path at which the index differs from the tree of HEAD, or has flags. An
 * unmerged path has one for each of its stages and none with stage 0.
 */
struct gitstate_entry {
	char *path;	/**< from the top of the worktree, in '/' */
	unsigned mode;	/**< 0100644, 0100755, 0120000, 0160000; 0: HEAD has it, the index does not */
	char oid[GITSTATE_OID]; /**< "" if `mode` is 0 */
	unsigned stage; /**< 0, or 1 to 3 */
	unsigned flags; /**< enum gitindex_flags, GITSTATE_AS_HEAD */
	unsigned head_mode; /**< what HEAD's tree has at this path; 0: nothing */
	char head_oid[GITSTATE_OID];
};

struct gitstate_ref {
	char *name; /**< full name ("refs/heads/main"), or of a ref beside HEAD ("CHERRY_PICK_HEAD") */
	char *oid;
	char *note; /**< of a stash: its message; otherwise NULL */
};

/** A small file of an operation in progress. */
struct gitstate_file {
	char *path; /**< below the git directory of the worktree: "rebase-merge/onto" */
	char *data; /**< a NUL follows */
	size_t len;
};

struct gitstate {
	char *head;	 /**< commit of HEAD, NULL: unborn */
	char *ref;	 /**< full name of the ref that HEAD is, NULL: detached */
	char *head_tree; /**< the tree that `entries` differ from; NULL: unborn, the empty tree */

	struct gitstate_entry *entries; /**< sorted by path, then stage */
	size_t entries_nr, entries_alloc;

	struct gitstate_ref *branches; /**< all of refs/heads/, sorted by name */
	size_t branches_nr, branches_alloc;
	struct gitstate_ref *stashes; /**< newest first; `name` is "stash@{0}" and so on */
	size_t stashes_nr, stashes_alloc;

	/**
	 * What an operation keeps as refs, sorted by name: refs/bisect/,
	 * refs/rewritten/, refs/worktree/, and those beside HEAD, such as
	 * CHERRY_PICK_HEAD and ORIG_HEAD, whether they are files or in a
	 * reftable. AUTO_MERGE is a tree, and may be gone from the repository.
	 */
	struct gitstate_ref *private_refs;
	size_t private_refs_nr, private_refs_alloc;

	/**
	 * Its files, sorted by path. Not those of `private_refs`, but MERGE_HEAD,
	 * which is a file in every repository.
	 */
	struct gitstate_file *files;
	size_t files_nr, files_alloc;

	/**
	 * "branch.<name>.<key>=<value>" for the branch of HEAD, or the one that is
	 * being rebased, in the order of the repository's configuration.
	 */
	struct strlist branch_config;

	char *operation; /**< as in struct repo_state, or NULL */
	unsigned step, total; /**< how far it is; 0: it has no steps */
	char *autostash; /**< commit of changes that the operation put aside, or NULL */
};

#define GITSTATE_INIT { .branch_config = STRLIST_INIT }

/**
 * Read the state of a repository now, as it was at one moment. CKPT_ENOTFOUND if
 * git is not installed, CKPT_ELOCKED if it did not answer in time or if another
 * process goes on changing the repository, CKPT_ECORRUPT if the index is
 * damaged, CKPT_ERROR if something else cannot be read; then `out` is empty.
 */
int gitstate_read(struct gitstate *out, const struct repo *repo);

/**
 * The same, and append to `stat` what gitstate_is_same() needs to see that it still
 * is like that; nothing if it changed so recently that this could not be seen.
 * `until` is when git must have answered, as clock_monotonic() has it; 0: the usual.
 */
int gitstate_read_noted(struct gitstate *out, struct strbuf *stat, const struct repo *repo,
			double until);

/** True if nothing changed since. Only looks at the names in such a text, and opens nothing. */
bool gitstate_is_same(const char *stat, size_t len, const struct repo *repo);

/**
 * Turn the state in which a rebase has just put changes aside, and nothing else,
 * into the one before that: what was staged is staged again, and no operation is
 * in progress.
 */
int gitstate_undo_autostash(struct gitstate *state, const struct repo *repo);

void gitstate_release(struct gitstate *state);

/**
 * CKPT_ECORRUPT, naming it, if something is in it that git does not have there:
 * paths that lead out of the worktree or into its .git, files that do not belong
 * to an operation, odd refs, or entries out of order. Whoever reads a state from
 * outside must ask, before anything is written from it.
 */
int gitstate_check(const struct gitstate *state);

/** Whether a file, or a ref, of this name belongs to an operation: nothing else is written or removed. */
bool gitstate_is_operation_file(const char *path);
bool gitstate_is_operation_ref(const char *name);

void gitstate_count(struct gitindex_counts *out, const struct gitstate *state);

/** Append an element with copies of what is given, to build a state; the caller keeps the order. */
struct gitstate_entry *gitstate_add_entry(struct gitstate *state, const char *path, unsigned mode,
					  const char *oid, unsigned stage, unsigned flags);
void gitstate_sort_entries(struct gitstate *state);
void gitstate_add_branch(struct gitstate *state, const char *name, const char *oid);
void gitstate_add_stash(struct gitstate *state, const char *oid, const char *note);
void gitstate_add_private_ref(struct gitstate *state, const char *name, const char *oid);
void gitstate_add_file(struct gitstate *state, const char *path, const void *data, size_t len);

#endif
