/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_GREP_H
#define CKPT_LOOK_GREP_H

#include "record/record.h"

struct session;

/**
 * Searching the contents of checkpoints. Each content is read once, by several threads, however
 * many checkpoints and paths have it.
 */
struct grep_opts {
	const struct strlist *texts; /**< what to look for, see patterns.h */
	struct pattern_opts how;
	bool files_only; /**< whether something matches, not which lines */
	const struct pathspec *only; /**< NULL: all paths */
	progress_fn progress;	     /**< or NULL */
};

struct grep_line {
	size_t number; /**< from 1 on */
	const char *text;
	size_t len;
};

/**
 * Lines of a file that the same checkpoints have: they are shown as they are in the newest of
 * these. Indexes are those of the records.
 */
struct grep_hit {
	const char *path;
	size_t newest, oldest;
	size_t count; /**< how many checkpoints have them */
	size_t gone;  /**< the next one in whose scope it is, but without them; SIZE_MAX: none */
	bool binary;  /**< something in it matches, but it is not text */
	struct grep_line *lines; /**< in their order; none if `binary`, or of files only */
	size_t nr;
};

struct grep_result {
	struct grep_hit *items; /**< the newest first, then by path */
	size_t nr, alloc;
	struct strlist damaged; /**< a sentence about each thing that could not be searched */
	struct intern paths, texts; /**< what the hits point into */
};

/** In all of `records`, which are in the order of saving. */
int grep_records(struct grep_result *out, struct session *session,
		 const struct ckpt_records *records, const struct grep_opts *opts);
void grep_release(struct grep_result *result);

#endif
