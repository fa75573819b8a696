/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_INSIDE_INTERNAL_H
#define CKPT_CMD_INSIDE_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct session;

/**
 * "<checkpoint>:<path>", as git has "<rev>:<path>": the path is from the top of
 * the worktree, or from here if it begins with "./" or "../".
 */

/** True if there is a path. Colons of "step:<n>", "turn:<n>",
 * "session:<id>" and "@{<time>}" are not before one. */
bool inside_is(const char *typed);

/** The path as it was typed, if there is one, which inside_is() tells. */
const char *inside_path(const char *typed);

/** That path from the top: "src/a.c" for "./a.c", typed in src. */
int inside_top(struct strbuf *out, const struct session *session, const char *typed);

/**
 * Look up the checkpoint, and put the path, from the top, into `path`.
 * CKPT_ENOTFOUND if the checkpoint does not have it.
 */
int inside_find(struct ckpt_record *out, struct strbuf *path, struct session *session,
		const char *typed);

/** Print the bytes of a file, the target of a link, or the names in a directory. */
int inside_print(struct session *session, const struct ckpt_record *record, const char *path);

#endif
