/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CAPTURES_SPOOL_INTERNAL_H
#define CKPT_CAPTURES_SPOOL_INTERNAL_H

#include "base/base.h"

struct pack;
struct session;

/**
 * Bytes on their way into the store whose number is not known until all have
 * arrived: a temporary in the store, which counts towards maxSize and which
 * the next process removes if this one is killed. The store must be locked.
 */
struct spool {
	struct session *session;
	struct strbuf path;
	int fd;
	uint64_t size;
	struct oid oid; /**< of the blob, after spool_close() */
	bool packed;
};

#define SPOOL_INIT { .path = STRBUF_INIT, .fd = -1 }

int spool_open(struct spool *spool, struct session *session);
int spool_add(struct spool *spool, const void *data, size_t len);

/** Add everything that a descriptor gives. */
int spool_add_fd(struct spool *spool, int fd, const char *name);

/** No more bytes: compute the name. */
int spool_close(struct spool *spool);

/** Add it to a pack, unless it already exists. */
int spool_pack(struct spool *spool, struct pack *pack);

/** True if the store does not have it yet, so that it needs space. */
bool spool_is_new(const struct spool *spool);

void spool_release(struct spool *spool);

#endif
