/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RETENTION_RETAIN_H
#define CKPT_RETENTION_RETAIN_H

#include "base/base.h"
#include "record/record.h"
#include "retention/evict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ckpt_settings;
struct session;

/**
 * Letting checkpoints go: by rules, for room, or because somebody asked.
 *
 * For each, in this order: a line in the audit trail that says why (so that a
 * ref that was lost can be told from one that was let go), the ref, and after
 * all of them the manifest and the bytes (reclaim.h). Killed in between,
 * there are fewer checkpoints and bytes that the next reclaim finds.
 *
 * What is exempt from the rules, see stock.h.
 */
struct retain_victim {
	struct ckpt_record record; /**< of a damaged one only id and commit */
	char *why;
};

struct retain_result {
	struct retain_victim *items; /**< in the order in which they went */
	size_t nr, alloc;
	uint64_t freed;  /**< bytes on disk; of a dry run an estimate */
	uint64_t excess; /**< bytes that the store is still over max_size */
};

void retain_result_release(struct retain_result *result);

/** The rules that the settings make. */
void retain_rules(struct evict_rules *out, const struct ckpt_settings *settings);

/** Apply rules; takes the lock. If max_size cannot be reached, all goes that may. */
int retain_prune(struct retain_result *out, struct session *session,
		 const struct evict_rules *rules, bool dry_run);

/* --- parts, for drop.c --- */

/** Lock the store for a change and see everything as it is now. */
int retain_begin(struct session *session);

/** Add one that is to go; takes over both. */
void retain_add(struct retain_result *out, struct ckpt_record *record, char *why);

/** Let all of them go and give back their bytes; sets `freed`. */
int retain_let_go(struct retain_result *result, struct session *session, const char *action);

/* --- for a save; the store is locked --- */

/** True if there is a budget and `need` more bytes would exceed it. */
bool retain_lacks_room(struct session *session, uint64_t need);

struct retain_room {
	bool evicted;   /**< packs and refs are not what they were */
	uint64_t limit; /**< a pack of more bytes fits in no case; 0: none */
	bool damaged;   /**< nothing can be given back, because something is damaged */
};

/**
 * Make room for `need` bytes, which is what a save takes at most. If that
 * cannot be had without `keep` and the newest, nothing goes: with luck less is
 * needed (it compresses), or the newest can go when the new one is there. CKPT_ERROR
 * if not even that could help.
 */
int retain_make_room(struct retain_room *out, struct session *session, const struct strlist *keep,
		     uint64_t need);

/** Whether the budget can bear a checkpoint whose objects are there, but not its ref yet. */
int retain_check_fits(struct session *session, const struct strlist *keep,
		      const struct ckpt_record *fresh, uint64_t need);

/** The sentence about a checkpoint that does not fit; CKPT_ERROR. */
int retain_too_large(struct session *session, bool damaged);

/**
 * The rules of the settings after a save; `before` are the refs without the new
 * one. Never undoes it, whatever fails.
 */
void retain_after_save(struct session *session, const struct ref_list *before,
		       const struct strlist *keep);

/** Only the budget: after something was written beside checkpoints. */
void retain_hold_budget(struct session *session, const struct strlist *keep);

#endif
