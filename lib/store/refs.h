/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REFS_H
#define CKPT_STORE_REFS_H

#include "base/oid.h"

#include <stdbool.h>
#include <stddef.h>

struct store;

/**
 * refs/checkpoints/<id>: one ref for each checkpoint, and what makes it exist.
 *
 * Read here rather than through libgit2, whose iterator ends at the first ref
 * that is damaged; here a damaged one hides nothing but itself. Packed refs
 * are read too, since stock git may have packed them.
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
};

int refs_list(struct ref_list *out, struct store *store);
void ref_list_release(struct ref_list *list);

/** True if `id` has the form of an id: chk_YYYYMMDD_HHMMSS_xxxxxx. */
bool refs_valid_id(const char *id);

/** Make a checkpoint exist; durable when it returns. */
int refs_create(struct store *store, const char *id, const struct oid *commit);

/** What a plain `git log` in the store begins at; a convenience that may be lost. */
void refs_set_latest(struct store *store, const struct oid *commit);

#endif
