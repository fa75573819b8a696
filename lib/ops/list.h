/* SPDX-License-Identifier: MIT */
#ifndef CKPT_OPS_LIST_H
#define CKPT_OPS_LIST_H

#include "record/lookup.h"

struct session;

/**
 * All checkpoints of a session, which may have no store. Takes no lock; makes
 * the manifest anew on the way if it disagrees with the refs and nobody is
 * changing the store. That refs were lost is said among the damaged ones.
 */
int ops_list(struct ckpt_records *out, struct session *session);

#endif
