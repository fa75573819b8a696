/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_PATH_H
#define CKPT_SHOW_PATH_H

#include "base/base.h"
#include "git/git.h"

struct ckpt_record;
struct session;

/**
 * Paths on the command line: relative to the current directory, and patterns as git has them.
 * What exists by exactly the name that was typed, in the worktree or in one of the checkpoints, is
 * always meant as a path: a file called "[id].js" needs no special care.
 */

/** Checkpoints in which a path may exist. */
struct show_paths_where {
	const struct ckpt_record *records;
	size_t nr;
};

/** The arguments from `first` on; fails as session_path() and pathspec_split() do. */
int show_paths_parse(struct pathspec *out, struct session *session, const struct strlist *args,
		     size_t first, const struct show_paths_where *where);

/** The same where all checkpoints matter; their records are read only if there is a pattern. */
int show_paths_parse_ever(struct pathspec *out, struct session *session, const struct strlist *args,
			  size_t first);

/** As git has it: what is not after "--" must exist to be taken for a path, or be a pattern. */
bool show_paths_may_be(const struct session *session, const char *typed);

/** Whether a path from the root is in one of the checkpoints. */
int show_paths_find(bool *out, struct session *session, const char *path,
		    const struct show_paths_where *where);

/**
 * The paths, sorted, that a restore of `target` concerns if it is limited to `spec`: as they are
 * if there is no pattern, otherwise those of the files that match, in the checkpoint or, unless `stored`,
 * now in the worktree. CKPT_ENOTFOUND, with a message that names it, if something matches nothing. Never
 * empty unless `spec` is.
 */
int show_paths_expand(struct strlist *out, struct session *session,
		      const struct ckpt_record *target, const struct pathspec *spec, bool stored);

/**
 * "<checkpoint>:<path>", as git has "<rev>:<path>": the path is from the top of
 * the worktree, or from here if it begins with "./" or "../".
 */

/** True if there is a path. Colons of "step:<n>", "turn:<n>",
 * "session:<id>" and "@{<time>}" are not before one. */
bool show_inside_is(const char *typed);

/** The path as it was typed, if there is one, which show_inside_is() tells. */
const char *show_inside_path(const char *typed);

/** That path from the top: "src/a.c" for "./a.c", typed in src. */
int show_inside_top(struct strbuf *out, const struct session *session, const char *typed);

/**
 * Look up the checkpoint, and put the path, from the top, into `path`.
 * CKPT_ENOTFOUND if the checkpoint does not have it.
 */
int show_inside_find(struct ckpt_record *out, struct strbuf *path, struct session *session,
		     const char *typed);

/** Print the bytes of a file, the target of a link, or the names in a directory. */
int show_inside_print(struct session *session, const struct ckpt_record *record, const char *path);

#endif
