/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_BRIEF_H
#define CKPT_RECORD_BRIEF_H

#include "store/store.h"

struct ckpt_record;
struct ckpt_records;

/**
 * What is needed about every checkpoint at once: by retention after each save,
 * and by status. Reading thousands of
 * commits for that would take longer than the save.
 *
 * A section of the cache (store/cache.h) keeps what is in the commits. A commit
 * never changes, so an entry is either right for ever or about another commit:
 * each has the id and the commit that it is about, and is valid for no other.
 * Refs tell which checkpoints exist, and which are needed; neither is taken from
 * the cache. What it does not have is read from the commit.
 *
 * It does not promise that a commit can still be read. Before acting on a
 * brief, read the record and check with brief_fits().
 */
struct ckpt_brief {
	struct ref_item ref;
	bool scoped; /**< of some paths only */
	bool state_only;
	bool automatic, safety; /**< as in the record */
	int64_t created_at;
	int64_t expiry; /**< 0: never */
	/* What keepers say, see store/keepers.h: */
	bool needed;
	bool pinned; /**< or named */
	bool imported;
};

struct ckpt_briefs {
	struct ckpt_brief *items; /**< by id */
	size_t nr;
	struct strlist damaged; /**< a sentence about each checkpoint that is not in the cache and
				 * cannot be read */
	size_t learned;		/**< how many were read from their commits */
};

/** Of all checkpoints; damaged ones are left out and named. */
int brief_read(struct ckpt_briefs *out, struct store *store);

/** The same of these refs, which are sorted by id; `read` are records that need not be read again. */
int brief_read_refs(struct ckpt_briefs *out, struct store *store, const struct ref_list *refs,
		    const struct ckpt_records *read);
void brief_release(struct ckpt_briefs *briefs);

/** The bytes that it would take in the cache, 0 if too little was learned to be worth it. */
size_t brief_worth(const struct ckpt_briefs *briefs);

/** Write them to the cache if that is worth it, and the store is locked. */
void brief_keep(const struct ckpt_briefs *briefs, struct store *store);

/** The brief of one record. */
void brief_of(struct ckpt_brief *out, const struct ckpt_record *record);

/** Whether a brief says what the record does. */
bool brief_fits(const struct ckpt_brief *brief, const struct ckpt_record *record);

/**
 * Something in the cache turned out to be wrong: do not take them from there any more. If the store
 * is locked, they are removed.
 */
void brief_forget(struct store *store);

#endif
