/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_RECORD_GIT_INTERNAL_H
#define CKPT_RECORD_RECORD_GIT_INTERNAL_H

#include "base/base.h"

struct gitstate;

/** The texts of record_git.h, in the order of their names. */
enum record_git_text {
	RECORD_GIT_FLAGGED,
	RECORD_GIT_HEAD,
	RECORD_GIT_INDEX,
	RECORD_GIT_OPERATION,
	RECORD_GIT_REFS,
};
enum { RECORD_GIT_TEXTS = 5 };

/** Their names in the tree. */
extern const char *const record_git_names[RECORD_GIT_TEXTS];

void record_git_encode(struct strbuf *out, const struct gitstate *state,
		       enum record_git_text which);

/** Add to `state` what a text says; CKPT_ECORRUPT if it is malformed. */
int record_git_decode(struct gitstate *state, const struct strbuf *text,
		      enum record_git_text which);

#endif
