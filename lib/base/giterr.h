/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_GITERR_H
#define CKPT_BASE_GITERR_H

/**
 * libgit2 at arm's length: its start, and its errors in our model.
 */

/** Start libgit2 once. Never fails in a way that a later call would not show. */
void git_begin(void);

/** Set "<text>: <what libgit2 says>"; `rc` GIT_ENOTFOUND gives CKPT_ENOTFOUND, else CKPT_ERROR. */
int ckpt_error_git(int rc, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
