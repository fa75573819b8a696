/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_PUSH_PRUNE_INTERNAL_H
#define CKPT_REMOTE_PUSH_PRUNE_INTERNAL_H

#include "base/base.h"

struct remotes_item;
struct session;

/**
 * Remove there what this store pushed and its own limits have removed here since, with the commits
 * that were handed off beside it; `out` gets the ids.
 */
int push_prune(struct strlist *out, struct session *session, const struct remotes_item *remote,
	       bool dry_run);

#endif
