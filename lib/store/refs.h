/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REFS_H
#define CKPT_STORE_REFS_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct store;

/**
 * refs/checkpoints/<id>: one ref for each checkpoint, and what makes it exist.
 *
 * Read here rather than through libgit2, whose iterator ends at the first ref
 * that is damaged; here a damaged one hides nothing but itself. Packed refs
 * are read too: stock git may have packed them, or we, where there are many.
 */
enum { CKPT_ID_SIZE = 32 };

struct ref_item {
	char id[CKPT_ID_SIZE];
	struct oid commit; /**< zero: the ref cannot be read */
};

/** In the order of ids, which is the order of saving. */
struct ref_list {
	struct ref_item *items;
	size_t nr, alloc;
	size_t loose; /**< so many have a file of their own */
};

int refs_list(struct ref_list *out, struct store *store);
void refs_release(struct ref_list *list);

/** True if `id` has the form of an id: chk_YYYYMMDD_HHMMSS_xxxxxx. */
bool refs_valid_id(const char *id);

/** Make a checkpoint exist; durable when it returns. */
int refs_create(struct store *store, const char *id, const struct oid *commit);

/** True if there is a ref of that name, sound or not: it was not dropped meanwhile. */
bool refs_exist(struct store *store, const char *id);

/**
 * Let a checkpoint go, for good when it returns; its mark goes after it. None
 * of that name is no failure. Lines that stock git packed are taken out of
 * packed-refs under git's own lock on it: CKPT_ELOCKED if another process holds
 * that for long. The store must be locked.
 */
int refs_delete(struct store *store, const char *id);

/**
 * Before many are deleted: take those of them that are packed out of
 * packed-refs at once, as all of it is written each time. Else as refs_delete().
 */
int refs_unpack(struct store *store, const struct strlist *ids);

/**
 * Put the refs that have a file each into packed-refs, as `git pack-refs` does,
 * if they have become so many (`loose`, see above) that reading them takes its
 * time. A failure leaves them as they were. The store must be locked.
 */
void refs_pack(struct store *store, size_t loose);

/**
 * refs/pinned/<id> and refs/unpinned/<id>: what was said of a checkpoint after
 * it was taken. They point at its commit, so that stock git knows them too.
 */
enum refs_mark {
	REFS_UNMARKED, /**< what the checkpoint was saved with counts */
	REFS_PINNED,
	REFS_UNPINNED,
};

/** Of both, pinned counts. */
enum refs_mark refs_mark(struct store *store, const char *id);

/** The marks of all, where it is asked for many. */
struct refs_marks {
	struct strlist pinned, unpinned; /**< ids, sorted */
};

/** Fails if they cannot be read: then nothing may be taken for unmarked. */
int refs_marks_read(struct refs_marks *out, struct store *store);
void refs_marks_release(struct refs_marks *marks);

/** The same as refs_mark(). */
enum refs_mark refs_marks_find(const struct refs_marks *marks, const char *id);

/** Durable when it returns; the other mark is removed. The store must be locked. */
int refs_set_mark(struct store *store, const char *id, const struct oid *commit,
		  enum refs_mark mark);

/**
 * Remove marks on what is no checkpoint any more because its deletion was
 * interrupted, but none on those in `lost`.
 */
int refs_sweep_marks(struct store *store, const struct ref_list *lost);

/**
 * What a plain `git log` in the store begins at; a convenience that may be
 * lost. NULL: there is no checkpoint any more.
 */
void refs_set_latest(struct store *store, const struct oid *commit);

/** Where it is; false if it is nowhere, or cannot be read. */
bool refs_latest(struct oid *out, struct store *store);

/** Set it to the newest of `refs`, unless it is there. */
void refs_mend_latest(struct store *store, const struct ref_list *refs);

#endif
