/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_EXPORT_H
#define CKPT_REMOTE_EXPORT_H

#include "base/base.h"

struct ckpt_record;
struct session;

/** A checkpoint as a file that other programs understand. */
enum export_format {
	/**
	 * What `git apply` turns the recorded HEAD into the files of the checkpoint with; outside
	 * git, or if there was no commit yet, what makes them from nothing. Paths that the
	 * checkpoint does not cover, and submodules, are not mentioned.
	 */
	EXPORT_PATCH,
	/** All files, with every permission bit. The same checkpoint gives the same bytes. */
	EXPORT_TAR,
	/** Everything: import.h and stock git read it. */
	EXPORT_BUNDLE,
};

struct export_result {
	uint64_t bytes;
	char *against;		 /**< of a patch: the commit it is against, or NULL */
	struct strlist warnings; /**< what the file does not have */
};

void export_result_release(struct export_result *result);

/**
 * Write it to `file`, which has the old contents or the new ones, whatever happens; NULL: to
 * stdout, where a failure may leave a part. A damaged checkpoint is not exported.
 */
int export_checkpoint(struct export_result *out, struct session *session,
		      const struct ckpt_record *record, enum export_format format,
		      const char *file);

#endif
