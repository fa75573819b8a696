/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_CACHE_H
#define CKPT_STORE_CACHE_H

#include "base/base.h"

struct store;

/**
 * checkpoint/cache: what takes time to find out again, a section for each user of it, in the byte
 * order of the machine:
 *
 *     "records"    the briefs of checkpoints, see record/brief.h
 *     "retention"  what saves note so that most need not look at all checkpoints, see keep/retain.c
 *     "git"        what the project's repository was like, see save/save_git.c
 *
 * It may be missing, old or torn at any time: it is not synced, and any process may write it, with
 * or without the lock; of two that do it at once, one's section is lost, or an older one comes back.
 * Whoever reads a section must be able to tell whether it still holds.
 */
struct cache_section {
	struct map file;
	const char *data; /**< at a multiple of eight bytes; NULL: there is none that is sound */
	size_t len;
};

/** The section of that name; to be closed in any case. */
struct cache_section cache_open(struct store *store, const char *name);
void cache_close(struct cache_section *section);

/** Replace a section; NULL removes it. A failure costs the time of finding it out again. */
void cache_set(struct store *store, const char *name, const void *data, size_t len);

#endif
