/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_COMPOSED_H
#define CKPT_STORE_COMPOSED_H

#include "base/base.h"

struct store;

/**
 * refs/composed/<id>: states that a restore leads to and that are not
 * checkpoints (see restore/compose.h). No list shows them; they exist as long
 * as the journal or the undo stack names them.
 *
 * Their ids begin with "cmp_" and otherwise look like those of checkpoints.
 */

/** True if `id` has that form. */
bool composed_valid_id(const char *id);

/**
 * Make one exist; durable when it returns. As long as this process runs, it is not taken for one
 * that nobody needs: the journal comes later. The store must be locked.
 */
int composed_create(struct store *store, const char *id, const struct oid *commit);

/** What it names; false if it does not exist or cannot be read. */
bool composed_find(struct oid *out, struct store *store, const char *id);

/** All ids, sorted; CKPT_ERROR if they cannot be read. */
int composed_list(struct strlist *out, struct store *store);

/** It is not an error if it does not exist. The store must be locked. */
int composed_remove(struct store *store, const char *id);

#endif
