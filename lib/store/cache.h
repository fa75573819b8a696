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
 *     "project"    what the project's repository was like, see gitstate/gitsave.c
 *     "every"      the counts of --every, see save/save.c
 *
 * It may be missing or torn at any time, and old after a power cut, since it is not synced. Whoever
 * reads a section must be able to tell whether it still holds.
 */
struct cache_section {
	struct map file;
	const char *data; /**< at a multiple of eight bytes; NULL: there is none that is sound */
	size_t len;
};

/** The section of that name; to be closed in any case. */
struct cache_section cache_open(struct store *store, const char *name);
void cache_close(struct cache_section *section);

/**
 * Replace a section; NULL removes it. Without the lock of the store it stays as it is: who only looks
 * writes nothing. A failure costs the time of finding it out again.
 */
void cache_set(struct store *store, const char *name, const void *data, size_t len);

#endif
