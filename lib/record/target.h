/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_TARGET_H
#define CKPT_RECORD_TARGET_H

#include "base/base.h"
#include "record/checkpoint.h"

struct store;

/**
 * What a journal or an undo stack names, by its full id: a checkpoint, or a state that a
 * restore leads to and that is none (see restore/compose.h). No list shows such a composed
 * state; it exists as long as the journal or the undo stack needs it (store/keepers.h).
 */

/** Either may be meant. */
bool target_valid_id(const char *id);

/** False: it was dropped, or not needed any more. */
bool target_exists(struct store *store, const char *id);

/** Read its record; CKPT_ENOTFOUND if there is none. */
int target_read(struct ckpt_record *out, struct store *store, const char *id);

/** A new id for a composed state. */
int target_make_id(char out[CKPT_ID_SIZE], struct store *store, int64_t now);

/** What to show a person: of a composed state the checkpoint that it leads to. */
const char *target_name(const struct ckpt_record *record);

#endif
