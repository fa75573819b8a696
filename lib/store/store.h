/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_STORE_H
#define CKPT_STORE_STORE_H

/**
 * The shadow repository: one directory, one lock, one pack for each save, one ref for each
 * checkpoint.
 *
 * This is what other folders include.
 */
#include "store/composed.h"
#include "store/fetched.h"
#include "store/health.h"
#include "store/ingest.h"
#include "store/layout.h"
#include "store/litter.h"
#include "store/names.h"
#include "store/objects.h"
#include "store/oidset.h"
#include "store/pack.h"
#include "store/packing.h"
#include "store/packs.h"
#include "store/reach.h"
#include "store/refs.h"
#include "store/repack.h"
#include "store/rescue.h"
#include "store/scratch.h"
#include "store/shadow.h"
#include "store/share.h"
#include "store/state.h"
#include "store/trees.h"

#endif
