/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_RESTORED_INTERNAL_H
#define CKPT_CMD_RESTORED_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct plan;
struct restore_head;
struct restore_result;

/** Output about a restore. */

/** For restore_opts.confirm: show the plan and ask; `payload` is the target's record. */
int restored_confirm(const struct restore_result *preview, void *payload);

/** Say what is to be said about HEAD, and name the commands that lead back. */
void restored_say_head(const struct restore_head *head);

/** How many paths a plan changes, for each enum plan_effect. */
void restored_count(size_t counts[3], const struct plan *plan);

/** The answer of a restore in JSON; `back` is the command that leads to the state before, or NULL. */
json_t *restored_json(const struct restore_result *result, const struct ckpt_record *target,
		      const char *back);

/** The exit status of a restore. */
int restored_status(const struct restore_result *result);

/**
 * Print the report; returns the exit status. `back` is the command that leads
 * to the state before, or NULL; `interrupted` is that state, if an interrupted
 * restore was finished, or NULL.
 */
int restored_report(const struct restore_result *result, const struct ckpt_record *target,
		    const struct ckpt_record *interrupted, const char *back);

/** If the result is not as in the checkpoint, say so on stderr, even with -q, and name the paths. */
void restored_say_mismatch(const struct restore_result *result, const char *back);

#endif
