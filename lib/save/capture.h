/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_CAPTURE_H
#define CKPT_SAVE_CAPTURE_H

#include "base/base.h"
#include "record/record.h"
#include "save/spool.h"
#include "settings/settings.h"

struct oidset;
struct save_job;
struct session;

/** Running the commands of captures; see capture_settings.h for what they are. */

/** The captures that are configured for this worktree. */
int capture_load(struct capture_defs *out, const struct session *session);

/**
 * Run the save command and store its output. What it prints on stderr is part
 * of the error message if it fails, otherwise a warning.
 */
int capture_save(struct spool *out, struct strlist *warnings, struct session *session,
		 const struct capture_def *def);

/** The same for the restore command, which gets the bytes of the capture. */
int capture_replay(struct strlist *warnings, struct session *session, const struct capture_def *def,
		   const struct ckpt_capture *capture);

/**
 * Read all bytes of captures: the command that restores them must not get wrong ones. Those
 * in `sound` were read before, the others are added to it; NULL: all are read.
 */
int capture_check(struct session *session, const struct ckpt_captures *captures,
		  struct oidset *sound);

#endif
