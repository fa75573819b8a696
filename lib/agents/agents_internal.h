/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENTS_INTERNAL_H
#define CKPT_AGENTS_AGENTS_INTERNAL_H

#include "base/base.h"

struct agent;
struct agents_opts;
struct agents_result;

/* --- agents_notes.c --- */

/** What the user should know about the entry that `out` tells of. */
void agents_add_notes(struct agents_result *out, const struct agent *agent,
		      const struct agents_opts *opts, bool is_new);

#define AGENTS_NO_PROGRAM \
	"the program 'git-checkpoint' is not in PATH: the entry cannot work until it is"

/** Whether what the entries run would be found. */
bool agents_program_found(void);

#endif
