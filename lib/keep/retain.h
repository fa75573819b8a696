/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_RETAIN_H
#define CKPT_KEEP_RETAIN_H

#include "keep/evict.h"
#include "record/record.h"

struct session;

/**
 * Removing checkpoints: by rules, to make room, or on request.
 *
 * For each, in this order: a line in the audit trail with the reason (so that
 * a lost ref can be told from a removed one), then the ref; after all of them
 * the manifest and the bytes (reclaim.h). Killed in between, there are fewer
 * checkpoints and bytes that the next reclaim finds.
 *
 * For what is exempt from the rules, see stock_internal.h.
 */
struct retain_victim {
	struct ckpt_record record; /**< of a damaged one only id and commit */
	char *why;
};

struct retain_result {
	struct retain_victim *items; /**< in the order of removal */
	size_t nr, alloc;
	uint64_t freed;  /**< bytes on disk; an estimate for a dry run */
	uint64_t excess; /**< bytes by which the store still exceeds max_size */
};

void retain_result_release(struct retain_result *result);

/** The rules from the settings. */
void retain_rules(struct evict_rules *out, const struct ckpt_settings *settings);

/** Apply rules; takes the lock. If max_size cannot be reached, everything goes that may. */
int retain_prune(struct retain_result *out, struct session *session,
		 const struct evict_rules *rules, bool dry_run);

/* --- single checkpoints by name, in drop.c: drop, pin, unpin; all take the lock --- */

/**
 * All names are looked up and all checks made before the first is deleted. A
 * damaged checkpoint is named by its full id. CKPT_EREFUSED: for one that is
 * pinned or that undo or redo leads to, unless `force`; for one that an
 * interrupted restore needs, in any case. With `dry_run` none is deleted, and
 * `freed` is 0.
 */
int drop_checkpoints(struct retain_result *out, struct session *session,
		     const struct strlist *names, bool force, bool dry_run);

struct drop_pin {
	const char *checkpoint;
	bool pin;	  /**< false: unpin it, which takes its name away */
	const char *name; /**< to give to it, a valid one; NULL: none */
	bool move_name;	  /**< even if another one has it */
};

/** `out` is the checkpoint with the change. CKPT_EREFUSED: the name is taken. */
int drop_set_pinned(struct ckpt_record *out, struct session *session,
		    const struct drop_pin *request);

/* --- parts, for drop.c --- */

/** Lock the store for a change and read its current state. */
int retain_begin(struct session *session);

/** Add one to be removed; takes over both. */
void retain_add(struct retain_result *out, struct ckpt_record *record, char *why);

/** Remove all of them and free their bytes; sets `freed`. */
int retain_let_go(struct retain_result *result, struct session *session, const char *action);

/* --- for a save; the store is locked --- */

/** True if there is a budget and `need` more bytes would exceed it. */
bool retain_lacks_room(struct session *session, uint64_t need);

/**
 * Remove what was fetched from other machines, which can be fetched again, and free its bytes: the
 * first to go for a budget, unless somebody is using it. False if there was nothing.
 */
bool retain_drop_fetched(struct session *session);

struct retain_room {
	bool evicted;   /**< packs and refs are not what they were */
	char *first; /**< the first that went, as retain_after_save() tells it; stays if it is there
		      * already; the caller frees it */
	uint64_t limit; /**< a larger pack does not fit in any case; 0: none */
	bool damaged;   /**< nothing can be freed, because something is damaged */
};

/**
 * Make room for `need` bytes, the most that a save may take. If that is not possible
 * without `keep` and the newest, nothing goes: perhaps less is needed (it
 * compresses), or the newest can go once the new one exists. CKPT_ERROR if not even
 * that would help.
 */
int retain_make_room(struct retain_room *out, struct session *session, const struct strlist *keep,
		     uint64_t need);

/** Whether the budget allows a checkpoint whose objects exist, but not its ref yet. */
int retain_check_fits(struct session *session, const struct strlist *keep,
		      const struct ckpt_record *fresh, uint64_t need);

/** Set the message about a checkpoint that does not fit; CKPT_ERROR. */
int retain_too_large(struct session *session, bool damaged);

/**
 * Apply the rules of the settings after a save; `before` are the refs without
 * the new one. If something goes that somebody asked for, `evicted` becomes
 * "<id> (<why>)" of the first; the caller frees it. Never undoes the save, whatever fails.
 */
void retain_after_save(char **evicted, struct session *session, const struct ref_list *before,
		       const struct strlist *keep);

/** Only the budget: after something other than a checkpoint was written. */
void retain_hold_budget(struct session *session, const struct strlist *keep);

#endif
