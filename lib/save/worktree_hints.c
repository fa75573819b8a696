/* SPDX-License-Identifier: MIT */
#include "save/worktree_hints_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "session/session.h"
#include "store/store.h"
#include "tree/tree.h"

/* In seconds: after this time a save looks at everything, whatever the watcher says. */
enum { FULL_EVERY = 600 };

/* With more names than this in an answer, writing a new mark is cheaper than asking again. */
enum { MANY = 100 };

/*
 * What decides about a file, and is neither in the worktree nor among the rules: limits; the user,
 * because one user may read what another may not; and what is never entered.
 */
static uint64_t circumstances(const struct scan_opts *scan)
{
	const uint64_t numbers[] = { scan->max_file_size, geteuid(), getegid(),
				     (uint64_t)scan->avoid_dev, (uint64_t)scan->avoid_ino };
	uint64_t hash = hash_mix(HASH_MIX_START, numbers, sizeof(numbers));

	for (size_t i = 0; i < scan->apart->nr; i++)
		hash = hash_mix(hash, scan->apart->items[i], strlen(scan->apart->items[i]));
	return hash;
}

/* All 0 if there is none, or if it may change again without a change of its times. */
static void look_at_index(struct wt_stat *out, const struct session *session)
{
	char *path = session->repo ? xstrfmt("%s/index", session->repo->gitdir) : NULL;
	int64_t now = clock_file_ns();
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (path && !stat(path, &st)) {
		wt_stat_from(out, &st);
		if (wt_stat_racy(out, now))
			memset(out, 0, sizeof(*out));
	}
	free(path);
}

static bool same_index(const struct wt_stat *then, const struct wt_stat *now,
		       const struct session *session)
{
	static const struct wt_stat none;

	return wt_stat_equal(then, now) && (!session->repo || !wt_stat_equal(now, &none));
}

/* Hints do not help a scan of some paths, or of more than the rules say. */
static bool is_plain(const struct worktree_state_opts *opts)
{
	return (!opts->scope || !opts->scope->nr) && (!opts->also || !opts->also->nr) &&
	       (!opts->whole || !opts->whole->nr) && !opts->want_left_out;
}

static bool may_use(const struct worktree_hints *found, const struct statcache *cache,
		    const struct worktree_state_opts *opts)
{
	const struct statcache_head *head = statcache_head(cache);
	int64_t since = (int64_t)clock_monotonic() - head->full_at;

	return !opts->full && !found->watched.all && since >= 0 && since < FULL_EVERY;
}

void worktree_hints_find(struct worktree_hints *out, struct scan_opts *scan,
			 const struct session *session, const struct worktree_state_opts *opts)
{
	const struct statcache *cache = scan->cache;

	memset(out, 0, sizeof(*out));
	if (!session->store || !is_plain(opts))
		return;
	/* First of all: whatever changes from here on is for the next scan. */
	watched_ask(&out->watched, session->store->dirfd, cache);
	out->head.mark = out->watched.now;
	out->head.circumstances = circumstances(scan);
	look_at_index(&out->head.index, session);
	if (!cache || statcache_head(cache)->circumstances != out->head.circumstances)
		return;
	scan->index_same =
		same_index(&statcache_head(cache)->index, &out->head.index, session);
	if (opts->hints) {
		out->hints = *opts->hints;
		/* What only the watcher has heard of since then must be told again. */
		out->head.mark = statcache_head(cache)->mark;
	} else if (may_use(out, cache, opts)) {
		out->hints = (struct scan_hints){ &out->watched.dirs, &out->watched.trees };
	} else {
		return;
	}
	scan->hints = &out->hints;
}

void worktree_hints_settle(struct worktree_hints *hints, const struct scan *scan,
			   const struct statcache *cache, const struct rules *rules)
{
	/* Once it can be read again, everything has to be judged again. */
	if (rules_lacks_index(rules))
		memset(&hints->head.index, 0, sizeof(hints->head.index));
	hints->head.full_at = scan->hinted ? statcache_head(cache)->full_at :
					     (int64_t)clock_monotonic();
}

/* With the index that was there, what is tracked need not be read from it again. */
static bool knows_index(const struct worktree_hints *hints, const struct scan *scan,
			const struct statcache *cache)
{
	static const struct wt_stat none;

	return !scan->hinted && cache && !wt_stat_equal(&hints->head.index, &none) &&
	       !wt_stat_equal(&hints->head.index, &statcache_head(cache)->index);
}

bool worktree_hints_are_news(const struct worktree_hints *hints, const struct scan *scan,
			     const struct statcache *cache)
{
	return knows_index(hints, scan, cache) ||
	       (hints->head.mark.instance &&
		(!scan->hinted || hints->watched.dirs.nr + hints->watched.trees.nr > MANY));
}

void worktree_hints_release(struct worktree_hints *hints)
{
	watched_release(&hints->watched);
	memset(hints, 0, sizeof(*hints));
}
