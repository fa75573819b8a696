/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_STAGE_DIR_H
#define CKPT_RECORD_STAGE_DIR_H

#include "base/base.h"

struct store;

/**
 * The directories in which restores prepare their files, in the worktree's root
 * among the user's files: which of the existing directories are stages,
 * and of which store.
 *
 * A name alone proves nothing. Before the directory is created, its name is recorded
 * in the store ("stages" in store/state.h); before anything else is in it, it gets a marker
 * with its name, the store and the worktree, which is also the last file to be
 * removed. So, whatever is killed at whatever moment:
 *
 *   marker, name known to the store    ours
 *   neither files nor marker, known    ours, half created or half removed
 *   marker with this store and place,
 *   name not known                     a stray: ours, but forgotten; a power cut has
 *                                      brought it back
 *   marker, name not known             of another store, or of another place:
 *                                      it may hold files that were displaced there
 *   anything else                      an ordinary path of the user
 */
#define STAGE_DIR_PREFIX ".git-checkpoint-restore-"
#define STAGE_DIR_MARKER "git-checkpoint-staging"

enum stage_dir_kind {
	STAGE_DIR_NONE,	   /**< the user's */
	STAGE_DIR_OWN,	   /**< of this store */
	STAGE_DIR_STRAY,   /**< of this store, but forgotten */
	STAGE_DIR_FOREIGN, /**< of another store, or of a folder that was moved or copied here */
};

struct stage_dir {
	char *name;
	enum stage_dir_kind kind; /**< never STAGE_DIR_NONE */
	char *store;            /**< according to the marker, may be "" */
	char *worktree;
};

struct stage_dirs {
	struct stage_dir *items;
	size_t nr, alloc;
};

/** Whether a stage could have that name. */
bool stage_dir_is_name(const char *name);

/** All that are in the root of `worktree`. `store` may be NULL: then all are foreign. */
void stage_dir_list(struct stage_dirs *out, struct store *store, const char *worktree);
void stage_dirs_release(struct stage_dirs *dirs);

/** What a directory with such a name is; if it is gone by now, it was a restore's. */
enum stage_dir_kind stage_dir_look(struct store *store, const char *worktree, const char *name);

/** Create the directory `name`, which must not exist, and its marker; `fd_out` is open for it. */
int stage_dir_make(int *fd_out, struct store *store, int rootfd, const char *name);

/** Remove everything in it except the marker and what is listed. `name` is for messages. */
int stage_dir_empty(int fd, const char *name, const struct strlist *but);

/** Remove one of ours with everything in it, the marker last, and forget its name. */
int stage_dir_remove(struct store *store, int rootfd, const char *name);

/** True if the store that created it still knows it, so that its restore may yet be finished. */
bool stage_dir_is_known(const struct stage_dir *dir);

/* --- what to do with the stage of a restore that was interrupted --- */

/** Whether the store has all contents of `name` in the stage open as `stagefd`. */
bool stage_is_stored(struct store *store, int stagefd, const char *name);

/** Give the stage `name` a plain name, which is put into `rescued_out`. */
int stage_rescue(struct strbuf *rescued_out, struct store *store, int rootfd, const char *name);

/**
 * Remove what an interrupted restore left in its stage `name`. If it
 * holds something that no checkpoint has (written just before it was exchanged),
 * the directory gets a plain name instead, which is put into `rescued_out`; NULL: it stays as it
 * is, which is for freeing space.
 */
int stage_settle(struct strbuf *rescued_out, struct store *store, int rootfd, const char *name);

/**
 * Remove what restores of this store left that were killed before they touched
 * anything, and clean up strays: only without a journal, and with the lock
 * held. A sentence about what had to be kept is added to `notes`.
 */
void stage_sweep(struct strlist *notes, struct store *store, const char *worktree);

#endif
