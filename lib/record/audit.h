/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_AUDIT_H
#define CKPT_RECORD_AUDIT_H

#include "base/base.h"

#include <stdint.h>

struct ckpt_record;
struct store;

/**
 * checkpoint/log: the audit trail, one JSON object a line, oldest first. Lines
 * are appended whole; a line that was torn by a power loss is passed over.
 */

/** `id`, `commit`, `reason` and `hash` may be NULL. */
int audit_add(struct store *store, const char *action, const char *id, const struct oid *commit,
	      const char *reason, const char *hash);

/** That one was saved: `at` is when it was created, so that list and log name the same time. */
int audit_add_save(struct store *store, const struct ckpt_record *record);

/** Make what was added survive a power loss, as far as the disk allows. */
void audit_sync(struct store *store);

/**
 * If the trail takes more than `max` bytes, forget the oldest lines so that
 * about half of that is left; where checkpoints that are still there came from
 * is not forgotten. `left` is what the last time left, 0 if that is not known, and
 * is set if it comes to it: where these alone are more than `max`, it is not
 * tried again until half as much has been added. The store must be locked.
 */
int audit_trim(uint64_t *left, struct store *store, uint64_t max);

/** The newest `max` entries (0: all), newest first, as an array that the caller owns. */
int audit_read(json_t **out, struct store *store, size_t max);

#endif
