/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_REVERT_INTERNAL_H
#define CKPT_RESTORE_REVERT_INTERNAL_H

#include "look/look.h"
#include "restore/revert.h"

struct protect;

/** For revert*.c alone. */

/** One file or link at three times; NULL: it was not there, or is something else. */
struct revert_sides {
	const struct wt_entry *base; /**< after the change that is taken back; before a picked one */
	const struct wt_entry *now;
	const struct wt_entry *then; /**< before it; after a picked one */
	bool pick;
};

enum revert_do {
	REVERT_NOTHING,
	REVERT_TAKE,   /**< as it was then */
	REVERT_REMOVE, /**< it was not there then */
	REVERT_MERGE,  /**< all three are files, and contents or modes of all differ somewhere */
	REVERT_CONFLICT,
};

/** Decide from the three alone. `why_out` is set for REVERT_CONFLICT. Directories do not count. */
enum revert_do revert_decide(const char **why_out, const struct revert_sides *sides);

/** The permission bits of a merge: false if both sides changed them in different ways. */
bool revert_merge_mode(unsigned *out, unsigned base, unsigned now, unsigned then);

/* --- */

struct revert_job {
	const struct revert *revert;
	struct compose *compose;
	struct snapshot *from, *to;
	struct protect *protect; /**< what `from` left out */
	struct diff step;  /**< from `to` back to `from`, with renames */
	struct diff since; /**< from `to` to the worktree, with renames; only if needed */
	bool have_since;
	struct strlist removed;	 /**< files and links that go */
	struct strlist conflict; /**< paths in conflict; they stay as they are */
};

/** Why a path stays as it is. */
void revert_keep(struct revert_job *job, const char *path, const char *why);

/** What it was called in the worktree, if it was renamed since; NULL: it was not. */
int revert_renamed(const char **out, struct revert_job *job, const char *path);

/* --- revert_path.c --- */

/** Merge what was at `path` after the change that is taken back, and at `then_path` before it. */
int revert_path(struct revert_job *job, const char *path, const char *then_path);

/** False, and said, if something is in the way of a new file or directory at `path`. */
bool revert_has_room(struct revert_job *job, const char *path);

/**
 * True if a rename cannot be reversed alone, since something else must go before there is room for
 * `dest`: a directory that became a file, or the other way round.
 */
bool revert_is_tangled(struct revert_job *job, const char *path, const char *dest);

/** It goes; and so do directories that were not there then, if they become empty. */
int revert_remove(struct revert_job *job, const char *path);

/** Directories that lead to `path` come back as they were. */
int revert_make_parents(struct revert_job *job, const char *path);

struct revert_text {
	struct strbuf text; /**< the result */
	bool binary;	    /**< not text: there is no result */
	bool clean;	    /**< without markers */
};

/** Merge three contents: base, now, then; the markers name `label`. */
int revert_merge_text(struct revert_text *out, const struct strbuf three[3], const char *label);

#endif
