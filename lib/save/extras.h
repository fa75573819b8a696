/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_EXTRAS_H
#define CKPT_SAVE_EXTRAS_H

#include "base/base.h"
#include "save/spool.h"

struct save_job;

/**
 * What a checkpoint holds besides files: values of state keys, and captures.
 * For save*.c and restore*.c alone. They are taken before the files are read.
 */
struct extras {
	struct spool *spools; /**< for captures and state files */
	size_t nr, alloc;
};

/**
 * Run the requested captures, read state files, and note everything in the
 * job's metadata. CKPT_ENOTFOUND: a capture is not configured.
 */
int extras_take(struct save_job *job);

/** True if they differ from those of the newest checkpoint. */
bool extras_are_new(const struct save_job *job);

/** Bytes that the store does not have yet. */
uint64_t extras_bytes(const struct save_job *job);

/** Add them to the job's pack; may be repeated after something was evicted. */
int extras_pack(struct save_job *job);

void extras_release(struct save_job *job);

#endif
