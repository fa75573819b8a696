/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_FETCHED_H
#define CKPT_STORE_FETCHED_H

#include "store/refs.h"

/**
 * refs/fetched/<machine>/<id>: checkpoints of other machines that were fetched and checked. They
 * are apart from those of this store: no list, no "@" and no limit on numbers knows them.
 */
struct fetched_item {
	char *machine;
	struct ref_item ref;
};

struct fetched_list {
	struct fetched_item *items; /**< by machine, then by id */
	size_t nr, alloc;
};

int fetched_list(struct fetched_list *out, struct store *store);

/** Refs below refs/fetched that cannot be read, which fetched_list() leaves out: their names. */
int fetched_damaged(struct strlist *out, struct store *store);
void fetched_release(struct fetched_list *list);

/** Append, for lists that are made elsewhere. */
void fetched_add(struct fetched_list *list, const char *machine, const char *id,
		 const struct oid *commit);
void fetched_sort(struct fetched_list *list);

/** The one of that machine with that id, or NULL. */
const struct fetched_item *fetched_find(const struct fetched_list *list, const char *machine,
					const char *id);

/** Whether any machine has that id. */
bool fetched_exists(struct store *store, const char *id);

/** The commit of one with that id, of whichever machine. */
bool fetched_any(struct oid *out, struct store *store, const char *id);

/** Durable when they return. The store must be locked. */
int fetched_create(struct store *store, const struct fetched_item *item);
int fetched_remove(struct store *store, const struct fetched_item *item);

#endif
