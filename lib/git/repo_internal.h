/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_REPO_INTERNAL_H
#define CKPT_GIT_REPO_INTERNAL_H

/** What repo_state.c and repo_peek.c share. */

/**
 * The id that a packed-refs file has for a ref, NULL if there is none. Of a sorted file, as git writes it,
 * only some pieces are read: many nested repositories may have the same one. `flags` as for
 * fs_open_regular().
 */
char *repo_find_packed(int dirfd, const char *path, int flags, const char *ref);

#endif
