/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSPECT_INSPECT_H
#define CKPT_INSPECT_INSPECT_H

/**
 * Reading checkpoints: listing, comparing, checking. Nothing is changed.
 *
 * This is what other folders include.
 */
#include "inspect/diff.h"
#include "inspect/hashdir.h"
#include "inspect/list.h"
#include "inspect/renames.h"
#include "inspect/staged.h"
#include "inspect/status.h"
#include "inspect/verify.h"

#endif
