/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_HANDOFF_H
#define CKPT_REMOTE_HANDOFF_H

#include "base/base.h"

struct ckpt_record;
struct remotes_item;
struct session;

/**
 * The commit at HEAD of a checkpoint, beside it on a remote: refs/handoff/<project>/<machine>/<id>.
 * It goes from and to the project through a repository of ours, so the project's configuration has
 * no say.
 */

/**
 * Send it, unless one of the project's own remotes has it as far as is known here; `sent` tells.
 * Nothing is written in the project.
 */
int handoff_push_head(bool *sent, struct session *session, const struct remotes_item *remote,
		      const struct ckpt_record *record);

/**
 * Bring it into the project, unless it is there; `fetched` tells. CKPT_ENOTFOUND if the remote does
 * not have it, either.
 */
int handoff_fetch_head(bool *fetched, struct session *session, const struct remotes_item *remote,
		       const struct ckpt_record *record);

/**
 * From whom to take over: `machine`, if it has something on the remote (NULL: any other machine, of
 * several the one with the newest id); the caller frees it.
 */
int handoff_machine(char **out, struct session *session, const struct remotes_item *remote,
		    const char *machine);

#endif
