/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_RETAIN_INTERNAL_H
#define CKPT_KEEP_RETAIN_INTERNAL_H

#include "base/base.h"
#include "keep/evict.h"
#include "keep/retain.h"

struct fetched_item;
struct session;
struct store;
struct strlist;
struct tally;

/** What removing by rules (retain.c) has for removing for a save (retain_save.c). */

struct retain_job {
	const char *action;
	struct evict_rules rules;
	struct tally *counts; /* gets what was there before, and when to look again; or NULL */
	const struct strlist *keep;
	uint64_t need;    /* bytes that must be free below max_size */
	bool all_or_none; /* if that is not possible, none goes for it */
	bool thorough;    /* free bytes in any case */
	bool dry_run;
};

/** Remove what the rules of the job want, in rounds, until they are met or nothing more helps. */
int retain_apply(struct retain_result *out, struct session *session, const struct retain_job *job);

/** Bytes of the store on disk. */
uint64_t retain_usage(struct session *session);

/** By how many bytes the limit would be exceeded with `need` more. */
uint64_t retain_bytes_over(struct session *session, uint64_t max_size, uint64_t need);

/** Shorten the audit trail if it is too long for the budget. */
void retain_trim_log(struct session *session);

/** After a save, with `nr` checkpoints now: free bytes if enough checkpoints went since. */
void retain_reclaim_sometimes(struct session *session, size_t nr);

/** Remove one that was fetched, and say so in the audit trail. */
int retain_fetched_let_go(struct store *store, const char *action, const struct fetched_item *item);

/** Let the ref "latest" be the newest checkpoint again. */
void retain_set_latest(struct store *store);

#endif
