/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_BASE_H
#define CKPT_BASE_BASE_H

/**
 * Tools that know nothing of checkpoints.
 *
 * This is what other folders include.
 */
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/libgit2.h"
#include "base/path.h"
#include "base/patterns.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/quote.h"
#include "base/spawn.h"
#include "base/std.h"
#include "base/strbuf.h"
#include "base/strlist.h"

/*
 * In this folder:
 *
 *   error alloc cancel deadline  error messages; allocation, arenas; ^C; work that must end in time
 *   strbuf strlist quote utf8    strings, lists of them, quoting, UTF-8
 *   path pathset patterns        paths, lists of paths, lines that match
 *   clock units nearest intern   times; numbers and sizes; words that are meant; words held once
 *   hash oid                     SHA-1 and SHA-256, without libcrypto for short texts; checksums;
 *                                object names
 *   fs lines map sparse          durable writing, removing trees; line by line, in memory, with holes
 *   pool spawn command proc env  threads, programs, configured commands, processes, the environment
 *   json problems libgit2        JSON; findings of doctor and relink; libgit2, loaded when needed
 */

#endif
