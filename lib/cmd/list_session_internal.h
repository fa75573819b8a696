/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_LIST_SESSION_INTERNAL_H
#define CKPT_CMD_LIST_SESSION_INTERNAL_H

#include "base/base.h"

struct session;

/**
 * Print what a coding agent did in one of its sessions, turn by turn, newest first. `id` as
 * turns_session() takes it.
 */
int list_session(struct session *session, const char *id);

/** For completion: "last", and the ids of all sessions. */
struct complete;
void list_session_offer(struct complete *complete);

#endif
