/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_REMOTE_CHECK_H
#define CKPT_REMOTE_REMOTE_CHECK_H

#include "base/base.h"
#include "tree/tree.h"

struct session;

/**
 * What is wrong with the files of remotes, with what was fetched, and what a killed fetch left:
 * doctor's part about remotes. With `fix`, lines that can be read are kept, and damaged checkpoints
 * of other machines removed, which can be fetched again. `progress` may be NULL.
 */
int remote_check(struct problems *out, struct session *session, bool fix, progress_fn progress);

#endif
