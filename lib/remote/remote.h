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
#include "remote/remotes.h"

/*
 * In this folder:
 *
 *   remotes, transport       where to; talking to it by stock git, one session for each command
 *   push, push_doubt         sending checkpoints, and removing them there; what should stay here
 *   fetch                    bringing in those of other machines; what is wrong with them, for doctor
 *   handoff                  one of each, with the commit at HEAD, to go on elsewhere
 *   incoming, incoming_check what came from outside, apart until it is verified; all that is looked at
 *   import, export, export_patch, export_tar  a file that has one: bundle, patch, tar
 *   branch                   one as a commit of the project
 *   flat, flat_index, flat_ignored  one as git would commit it
 */

#endif
