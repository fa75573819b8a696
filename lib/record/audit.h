/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_AUDIT_H
#define CKPT_RECORD_AUDIT_H

#include "record/journal.h"

struct ckpt_record;

/**
 * checkpoint/log: the audit trail, one JSON object per line, oldest first.
 * Lines are appended whole; a line torn by a power cut is skipped.
 */

/** `id`, `commit`, `reason` and `hash` may be NULL. */
int audit_add(struct store *store, const char *action, const char *id, const struct oid *commit,
	      const char *reason, const char *hash);

/**
 * Record a restore, undo or redo of `record`, and what it brought back besides files. `reason` NULL:
 * that of the record, with its title.
 */
int audit_add_restore(struct store *store, const char *action, const struct ckpt_record *record,
		      const char *reason, const char *source, const char *hash,
		      enum journal_git git);

/**
 * Record a save: `at` is when the checkpoint was created, so that list and log show the same time.
 */
int audit_add_save(struct store *store, const struct ckpt_record *record);

/** Make what was added survive a power cut, as far as the disk allows. */
void audit_sync(struct store *store);

/**
 * If the trail exceeds `max` bytes, drop the oldest lines so that about half of
 * that is left, but none about the origin of checkpoints that still exist. `left`
 * is what the last trim left, 0 if unknown, and is updated: if these lines alone
 * exceed `max`, it is not tried again until half as much was added. The store must
 * be locked.
 */
int audit_trim(uint64_t *left, struct store *store, uint64_t max);

/** Ids of checkpoints that, as far as the trail knows, were dropped or evicted; sorted. */
int audit_removed(struct strlist *out, struct store *store);

/** The newest `max` entries (0: all), newest first, as an array owned by the caller. */
int audit_read(json_t **out, struct store *store, size_t max);

#endif
