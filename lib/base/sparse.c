/* SPDX-License-Identifier: MIT */
#include "base/fs.h"

enum {
	BLOCK = 4096,
	HOLE_MIN = 8 * BLOCK, /* a shorter one saves little and costs an extent */
};

static const char nothing[HOLE_MIN];

/* Data usually differs early, so this costs next to nothing. */
static bool all_zero(const char *data, size_t len)
{
	return !*data && !memcmp(data, nothing, len);
}

/* Write the pending zeros, or make them a hole, before something else follows. */
static int settle(struct sparse *sparse)
{
	if (sparse->zeros && sparse->zeros < HOLE_MIN &&
	    fs_pwrite_all(sparse->fd, nothing, sparse->zeros, sparse->at) < 0)
		return -1;
	sparse->at += (off_t)sparse->zeros;
	sparse->zeros = 0;
	return 0;
}

static int put(struct sparse *sparse, const char *data, size_t len)
{
	if (!len)
		return 0;
	if (settle(sparse) < 0 || fs_pwrite_all(sparse->fd, data, len, sparse->at) < 0)
		return -1;
	sparse->at += (off_t)len;
	return 0;
}

/* Up to the end of the file block that contains the next byte. */
static size_t block_rest(const struct sparse *sparse, size_t pending)
{
	return BLOCK - (size_t)(((unsigned long long)sparse->at + sparse->zeros + pending) % BLOCK);
}

int sparse_write(struct sparse *sparse, const void *buf, size_t len)
{
	const char *data = buf;
	size_t pending = 0; /* data to be written in one go */

	while (pending < len) {
		size_t piece = block_rest(sparse, pending), run = 0;

		/* Blocks of zeros, which cannot be told apart from a hole. */
		while (pending + run < len) {
			piece = block_rest(sparse, pending + run);
			piece = piece < len - pending - run ? piece : len - pending - run;
			if (!all_zero(data + pending + run, piece))
				break;
			run += piece;
		}
		if (!run || (run < HOLE_MIN && pending + run < len && !sparse->zeros)) {
			pending += run ? run : piece;
			continue;
		}
		if (put(sparse, data, pending) < 0)
			return -1;
		sparse->zeros += run;
		data += pending + run;
		len -= pending + run;
		pending = 0;
	}
	return put(sparse, data, pending);
}

int sparse_finish(struct sparse *sparse)
{
	if (!sparse->zeros)
		return 0;
	if (sparse->zeros < HOLE_MIN)
		return settle(sparse);
	sparse->at += (off_t)sparse->zeros;
	sparse->zeros = 0;
	return ftruncate(sparse->fd, sparse->at);
}
