/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TURNS_TURNS_INTERNAL_H
#define CKPT_TURNS_TURNS_INTERNAL_H

#include "turns/turns.h"

/** What the files of this folder share: sessions in memory, and lines of the file. */

enum { TURNS_FILE_MAX = 512 << 10 /**< bytes, above which it is summed up to at most half */ };

/** NULL if there is none; `id` is "" if the agent tells none. */
struct turn_session *turns_find_session(struct turns *turns, const char *agent, const char *id);

/** The newest; NULL without a session, or if it has none. */
struct turn *turns_current(const struct turn_session *session);

/** The line that begins a turn, and that of an event in it. */
void turns_print_turn(struct strbuf *out, const struct turn_session *session, const struct turn *turn);
void turns_print_event(struct strbuf *out, enum turn_moment moment, int64_t when,
		       const struct turn_session *session, const char *entry,
		       const char *checkpoint);

/** Append whole lines. */
int turns_append(struct store *store, const struct strbuf *line);

#endif
