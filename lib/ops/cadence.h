/* SPDX-License-Identifier: MIT */
#ifndef CKPT_OPS_CADENCE_H
#define CKPT_OPS_CADENCE_H

#include <stdbool.h>

struct ckpt_record;
struct save_opts;
struct store;

/**
 * --every and --min-interval: whether a save that is asked for is due. Counts
 * the call, so ask once, with the lock held. Calls with --every are counted
 * for each source and number on their own.
 */
int cadence_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest);

#endif
