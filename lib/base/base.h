/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_BASE_H
#define CKPT_BASE_BASE_H

/**
 * Tools that know nothing of checkpoints.
 *
 * This is what other folders include.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/command.h"
#include "base/crc.h"
#include "base/deadline.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/libgit2.h"
#include "base/linediff.h"
#include "base/lines.h"
#include "base/map.h"
#include "base/nearest.h"
#include "base/oid.h"
#include "base/path.h"
#include "base/pathset.h"
#include "base/patterns.h"
#include "base/pool.h"
#include "base/problems.h"
#include "base/proc.h"
#include "base/quote.h"
#include "base/sparse.h"
#include "base/spawn.h"
#include "base/std.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/units.h"
#include "base/utf8.h"

/*
 * In this folder:
 *
 *   error alloc cancel      error messages; allocation; ^C
 *   strbuf strlist arena utf8 quote path pathset units clock nearest linediff  text
 *   intern patterns         strings that are held once; lines that match
 *   hash hash_plain oid crc  SHA-256, of short texts without libcrypto; object names, checksums
 *   fs fs_remove sparse     durable writing, removing trees, files with holes
 *   lines map               files line by line, and in memory
 *   pool spawn command proc env deadline  threads, processes, the environment; work that must end
 *                           in time
 *   json problems libgit2   JSON; findings of doctor and relink; libgit2, loaded when needed
 */

#endif
