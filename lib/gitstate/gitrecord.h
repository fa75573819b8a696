/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITRECORD_H
#define CKPT_GITSTATE_GITRECORD_H

#include "gitstate/gitread.h"
#include "record/record.h"

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
struct gitrecord_blob {
	char hex[GITSTATE_OID]; /**< its id in the project */
	struct oid oid;		/**< in the store */
};

struct gitrecord {
	struct gitstate state;
	struct gitrecord_blob *blobs; /**< sorted by `hex` */
	size_t nr, alloc;
	struct oid autostash; /**< of the pack, a blob; zero: there is none */
};

/**
 * What a checkpoint recorded. CKPT_ENOTFOUND if it has nothing of the kind: the
 * project is not a repository, or could not be read. CKPT_ECORRUPT if it is damaged.
 */
int gitrecord_load(struct gitrecord *out, struct store *store, const struct ckpt_record *record);
void gitrecord_release(struct gitrecord *git);

/** The blob in the store with the contents of a project's object; NULL: it was not copied. */
const struct oid *gitrecord_find(const struct gitrecord *git, const char *hex);

/** Append; the caller keeps the order. */
void gitrecord_add_blob(struct gitrecord *git, const char *hex, const struct oid *oid);

/** True if everything in such a tree is in the store, as far as is known without reading it. */
bool gitrecord_is_whole(struct store *store, struct pack *pack, const struct oid *tree);

/** Add the tree to a pack; the blobs must be in it, or in the store. */
int gitrecord_write(struct oid *tree_out, const struct gitrecord *git, struct pack *pack);

/**
 * The hash of a state; contents count by their ids. ORIG_HEAD does not count:
 * even a merge that has nothing to do writes it. Returns `out`.
 */
char *gitrecord_hash(char out[STATEHASH_SIZE], const struct gitstate *state);

/* --- for tests --- */

/** The texts, in the order of their names. */
enum gitrecord_text {
	GITRECORD_FLAGGED,
	GITRECORD_HEAD,
	GITRECORD_INDEX,
	GITRECORD_OPERATION,
	GITRECORD_REFS,
};
enum { GITRECORD_TEXTS = 5 };

void gitrecord_encode(struct strbuf *out, const struct gitstate *state, enum gitrecord_text which);

/** Add to `state` what a text says; CKPT_ECORRUPT if it is malformed. */
int gitrecord_decode(struct gitstate *state, const struct strbuf *text, enum gitrecord_text which);

#endif
