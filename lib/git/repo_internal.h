/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_REPO_INTERNAL_H
#define CKPT_GIT_REPO_INTERNAL_H

/** What repo_state.c and repo_peek.c share. */

/** The id that the text of a packed-refs file has for a ref; NULL if there is none. */
char *repo_find_packed(const char *text, const char *ref);

#endif
