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
#include "record/statehash.h"
#include "record/title.h"

/*
 * In this folder:
 *
 *   checkpoint meta         checkpoint <-> commits: the record, and what hangs off it
 *   modes                   permission bits that a git tree cannot hold
 *   snapshot contents compare  a checkpoint's tree and contents; what differs from another
 *   statehash nested        the hash of a whole state; repositories within the worktree
 *   lookup                  from what people type, or journal and undo name, to records
 *   brief title             a summary of all checkpoints; a line about one
 *   manifest audit          the list for people, the audit trail
 *   journal stage_dir       an interrupted restore, undo; its directories, and settling them
 *   lost identity           refs that disappeared; which directory a store belongs to
 */

#endif
