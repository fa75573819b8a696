/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_STAGED_INTERNAL_H
#define CKPT_LOOK_STAGED_INTERNAL_H

#include "look/diff.h"

/** For diff.c: a difference that staged.h made. */

struct staged;

/** As diff_content(). */
int staged_content(struct strbuf *out, struct diff *diff, const struct change *change,
		   enum diff_side side);

void staged_free(struct staged *staged);

#endif
