/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REFS_H
#define CKPT_STORE_REFS_H

#include "base/base.h"

struct store;

/**
 * refs/checkpoints/<id>: one ref for each checkpoint; the ref is what makes it
 * exist.
 *
 * Read here rather than through libgit2, whose iterator stops at the first
 * damaged ref; here a damaged ref hides only itself. Packed refs are read too:
 * stock git may have packed them, or we, if there are many.
 */
enum { CKPT_ID_SIZE = 32 };

struct ref_item {
	char id[CKPT_ID_SIZE];
	struct oid commit; /**< zero: the ref cannot be read */
};

/** By id, which is the order of saving: see record_next_id(). */
struct ref_list {
	struct ref_item *items;
	size_t nr, alloc;
	size_t loose; /**< how many are loose, each in its own file */
};

/** By id. */
int refs_list(struct ref_list *out, struct store *store);
void refs_release(struct ref_list *list);

/** Whether a list by id has that one. */
bool refs_has(const struct ref_list *list, const char *id);

/** The one with that id, in any order, or NULL. */
const struct ref_item *refs_find(const struct ref_list *list, const char *id);

/** Append one; `commit` NULL: not known. */
void refs_add(struct ref_list *list, const char *id, const struct oid *commit);

/** What a loose ref ("refs/heads/latest") names; false if that cannot be told. */
bool refs_read_loose(struct oid *out, struct store *store, const char *name);

/** True if `id` has the form of an id: chk_YYYYMMDD_HHMMSS_xxxxxx. */
bool refs_valid_id(const char *id);

/** Make a checkpoint exist; durable when it returns. */
int refs_create(struct store *store, const char *id, const struct oid *commit);

/** True if a ref of that name exists, sound or not: it was not dropped meanwhile. */
bool refs_exist(struct store *store, const char *id);

/**
 * Delete a checkpoint, durably when it returns. It is not an error if it does not exist.
 * Lines that stock git packed are removed from packed-refs under git's own lock on it: CKPT_ELOCKED if another process holds
 * that for long. The store must be locked.
 */
int refs_delete(struct store *store, const char *id);

/**
 * Before deleting many: remove those that are packed from packed-refs in one go,
 * as each change rewrites the whole file. Otherwise like refs_delete().
 */
int refs_unpack(struct store *store, const struct strlist *ids);

/**
 * Pack the loose refs, as `git pack-refs` does, if there are so many (`loose`,
 * see above) that reading them takes long. A failure leaves them as they were.
 * The store must be locked.
 */
void refs_pack(struct store *store, size_t loose);

/**
 * Where a plain `git log` in the store starts; a convenience that may be lost.
 * NULL: no checkpoint is left.
 */
void refs_set_latest(struct store *store, const struct oid *commit);

/** The commit it points at; false if it does not exist or cannot be read. */
bool refs_latest(struct oid *out, struct store *store);

/** Set it to the newest of `refs`, which are in the order of saving, unless it exists. */
void refs_repair_latest(struct store *store, const struct ref_list *refs);

#endif
