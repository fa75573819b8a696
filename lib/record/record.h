/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_RECORD_H
#define CKPT_RECORD_RECORD_H

/**
 * What a checkpoint is, and what else a store remembers: as commits, as text, as structures.
 *
 * This is what other folders include.
 */
#include "record/audit.h"
#include "record/brief.h"
#include "record/checkpoint.h"
#include "record/compare.h"
#include "record/contents.h"
#include "record/identity.h"
#include "record/journal.h"
#include "record/lookup.h"
#include "record/lost.h"
#include "record/manifest.h"
#include "record/modes.h"
#include "record/nested.h"
#include "record/order.h"
#include "record/record_git.h"
#include "record/snapshot.h"
#include "record/stage_dir.h"
#include "record/stage_settle.h"
#include "record/statehash.h"
#include "record/target.h"
#include "record/title.h"
#include "record/turns.h"

#endif
