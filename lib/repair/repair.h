/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_REPAIR_H
#define CKPT_REPAIR_REPAIR_H

/**
 * What is wrong with a store, and fixing it.
 *
 * This is what other folders include.
 */
#include "repair/doctor.h"
#include "repair/relink.h"

/*
 * In this folder:
 *
 *   doctor doctor_files doctor_restore  what is wrong with a store
 *   salvage relink          checkpoints of a store that another one replaced; the store of a moved folder
 */

#endif
