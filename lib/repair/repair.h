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

#endif
