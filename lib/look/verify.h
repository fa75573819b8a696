/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_VERIFY_H
#define CKPT_LOOK_VERIFY_H

#include "record/record.h"

struct session;

/**
 * Read everything that checkpoints consist of, compute every object id and the
 * state hashes again from the stored bytes, and compare. What several of them
 * share is read once, as long as the store is not repaired meanwhile.
 */
struct verify {
	struct session *session;
	struct contents_known files, dirs;
	struct oidset others; /**< captures and large values that are sound */
	progress_fn progress;
};

struct verify_result {
	char id[CKPT_ID_SIZE];
	struct strlist problems; /**< empty: it is sound */
};

/** `progress` may be NULL. */
void verify_begin(struct verify *verify, struct session *session, progress_fn progress);
void verify_end(struct verify *verify);

/** Damage is a result, not a failure. */
int verify_checkpoint(struct verify_result *out, struct verify *verify, const struct ref_item *ref);

/** The same for one alone, from its record; the caller releases the problems. */
int verify_record(struct verify_result *out, struct session *session,
		  const struct ckpt_record *record, progress_fn progress);

/**
 * The state hash of a plain directory, from nothing but what is on the disk: no
 * ignore rule, no store, no cache. What a checkpoint never holds does not count:
 * every .git, FIFOs, sockets and devices.
 */
struct verify_directory {
	char hash[STATEHASH_SIZE];
	uint64_t files, bytes;
};

/** Fails if something in it cannot be read. */
int verify_directory(struct verify_directory *out, const char *path, unsigned threads);

#endif
