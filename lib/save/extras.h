/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_EXTRAS_H
#define CKPT_SAVE_EXTRAS_H

#include "save/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct save_job;

/**
 * What a checkpoint holds beside files: values of state keys, and captures. For
 * save*.c and restore*.c alone. They are taken before the files are looked at.
 */
struct extras {
	struct spool *spools; /**< of captures and of state files */
	size_t nr, alloc;
};

/**
 * Run the captures that the save asks for, read state files, and note all in
 * the job's metadata. CKPT_ENOTFOUND: a capture that nobody configured.
 */
int extras_take(struct save_job *job);

/** True if the newest checkpoint does not have the same. */
bool extras_are_new(const struct save_job *job);

/** Bytes that the store does not have yet. */
uint64_t extras_bytes(const struct save_job *job);

/** Add them to the job's pack; may be done again after something was evicted. */
int extras_pack(struct save_job *job);

void extras_release(struct save_job *job);

#endif
