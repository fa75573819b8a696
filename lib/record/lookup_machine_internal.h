/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_LOOKUP_MACHINE_INTERNAL_H
#define CKPT_RECORD_LOOKUP_MACHINE_INTERNAL_H

#include "record/lookup.h"

/** For lookup.c: checkpoints of other machines, see store/fetched.h. */

/** "<machine>/@", "<machine>/<id>", a prefix of the id, or the digits at its end. */
int lookup_machine(struct ckpt_record *out, struct store *store, const char *name);

/**
 * By a whole id alone, which is how journals and the undo stack name one. CKPT_ENOTFOUND leaves the
 * message as it is.
 */
int lookup_fetched_id(struct ckpt_record *out, struct store *store, const char *id);

#endif
