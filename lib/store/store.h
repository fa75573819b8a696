/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_STORE_H
#define CKPT_STORE_STORE_H

/**
 * The shadow repository: one directory, one lock, one pack for each save, one ref for each
 * checkpoint.
 *
 * This is what other folders include.
 */
#include "store/cache.h"
#include "store/fetched.h"
#include "store/health.h"
#include "store/ingest.h"
#include "store/keepers.h"
#include "store/layout.h"
#include "store/objects.h"
#include "store/oidset.h"
#include "store/pack.h"
#include "store/packs.h"
#include "store/reach.h"
#include "store/refs.h"
#include "store/repack.h"
#include "store/scratch.h"
#include "store/shadow.h"
#include "store/share.h"
#include "store/state.h"

/*
 * In this folder:
 *
 *   shadow layout           open, create, lock; the files of a new one
 *   objects refs packed_refs  reading objects; one ref for each checkpoint, and all others
 *   keepers                 refs that say who needs a checkpoint: pins, names, undo, processes
 *   pack_write pack_stream pack_verify  writing one pack for each save
 *   packs packs_read packs_inflate delta  reading packs; deltas
 *   ingest ingest_trees     files of a scan into a pack; trees of directories
 *   reach repack repack_copy oidset  which objects are needed; new packs without the others
 *   share                   packs that several stores use
 *   state cache             small things that a store remembers; what may get lost
 *   fetched scratch         checkpoints of other machines; repositories for a moment
 *   litter health rescue    removing what a killed git left; repairing a store's files, its packs
 */

#endif
