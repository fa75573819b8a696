/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_REMOTE_H
#define CKPT_REMOTE_REMOTE_H

/**
 * Checkpoints beyond this store: files that carry one, the project's own branches, and
 * repositories on other machines.
 *
 * This is what other folders include.
 */
#include "remote/branch.h"
#include "remote/export.h"
#include "remote/fetch.h"
#include "remote/handoff.h"
#include "remote/import.h"
#include "remote/push.h"
#include "remote/remote_check.h"
#include "remote/remotes.h"

#endif
