/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITLEFT_H
#define CKPT_GITSTATE_GITLEFT_H

#include "gitstate/gitsave.h"

/**
 * What a restore of files leaves of a repository that is not where it was: what to say to programs,
 * and in fewer words to people, and the commands, to be run in this order, that bring it back. The
 * last of `says` and `tells` announces the commands, if there are any.
 */
struct gitleft {
	struct strlist says, tells, commands;
};

/**
 * HEAD, index, branches and stashes of the project, of which `what` is restored. `part`: only of some
 * paths, so that nothing leads back.
 */
void gitleft_tell(struct gitleft *out, const struct gitsave *now, const struct ckpt_record *target,
		  enum journal_git what, bool part);

/** HEAD of a repository within the worktree. */
void gitleft_tell_nested(struct gitleft *out, const struct session *session,
			 const struct nested *nested, bool part);

void gitleft_release(struct gitleft *left);

#endif
