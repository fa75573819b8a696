/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_SCRATCH_H
#define CKPT_STORE_SCRATCH_H

#include "base/base.h"

struct oid;
struct store;

/**
 * Repositories for a moment, in checkpoint/scratch of a store: where stock git unpacks what may be
 * hostile, or compares what is in two repositories. Nothing in them belongs to a checkpoint.
 *
 * Each is locked by its process; those of dead ones are removed when the next is made, and by
 * whoever frees space.
 */
struct scratch {
	struct store *store;
	char *name; /**< below the store */
	char *path; /**< the same, absolute: a GIT_DIR */
	int lock;
};

#define SCRATCH_INIT { NULL, NULL, NULL, -1 }

/** Make an empty one, which is a store as far as reading objects and refs is concerned. */
int scratch_open(struct scratch *out, struct store *store, bool sha256);

/** Let it read the objects in this directory (absolute), too. */
int scratch_borrow(struct scratch *scratch, const char *objects);

/** Put a commit in it, for as long as it is there. */
int scratch_add_commit(struct scratch *scratch, const struct oid *oid, const struct strbuf *text);

/** Remove it; harmless if it was not opened. */
void scratch_close(struct scratch *scratch);

/** How many there are of dead processes. */
size_t scratch_count(struct store *store);

/** Remove those of dead processes. */
void scratch_sweep(struct store *store);

#endif
