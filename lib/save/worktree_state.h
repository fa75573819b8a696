/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_WORKTREE_STATE_H
#define CKPT_SAVE_WORKTREE_STATE_H

#include "store/store.h"

struct session;
struct snapshot;

/**
 * The current state of the worktree: scanned and, where the stat cache does
 * not know a file, read. `save` writes what it reads into a pack, `diff` and
 * `status` only compute names.
 */
struct worktree_state_opts {
	const struct strlist *scope; /**< sorted; empty: all */
	bool include_ignored;
	bool include_sensitive;
	/**
	 * Other worktrees of the same repository are left out, unless this is set, or the scope
	 * names something in them, or `held` has something there.
	 */
	bool include_worktrees;
	struct snapshot *held; /**< a checkpoint to compare with; NULL: none */
	bool no_limit; /**< ignore maxFiles */
	bool rules_only; /**< for worktree_state_rules(): only the rules, whatever is tracked */
	const struct rules_texts *texts; /**< for worktree_state_rules(): see rules.h */
	const struct strlist *also; /**< sorted paths to capture although a rule leaves them out */
	const struct strlist *whole; /**< the same, with everything below them, but no secrets */
	bool no_defaults;   /**< ignore the patterns with which a new store starts */
	bool want_left_out; /**< see scan.h */
	bool full;          /**< look at everything, whatever a watcher says */
	/** A cache to use instead of the store's, and what changed since; both stay the caller's. */
	struct statcache *base;
	const struct scan_hints *hints;
	double until;       /**< see ingest.h */
	progress_fn progress;
};

struct worktree_hints;

struct worktree_state {
	struct session *session;
	struct rules *rules;
	struct statcache *cache;
	bool borrowed; /**< the cache is somebody else's */
	struct worktree_hints *hints;
	struct scan *scan;
	progress_fn progress;
	bool scoped;
	bool objects_there; /**< whatever is known of the scan is certain to be in the store */
	struct strlist apart; /**< other worktrees of the repository that are left out; sorted */
	struct strlist notes; /**< a sentence about each thing other than files that is left out */
	bool untouched;     /**< nothing differs from the checkpoint that the cache describes */
	struct ingest_result read;
	double until;
};

/** The rules that a scan with these options follows; the caller closes them. */
int worktree_state_rules(struct rules **out, struct session *session,
			 const struct worktree_state_opts *opts);

/**
 * Walk. `refs` tells which checkpoints exist; NULL if there is no store. After
 * a failure there is nothing to release.
 */
int worktree_state_scan(struct worktree_state *out, struct session *session,
			const struct ref_list *refs, const struct worktree_state_opts *opts);

/** Read what is not known and build the trees. `pack` may be NULL. */
int worktree_state_read(struct worktree_state *state, struct pack *pack);

/**
 * Write the stat cache, after everything was read: the worktree is the
 * checkpoint `commit`. A failure only costs time later. Does nothing for a
 * scope.
 */
void worktree_state_write_cache(struct worktree_state *state, const struct oid *commit);

/**
 * Let the cache describe what was scanned and read, without writing it: a later scan can use it as
 * its base.
 */
void worktree_state_update_cache(struct worktree_state *state, const struct oid *commit);

/**
 * Nothing differs from what the cache describes: note when that was, so that next time the watcher
 * need not name the same directories again.
 */
void worktree_state_touch_cache(struct worktree_state *state);

/** CKPT_ECORRUPT if part of the cache was damaged, and the tree is not what it seems. */
int worktree_state_check(const struct worktree_state *state);

/**
 * After reading took too long: store what was read, and note it in the stat
 * cache, so that it is not read again. This does not make a checkpoint.
 */
int worktree_state_keep(struct worktree_state *state, struct pack *pack);

/** The commit that the cache describes, or NULL. */
const struct oid *worktree_state_cached_commit(const struct worktree_state *state);

/**
 * What a person must know about a checkpoint: a sentence for each thing that was left out unasked.
 */
void worktree_state_warn(struct strlist *out, const struct worktree_state *state);

/** Only those about what stays left out, which a person need not be told again. */
void worktree_state_warn_once(struct strlist *out, const struct worktree_state *state);

/**
 * CKPT_EREFUSED if the scope names secrets that are left out, and nothing else: who does that
 * wants them saved, and would believe that they are.
 */
int worktree_state_refuse_secrets(const struct worktree_state *state,
				  const struct strlist *scope);

void worktree_state_release(struct worktree_state *state);

#endif
