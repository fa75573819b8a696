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

#endif
