/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_STAGE_DIR_H
#define CKPT_RECORD_STAGE_DIR_H

#include <stdbool.h>
#include <stddef.h>

struct store;
struct strbuf;
struct strlist;

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
#define STAGE_DIR_PREFIX ".git-checkpoint-restore-"
#define STAGE_DIR_MARKER "git-checkpoint-staging"

enum stage_dir_kind {
	STAGE_DIR_NONE,	   /**< the user's */
	STAGE_DIR_OWN,	   /**< of this store */
	STAGE_DIR_STRAY,   /**< of this store, which has forgotten it */
	STAGE_DIR_FOREIGN, /**< of another, or of a folder that was moved or copied here */
};

struct stage_dir {
	char *name;
	enum stage_dir_kind kind; /**< never STAGE_DIR_NONE */
	char *store;            /**< as the marker has it, may be "" */
	char *worktree;
};

struct stage_dirs {
	struct stage_dir *items;
	size_t nr, alloc;
};

/** Whether a name could be that of one. */
bool stage_dir_is_name(const char *name);

/** All that are in the root of `worktree`. `store` may be NULL: then all are foreign. */
void stage_dir_list(struct stage_dirs *out, struct store *store, const char *worktree);
void stage_dirs_release(struct stage_dirs *dirs);

/** What a directory of such a name is; one that is gone by now was a restore's. */
enum stage_dir_kind stage_dir_look(struct store *store, const char *worktree, const char *name);

/** Make the directory `name`, which must not be there, and its marker; `fd_out` is open for it. */
int stage_dir_make(int *fd_out, struct store *store, int rootfd, const char *name);

/** Remove all that is in one but the marker and what is listed. `name` is for messages. */
int stage_dir_empty(int fd, const char *name, const struct strlist *but);

/** Remove one of ours with all that is in it, the marker last, and forget its name. */
int stage_dir_remove(struct store *store, int rootfd, const char *name);

/** Forget the name of one that is not there any more. */
int stage_dir_forget(struct store *store, const char *name);

/**
 * Forget all names but these: one without its directory, or one that the user
 * has put to use, is of no use.
 */
void stage_dir_forget_others(struct store *store, const struct stage_dirs *dirs);

/** True if the restore that made it is at work, even if it is one of another store. */
bool stage_dir_in_use(int rootfd, const char *name);

/** True if the store that made it still knows of it, so that its restore may yet be settled. */
bool stage_dir_is_known(const struct stage_dir *dir);

#endif
