/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_RECORD_GIT_H
#define CKPT_RECORD_RECORD_GIT_H

#include "base/base.h"
#include "git/git.h"
#include "record/statehash.h"

struct ckpt_meta;
struct ckpt_record;
struct pack;
struct store;

/**
 * The state of the project's repository in a checkpoint: the tree "git" of its
 * metadata.
 *
 *     git/  flagged         entries of the index that differ from HEAD's tree in flags only
 *           head            HEAD, and the configuration of its branch
 *           index           what the index has that HEAD's tree has not
 *           operation       an operation in progress: its refs and files
 *           refs            branches and stashes
 *           blobs/          the contents of what is staged: a blob for each, named by its id in
 *                           the project, so that it survives there being pruned
 *           autostash.pack  the objects of changes that the operation put aside
 *
 * The texts consist of fields that end in a NUL; git-checkpoint-format(5)
 * describes them. What is empty is left out. Texts that do not change are
 * stored once.
 */
struct record_git_blob {
	char hex[GITSTATE_OID]; /**< its id in the project */
	struct oid oid;		/**< in the store */
};

struct record_git {
	struct gitstate state;
	struct record_git_blob *blobs; /**< sorted by `hex` */
	size_t nr, alloc;
	struct oid autostash; /**< of the pack, a blob; zero: there is none */
};

/**
 * What a checkpoint recorded. CKPT_ENOTFOUND if it has nothing of the kind: the
 * project is not a repository, or could not be read. CKPT_ECORRUPT if it is damaged.
 */
int record_git_load(struct record_git *out, struct store *store, const struct ckpt_record *record);
void record_git_release(struct record_git *git);

/** The blob in the store with the contents of a project's object; NULL: it was not copied. */
const struct oid *record_git_find(const struct record_git *git, const char *hex);

/** Append; the caller keeps the order. */
void record_git_add_blob(struct record_git *git, const char *hex, const struct oid *oid);

/** True if everything in such a tree is in the store, as far as is known without reading it. */
bool record_git_is_whole(struct store *store, struct pack *pack, const struct oid *tree);

/** Add the tree to a pack; the blobs must be in it, or in the store. */
int record_git_write(struct oid *tree_out, const struct record_git *git, struct pack *pack);

/**
 * The hash of a state; contents count by their ids. ORIG_HEAD does not count:
 * even a merge that has nothing to do writes it. Returns `out`.
 */
char *record_git_hash(char out[STATEHASH_SIZE], const struct gitstate *state);

#endif
