/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_HANDOFF_H
#define CKPT_REMOTE_HANDOFF_H

#include "base/base.h"

struct ckpt_record;
struct remotes_item;
struct session;

/**
 * A checkpoint for another machine, with the commit at its HEAD beside it, unless one of the project's
 * own remotes has that as far as is known here. The commit goes from and to the project through a
 * repository of ours, so the project's configuration has no say.
 */

/**
 * Push both; `head` tells whether the commit went along. CKPT_EREFUSED if one of them may have
 * secrets, unless `force`. Nothing is written in the project.
 */
int handoff_give(bool *head, struct session *session, const struct remotes_item *remote,
		 const struct ckpt_record *record, bool force, bool shown);

/**
 * Fetch the newest checkpoint of `machine` (NULL: of any other machine, of several that with the
 * newest id), verify it, and bring the commit into the project unless it is there; `head` tells.
 * CKPT_ENOTFOUND if there is none, or if nobody has the commit.
 */
int handoff_take(struct ckpt_record *out, bool *head, struct session *session,
		 const struct remotes_item *remote, const char *machine, bool shown);

#endif
