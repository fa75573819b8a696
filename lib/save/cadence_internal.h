/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_CADENCE_INTERNAL_H
#define CKPT_SAVE_CADENCE_INTERNAL_H

#include <stdbool.h>

struct ckpt_record;
struct save_opts;
struct store;

/**
 * --every and --min-interval: whether a save that is asked for is due. With
 * the lock held, which makes it exact however many processes call at once.
 *
 * Calls with --every are counted for each source and number on their own. With
 * both, a turn that comes too early is not used up: the next call has it.
 * Whatever kills the program, or loses or ages the count: one too many, never
 * one too few. For that counting begins anew when the machine was started.
 */
int cadence_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest);

/**
 * Count the call, `due` or not, once it has been answered: a save that failed
 * does not use up the turn.
 */
int cadence_note(struct store *store, const struct save_opts *opts, bool due);

#endif
