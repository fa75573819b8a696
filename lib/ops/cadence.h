/* SPDX-License-Identifier: MIT */
#ifndef CKPT_OPS_CADENCE_H
#define CKPT_OPS_CADENCE_H

#include <stdbool.h>

struct ckpt_record;
struct save_opts;
struct store;

/**
 * --every and --min-interval: whether a save that is asked for is due. With
 * the lock held. Calls with --every are counted for each source and number on
 * their own.
 */
int cadence_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest);

/** Count the call, once it has been answered: a save that failed does not use up the turn. */
int cadence_note(struct store *store, const struct save_opts *opts);

#endif
