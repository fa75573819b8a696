/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SPARSE_H
#define CKPT_BASE_SPARSE_H

#include "base/std.h"

/**
 * Write a new, empty file from beginning to end, with holes for long runs of
 * zeros: holes take no disk space and read the same. Where the original file
 * had holes is not known.
 */
struct sparse {
	int fd;
	off_t at;      /**< written, or left as a hole, up to here */
	size_t zeros;  /**< zeros after that, not yet written */
};

#define SPARSE_INIT(fd_) { .fd = (fd_) }

/** Append; 0, or -1 with errno. */
int sparse_write(struct sparse *sparse, const void *data, size_t len);

/** Finish: set the size of the file. 0, or -1 with errno. */
int sparse_finish(struct sparse *sparse);

#endif
