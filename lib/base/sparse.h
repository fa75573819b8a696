/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SPARSE_H
#define CKPT_BASE_SPARSE_H

#include <stddef.h>
#include <sys/types.h>

/**
 * Writing a new, empty file from its beginning to its end, with holes where
 * there are long runs of zeros: these need no room on the disk then, and read
 * the same. Nothing is known of where the holes of the original were.
 */
struct sparse {
	int fd;
	off_t at;      /**< so far is written, or left as a hole */
	size_t zeros;  /**< that came after it, not yet written */
};

#define SPARSE_INIT(fd_) { .fd = (fd_) }

/** Append; 0, or -1 with errno. */
int sparse_write(struct sparse *sparse, const void *data, size_t len);

/** The end: the file has its size. 0, or -1 with errno. */
int sparse_finish(struct sparse *sparse);

#endif
