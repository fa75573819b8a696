/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_HASHDIR_H
#define CKPT_LOOK_HASHDIR_H

#include "base/base.h"
#include "record/record.h"

/**
 * The state hash of a plain directory, from nothing but what is on the disk: no
 * ignore rule, no store, no cache. What a checkpoint never holds does not count:
 * every .git, FIFOs, sockets and devices.
 */
struct hashdir {
	char hash[STATEHASH_SIZE];
	uint64_t files, bytes;
};

/** Fails if something in it cannot be read. */
int hashdir(struct hashdir *out, const char *path, unsigned threads);

#endif
