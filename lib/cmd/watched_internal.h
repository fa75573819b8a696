/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_WATCHED_INTERNAL_H
#define CKPT_CMD_WATCHED_INTERNAL_H

#include "base/base.h"

/**
 * What the watcher says about one worktree, for `status` and `watch status`: an object with "path",
 * "state" and more; "off" if it is registered, but nobody watches. NULL if it is not watched at all.
 */
json_t *watched_look(const char *home, const char *worktree);

/** "on, 4,697 directories, last save 12 s ago", appended. */
void watched_sum_up(struct strbuf *out, const json_t *tree);

#endif
