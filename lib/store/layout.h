/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LAYOUT_H
#define CKPT_STORE_LAYOUT_H

/** The files of a new store, and whether a directory is a store that we can use. For store.c. */

/** Make the store `path` of `worktree`. Another process that made it first is no failure. */
int layout_create(const char *home, const char *path, const char *worktree);

/** Format and worktree are as expected; CKPT_ECORRUPT or CKPT_ERROR with a sentence. */
int layout_check(int dirfd, const char *path, const char *worktree);

#endif
