/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_PUSHED_INTERNAL_H
#define CKPT_REMOTE_PUSHED_INTERNAL_H

#include "base/base.h"

struct session;
struct store;

/**
 * checkpoint/pushed: what this store has pushed, one line "<remote> <id>" each; only that may be
 * removed there by limits. Lines that make no sense are skipped.
 */

/** The ids, sorted. */
int pushed_read(struct strlist *out, struct store *store, const char *remote);

/** Takes the lock for a moment. */
int pushed_note(struct session *session, const char *remote, const struct strlist *ids);

/** The lines of the file that can be read; returns the number of those that cannot. */
size_t pushed_salvage(struct strbuf *out, const char *text, size_t len);

#endif
