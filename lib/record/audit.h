/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_AUDIT_H
#define CKPT_RECORD_AUDIT_H

#include "base/json.h"
#include "base/oid.h"

#include <stdint.h>

struct store;

/**
 * checkpoint/log: the audit trail, one JSON object a line, oldest first. Lines
 * are appended whole; a line that was torn by a power loss is passed over.
 */

/** `id`, `commit`, `reason` and `hash` may be NULL. */
int ckpt_audit_add(struct store *store, const char *action, const char *id,
		   const struct oid *commit, const char *reason, const char *hash);

/** Make what was added survive a power loss, as far as the disk allows. */
void ckpt_audit_sync(struct store *store);

/**
 * If the trail takes more than `max` bytes, forget the oldest lines so that
 * about half of that is left; where checkpoints that are still there came from
 * is not forgotten. The store must be locked.
 */
int ckpt_audit_trim(struct store *store, uint64_t max);

/** The newest `max` entries (0: all), newest first, as an array that the caller owns. */
int ckpt_audit_read(json_t **out, struct store *store, size_t max);

#endif
