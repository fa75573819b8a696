/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_CADENCE_INTERNAL_H
#define CKPT_SAVE_CADENCE_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct save_opts;
struct store;

/**
 * --every and --min-interval: whether a requested save is due. Exact, because
 * the lock is held, however many processes call at once.
 *
 * Calls with --every are counted separately for each source and number. With
 * both options, a turn that comes too early passes to the next call. If the
 * program is killed, or the count is lost or outdated, an extra checkpoint may
 * be taken, but none is missed. For that, counting starts over when the
 * machine is restarted.
 */
int cadence_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest);

/**
 * Count the call, `due` or not, once it is done: a save that failed does not
 * use up the turn.
 */
void cadence_note(struct store *store, const struct save_opts *opts, bool due);

#endif
