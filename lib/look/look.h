/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_INSPECT_H
#define CKPT_LOOK_INSPECT_H

/**
 * Reading checkpoints: listing, comparing, checking. Nothing is changed.
 *
 * This is what other folders include.
 */
#include "look/diff.h"
#include "look/grep.h"
#include "look/hashdir.h"
#include "look/history.h"
#include "look/list.h"
#include "look/renames.h"
#include "look/staged.h"
#include "look/status.h"
#include "look/verify.h"

/*
 * In this folder:
 *
 *   list diff renames       all checkpoints; a difference with contents; renames in it
 *   history                 what became of paths, checkpoint by checkpoint
 *   grep grep_blob versions  searching contents; one content; which there are of each file
 *   staged                  what was staged, as a difference
 *   status verify           whether everything is saved; whether a checkpoint is sound
 *   hashdir                 the state hash of a plain directory
 */

#endif
