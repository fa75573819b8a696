/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_AUDIT_H
#define CKPT_RECORD_AUDIT_H

#include "base/json.h"
#include "base/oid.h"

struct store;

/**
 * checkpoint/log: the audit trail, one JSON object a line, oldest first. Lines
 * are appended whole; a line that was torn by a power loss is passed over.
 */

/** `id`, `commit`, `reason` and `hash` may be NULL. */
int ckpt_audit_add(struct store *store, const char *action, const char *id,
		   const struct oid *commit, const char *reason, const char *hash);

/** The newest `max` entries (0: all), newest first, as an array that the caller owns. */
int ckpt_audit_read(json_t **out, struct store *store, size_t max);

#endif
