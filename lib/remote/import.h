/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_IMPORT_H
#define CKPT_REMOTE_IMPORT_H

#include "base/base.h"
#include "record/record.h"

struct session;

struct import_result {
	struct ckpt_record *items; /**< those that are new here */
	size_t nr, alloc;
	struct strlist known;	 /**< ids of those that were here before */
	struct strlist warnings;
};

void import_result_release(struct import_result *result);

/**
 * Take the checkpoints of a bundle into the store, all of them or none. What is in the bundle is
 * hostile until it is known to be what it says (incoming_internal.h); CKPT_ERROR, naming the
 * checkpoint and what is wrong, otherwise. The session needs a store, which may be empty.
 *
 * They keep their ids and are listed as what they were, but "@" never means one, and limits on
 * numbers do not count them.
 */
int import_bundle(struct import_result *out, struct session *session, const char *file);

#endif
