/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_FLOW_H
#define CKPT_SHOW_FLOW_H

struct flow_archives;
struct flow_result;
struct flow_resumed;

/** Output about workflows, as text and JSON; each prints and returns the exit status. */

int show_flow_started(const struct flow_result *result);

/** A phase that started, completed or failed. */
int show_flow_moved(const struct flow_result *result);
int show_flow_approved(const struct flow_result *result);
int show_flow_task(const struct flow_result *result);
int show_flow_archived(const struct flow_result *result);
int show_flow_unarchived(const struct flow_result *result);

/** `result` NULL: there is none. */
int show_flow_status(const struct flow_result *result);
int show_flow_list(const struct flow_archives *archives);

/** `status` is the result of restoring the files, 0 if that succeeded or was not asked for. */
int show_flow_resumed(const struct flow_resumed *resumed, int status);

#endif
