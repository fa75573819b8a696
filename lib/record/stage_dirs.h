/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_STAGE_DIRS_H
#define CKPT_RECORD_STAGE_DIRS_H

#include <stdbool.h>
#include <stddef.h>

struct store;
struct strbuf;

/**
 * The directories in which restores prepare their files, in the worktree's root
 * among the user's own: which of those that are there are such ones, and whose.
 *
 * A name alone proves nothing. Before the directory is made, its name is put
 * down in the store (checkpoint/staging); before anything else is in it, it
 * gets a marker that has the name, the store and the worktree; that is also the
 * last thing to go. So whatever is killed when:
 *
 *   marker, name known to the store    ours
 *   neither files nor marker, known    ours, made or removed half
 *   marker with this store and place,
 *   name not known                     a stray: ours, and forgotten; a power cut has
 *                                      brought it back
 *   marker, name not known             of another store, or of another place:
 *                                      it may hold what was displaced there
 *   anything else                      a path of the user's like any other
 */
#define STAGING_PREFIX ".git-checkpoint-restore-"
#define STAGING_MARKER "git-checkpoint-staging"

enum staging_kind {
	STAGING_NONE,    /**< the user's */
	STAGING_OWN,     /**< of this store */
	STAGING_STRAY,   /**< of this store, which has forgotten it */
	STAGING_FOREIGN, /**< of another, or of a folder that was moved or copied here */
};

struct staging_dir {
	char *name;
	enum staging_kind kind; /**< never STAGING_NONE */
	char *store;            /**< as the marker has it, may be "" */
	char *worktree;
};

struct staging_dirs {
	struct staging_dir *items;
	size_t nr, alloc;
};

/** Whether a name could be that of one. */
bool staging_is_name(const char *name);

/** All that are in the root of `worktree`. `store` may be NULL: then all are foreign. */
void staging_list(struct staging_dirs *out, struct store *store, const char *worktree);
void staging_dirs_release(struct staging_dirs *dirs);

/** What a directory of such a name is; one that is gone by now was a restore's. */
enum staging_kind staging_look(struct store *store, const char *worktree, const char *name);

/** Make the directory `name`, which must not be there, and its marker; `fd_out` is open for it. */
int staging_make(int *fd_out, struct store *store, int rootfd, const char *name);

/** Remove one of ours with all that is in it, the marker last, and forget its name. */
int staging_remove(struct store *store, int rootfd, const char *name);

/** Forget the name of one that is not there any more. */
int staging_forget(struct store *store, const char *name);

/**
 * Forget all names but these: one without its directory, or one that the user
 * has put to use, is of no use.
 */
void staging_forget_all(struct store *store, const struct staging_dirs *dirs);

/** True if the restore that made it is at work, even if it is one of another store. */
bool staging_in_use(int rootfd, const char *name);

/** True if the store that made it still knows of it, so that its restore may yet be settled. */
bool staging_is_known(const struct staging_dir *dir);

#endif
