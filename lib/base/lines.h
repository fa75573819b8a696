/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_LINES_H
#define CKPT_BASE_LINES_H

#include "base/std.h"

/**
 * A file read line by line, with a small buffer: for files with thousands of lines of which little is
 * kept. New memory costs more than reading.
 */
struct line_file {
	int fd;
	char *buf;
	size_t size, at, end; /**< what was read and not given out is from `at` to `end` */
	bool torn;	      /**< the last line given out does not end in a newline */
	int error;	      /**< the errno with which reading failed, or 0 */
};

/** A regular file, not a link. Fails as fs_read_file() does; lines_close() is needed in any case. */
int lines_open(struct line_file *out, int dirfd, const char *path);

/**
 * The next line, without its newline; it may have NULs, and its bytes may be changed until the next
 * call. False at the end, or if reading fails.
 */
bool lines_next(struct line_file *lines, char **line, size_t *len);

void lines_close(struct line_file *lines);

#endif
