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
#include "record/snapshot.h"
#include "record/stage_dir.h"
#include "record/stage_settle.h"
#include "record/statehash.h"
#include "record/target.h"
#include "record/title.h"

/*
 * In this folder:
 *
 *   checkpoint checkpoint_write meta meta_rules  checkpoint <-> commits
 *   record_agent            which agent took it
 *   modes                   permission bits that a git tree cannot hold
 *   snapshot contents compare  a checkpoint's tree and contents; what differs from another
 *   statehash nested        the hash of a whole state; repositories within the worktree
 *   lookup lookup_machine brief title  from what people type to records; a summary of all; a line
 *                           about one
 *   manifest audit          the list for people, the audit trail
 *   journal stage_dir stage_settle  an interrupted restore, undo; its directories, settling them
 *   target                  what journal and undo name: a checkpoint or a composed state
 *   lost identity           refs that disappeared; which directory a store belongs to
 */

#endif
