/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_JOURNAL_H
#define CKPT_RECORD_JOURNAL_H

#include "store/store.h"

/**
 * What a restore is: of a checkpoint that somebody named, a step on the stack of restores, or of
 * what lies between two checkpoints.
 */
enum journal_kind { JOURNAL_RESTORE, JOURNAL_UNDO, JOURNAL_REDO, JOURNAL_REVERT, JOURNAL_PICK };

/** A restore of its own, which undo takes back, not a step on the stack. */
static inline bool journal_kind_is_new(enum journal_kind kind)
{
	return kind == JOURNAL_RESTORE || kind == JOURNAL_REVERT || kind == JOURNAL_PICK;
}

/** "restore", "undo", "redo", "revert", "pick": in the journal, and in the audit trail. */
const char *journal_kind_name(enum journal_kind kind);

/** What of a checkpoint is restored: files, and the index, or everything that git knows. */
enum journal_git { JOURNAL_FILES, JOURNAL_INDEX, JOURNAL_GIT };

/** "files", "index", "git". */
const char *journal_git_name(enum journal_git git);

/**
 * checkpoint/undo: the stack of restores that undo and redo walk. Each has the
 * state before it and, once undone, the state that redo leads to.
 */
struct undo_entry {
	char before[CKPT_ID_SIZE];
	char restored[CKPT_ID_SIZE]; /**< the checkpoint, or the composed state, that was restored */
	char after[CKPT_ID_SIZE];    /**< "" until it is undone */
	struct strlist paths;
	/**
	 * Directories outside `paths` that the last step created on the way: the next step removes
	 * them.
	 */
	struct strlist made;
	enum journal_git git;
	struct strlist refs, config; /**< as in the journal of the restore itself */
	char *source;		     /**< who asked for it, or for its redo */
};

struct undo_stack {
	struct undo_entry *items;
	size_t nr, alloc;
	size_t done;  /**< how many from the bottom are in effect; those above were undone */
	bool damaged; /**< there is a file, but not what was written: what was in it is not known */
};

/**
 * checkpoint/journal: exists while a restore is in progress, and after one was
 * interrupted. Written before the worktree is first touched, removed when the
 * result is verified; always complete or absent.
 *
 * It has what is needed to go on or back. Both are ordinary restores, planned
 * from what is then on disk: to the target, or to the state before.
 */
struct journal {
	char target[CKPT_ID_SIZE];
	char safety[CKPT_ID_SIZE]; /**< the state before */
	enum journal_kind kind;
	char *stages; /**< names of the stages in the root, separated by blanks */
	char *reason;
	char *source; /**< who asked for it */
	struct strlist paths;
	struct strlist made; /**< see undo_entry */
	/**
	 * "<octal mode> <path>" of directories whose modes no checkpoint knows, since
	 * they are only on the way, and which have another mode during the restore.
	 */
	struct strlist modes;
	bool no_delete;
	bool replaying; /**< the files are in place, captures are being restored */
	enum journal_git git;
	/** "<ref> <old id> <new id>" of branches that it moves, "-" for none. */
	struct strlist refs;
	struct strlist
		config;	   /**< lines of the configuration of a branch that it makes or removes */
	int64_t git_began; /**< when we last began to change the repository; 0: not yet */
	struct undo_stack undo; /**< as it was before: going back takes it back, too */
};

/** CKPT_ENOTFOUND: no restore is in progress. */
int journal_read(struct journal *out, struct store *store);
int journal_write(const struct journal *journal, struct store *store);

/** The stack is as it shall be; what only the one before needed is free to go. */
int journal_remove(struct store *store);
void journal_release(struct journal *journal);

/** True if it exists, sound or not. */
bool journal_exists(const struct store *store);

/** True if it exists and the process that wrote it no longer runs. */
bool journal_is_left(const struct store *store);

/** Who asks, if nothing else was said. */
#define JOURNAL_SOURCE "cli"

/**
 * A missing or damaged stack is an empty one; see `damaged`. CKPT_ERROR, and an empty one, if it
 * cannot be read now: then it must not be written, and any checkpoint may be in it.
 */
int journal_undo_read(struct undo_stack *out, struct store *store);
int journal_undo_write(const struct undo_stack *stack, struct store *store);
void journal_undo_release(struct undo_stack *stack);

enum { UNDO_MAX = 100 };

/**
 * Add a new restore: what had been undone is forgotten, and so is the oldest of
 * more than UNDO_MAX. Everything that the stack names is kept (store/keepers.h), so it
 * must be limited.
 */
void journal_undo_push(struct undo_stack *stack, const char *before, const char *restored,
		       const struct strlist *paths, const struct strlist *made);

#endif
