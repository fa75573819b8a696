/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CAPTURES_CAPTURE_INTERNAL_H
#define CKPT_CAPTURES_CAPTURE_INTERNAL_H

#include "captures/captures.h"
#include "captures/spool_internal.h"

/**
 * Run the save command and store its output. What it prints on stderr is part
 * of the error message if it fails, otherwise a warning.
 */
int capture_save(struct spool *out, struct strlist *warnings, struct session *session,
		 const struct capture_def *def);

/** The same for the restore command, which gets the bytes of the capture. */
int capture_replay(struct strlist *warnings, struct session *session, const struct capture_def *def,
		   const struct ckpt_capture *capture);

#endif
