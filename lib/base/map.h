/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_MAP_H
#define CKPT_BASE_MAP_H

#include "base/std.h"

/** A file in memory that nobody changes in place. */
struct map {
	const unsigned char *data; /**< aligned as malloc(3) does it */
	size_t size;
};

/** Read or map a file; no data, and `errno`, if it does not exist, is empty (EINVAL) or not a file. */
struct map map_file(int dirfd, const char *path);

/** There may be no data. */
void map_release(struct map *map);

#endif
