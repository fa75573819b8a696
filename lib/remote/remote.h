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

/*
 * In this folder:
 *
 *   export export_patch export_tar  one as a file: patch, tar, bundle
 *   import bundle           taking them out of a bundle; the head of one
 *   incoming incoming_tree  what came from outside, hostile until it is checked
 *   remotes transport       where to; talking to other repositories, by stock git
 *   push push_doubt pushed  sending them; what should stay here; what was sent
 *   push_prune common       removing what was sent; what both sides have, and need not be sent
 *   remote_check            what is wrong with all that, for doctor
 *   fetch handoff           bringing in those of other machines; the commit at HEAD beside one
 *   branch                  one as a commit of the project
 *   flat flat_ignored flat_index  one as git would commit it; what it would not; for its index
 */

#endif
