/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_FLOWING_INTERNAL_H
#define CKPT_CMD_FLOWING_INTERNAL_H

struct flow_archives;
struct flow_result;
struct flow_resumed;

/** Output about workflows, as text and JSON; each prints and returns the exit status. */

int flowing_started(const struct flow_result *result);

/** A phase that started, completed or failed. */
int flowing_moved(const struct flow_result *result);
int flowing_approved(const struct flow_result *result);
int flowing_task(const struct flow_result *result);
int flowing_archived(const struct flow_result *result);
int flowing_unarchived(const struct flow_result *result);

/** `result` NULL: there is none. */
int flowing_status(const struct flow_result *result);
int flowing_list(const struct flow_archives *archives);

/** `status` is the result of restoring the files, 0 if that succeeded or was not asked for. */
int flowing_resumed(const struct flow_resumed *resumed, int status);

#endif
