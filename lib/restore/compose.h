/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_COMPOSE_H
#define CKPT_RESTORE_COMPOSE_H

#include "tree/tree.h"

/**
 * A target that is not a checkpoint: the worktree as it was just scanned, with some paths changed.
 *
 * Whoever restores such a state sets `compose` in struct restore_opts, a function that
 * gets the scanned worktree and says for each path that is to change what shall be
 * there; all others stay as they are. It is called after each scan: with the preview, and again
 * with what is then on disk, so that what was edited meanwhile is taken into account. It must not
 * change anything but the composition.
 *
 * From there on it is a restore like any other. When it is confirmed, the state becomes a record
 * in the store like that of a checkpoint, but kept by the journal and the undo stack alone (see
 * record/lookup.h): they name it, and nothing else shows it.
 *
 * Paths are relative to the root. If a path is named twice, the last call counts.
 */
struct compose;

/** What is there now, as scanned: of a file the contents are named. NULL: nothing, or left out. */
const struct wt_entry *compose_now(const struct compose *compose, const char *path);

/** All of it. */
struct wt_dir *compose_root(const struct compose *compose);

/** The state of the worktree as scanned, for diff.h. It stays the restore's. */
const struct worktree_state *compose_state(const struct compose *compose);

/**
 * Append the contents of a file, or the target of a link, that is there now: exactly what was
 * scanned. CKPT_EREFUSED if it has changed since.
 */
int compose_read(struct strbuf *out, const struct compose *compose, const char *path);

/**
 * True if something is on the disk at `path`, or in the way to it, that the scan does not have: an
 * ignored or a sensitive file for example, which must not be overwritten. `what_out` (may be NULL)
 * says what it is: survey_kind().
 */
bool compose_is_hidden(const char **what_out, const struct compose *compose, const char *path);

/** A file with these bytes, or a link to them (WT_LINK; `mode` does not matter). */
void compose_put(struct compose *compose, const char *path, enum wt_kind kind, unsigned mode,
		 const void *data, size_t len);

/** A file or a link whose contents are in the store, or already in the worktree; not a directory. */
void compose_put_entry(struct compose *compose, const char *path, const struct wt_entry *like,
		       unsigned mode);

/** A directory, which need not be empty: it stays, or is made. */
void compose_put_dir(struct compose *compose, const char *path, unsigned mode);

/** The same with other permission bits; of a path that is there now. */
void compose_set_mode(struct compose *compose, const char *path, unsigned mode);

/** Nothing; a directory goes only if nothing is left in it. */
void compose_remove(struct compose *compose, const char *path);

/** Forget what was said about a path; with `below`, also about everything below it. */
void compose_forget(struct compose *compose, const char *path, bool below);

/**
 * Name a path that should have changed, but stays as it is, and why: reported with the result, which
 * then is incomplete. This does not undo what was said about the path.
 */
void compose_conflict(struct compose *compose, const char *path, const char *why);

#endif
