/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_PICK_INTERNAL_H
#define CKPT_CMD_PICK_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct listed;
struct pathspec;
struct session;

enum { PICK_PATCH_LINES = 500 }; /**< of a preview */

/** True if a person can choose, on a terminal that can show a list. */
bool pick_possible(void);

/**
 * Let a person at the terminal choose a checkpoint, with a preview of what
 * restoring it would do: in fzf if that is installed, otherwise on our own
 * screen. `typed` are the paths that the user named, as typed: then there are
 * only those in which one of them became something else. CKPT_ENOTFOUND if
 * there is none to choose from, CKPT_EREFUSED if none was chosen.
 */
int pick_checkpoint(struct ckpt_record *out, struct session *session, const struct strlist *typed);

/** What restoring a checkpoint would do, as lines for a terminal: a summary, paths, the patch. */
struct pick_preview {
	struct strlist lines;
	size_t patch; /**< where the patch begins */
};

/** `only` limits what would be restored. */
void pick_preview_make(struct pick_preview *out, struct session *session,
		       const struct ckpt_record *record, const struct pathspec *only);

/** The escape for a line of it. */
const char *pick_preview_color(const struct pick_preview *preview, size_t line);

/**
 * On our own screen, for checkpoints in the order in which they are shown; `*at_out` is the
 * chosen one. `only` limits what would be restored.
 */
int pick_on_screen(size_t *at_out, struct session *session, const struct listed *rows, size_t nr,
		   const struct pathspec *only);

#endif
