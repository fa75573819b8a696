/* SPDX-License-Identifier: MIT */
#ifndef CKPT_OPS_VERIFY_H
#define CKPT_OPS_VERIFY_H

#include "base/strlist.h"
#include "store/refs.h"

struct session;

/**
 * Read everything that a checkpoint consists of, compute every object id and
 * the state hash again from the stored bytes, and compare.
 */
struct verify_result {
	char id[CKPT_ID_SIZE];
	struct strlist problems; /**< none: it is sound */
};

/** Damage is a result, not a failure. */
int ckpt_verify(struct verify_result *out, struct session *session, const struct ref_item *ref);

#endif
