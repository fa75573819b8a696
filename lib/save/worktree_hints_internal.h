/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_WORKTREE_HINTS_INTERNAL_H
#define CKPT_SAVE_WORKTREE_HINTS_INTERNAL_H

#include "save/worktree_state.h"

/**
 * Whether a scan may leave out what a watcher has not seen change, for worktree_state.c alone.
 *
 * scan_cached.c says what must be the same as when the stat cache was written. What neither the
 * rules nor the watcher know of that is compared here: see circumstances().
 */
struct worktree_hints {
	struct watched watched;
	struct scan_hints hints;
	/** What to keep with the cache that this scan fills; without commit, packs and origin. */
	struct statcache_head head;
};

/**
 * Right before the scan, with its options complete but for the hints: ask, and set `scan->hints` if
 * they are of use.
 */
void worktree_hints_find(struct worktree_hints *out, struct scan_opts *scan,
			 const struct session *session, const struct worktree_state_opts *opts);

/** After the scan: note whether it looked at everything. */
void worktree_hints_settle(struct worktree_hints *hints, const struct scan *scan,
			   const struct statcache *cache, const struct rules *rules);

/** True if what the cache says of watcher or index is worth replacing, although nothing changed. */
bool worktree_hints_are_news(const struct worktree_hints *hints, const struct scan *scan,
			     const struct statcache *cache);

void worktree_hints_release(struct worktree_hints *hints);

#endif
