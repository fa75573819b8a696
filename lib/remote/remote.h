/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_REMOTE_H
#define CKPT_REMOTE_REMOTE_H

/**
 * Checkpoints beyond this store: files that carry one, and the project's own branches.
 *
 * This is what other folders include.
 */
#include "remote/branch.h"
#include "remote/export.h"
#include "remote/import.h"

#endif
