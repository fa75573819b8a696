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
#include "look/history.h"
#include "look/status.h"
#include "look/verify.h"

/*
 * In this folder:
 *
 *   diff renames staged     a difference with contents; renames in it; one of what was staged
 *   history                 what became of paths, checkpoint by checkpoint
 *   grep                    searching contents
 *   status                  all checkpoints; whether everything is saved
 *   verify                  whether a checkpoint is sound; the state hash of a plain directory
 */

#endif
