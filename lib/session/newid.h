/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SESSION_NEWID_H
#define CKPT_SESSION_NEWID_H

#include "store/store.h"

#include <stdint.h>

/**
 * A new id: chk_<time, UTC>_<six hex digits>, greater than all in `refs`, so
 * that ids sort in the order of saving, even within one second and when the
 * clock goes backwards.
 */
int newid_make(char out[CKPT_ID_SIZE], const struct ref_list *refs, int64_t now);

#endif
