/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_STATE_H
#define CKPT_STORE_STATE_H

#include "base/base.h"

struct store;

enum { STATE_VERSION = 1 };

/**
 * What a store remembers besides checkpoints and refs: one JSON object in
 * checkpoint/state, written whole. Each member belongs to one module, whose
 * header says what is in it; the manual lists all of them.
 *
 * Small things only: whoever changes one member writes all of them. What keeps
 * a checkpoint alive is a ref, never a member of this file, so that its loss
 * costs convenience and no data.
 *
 * Every change waits for the disk: what is written at each call and may get
 * lost belongs into a cache.
 *
 * A reader without the lock sees the file before or after a change, never half
 * of one. What was read is kept in memory while the file stays the same.
 */

/**
 * The member `name`, a new reference; NULL if there is none. CKPT_ECORRUPT if
 * the file is not what this module wrote.
 */
int state_get(json_t **out, struct store *store, const char *name);

/** The same of the store open as `dirfd`, which is perhaps another one; NULL as well if it is damaged. */
json_t *state_peek(int dirfd, const char *name);

/**
 * Set the member `name` to `value`, which is taken over; NULL removes it. The
 * store is locked. A damaged file is set aside as checkpoint/state.damaged and
 * replaced. Writes nothing if that is its value already.
 */
int state_set(struct store *store, const char *name, json_t *value);

/** Forget what is in memory. For store_close(). */
void state_release(struct store *store);

#endif
