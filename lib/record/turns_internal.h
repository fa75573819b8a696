/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_TURNS_INTERNAL_H
#define CKPT_RECORD_TURNS_INTERNAL_H

#include "base/base.h"
#include "record/turns.h"

/** What turns.c and turns_event.c share. Not for any other file. */

enum { TURNS_FILE_MAX = 512 << 10 /**< bytes, above which it is summed up to at most half */ };

/** NULL if there is none. */
struct turn_session *turns_find(struct turns *turns, const char *agent, const char *id);

/** The session of an event, which is now the last that fired; made if there is none. */
struct turn_session *turns_fire(struct turns *turns, const char *agent, const char *id,
				int64_t when);

/** The last turn of a session, which may be NULL; NULL if it has none. */
struct turn *turns_current(const struct turn_session *session);

/** Add one, whose strings it takes over. */
void turns_add(struct turn_session *session, const struct turn *turn);

/** An event of a turn; `checkpoint` may be "". */
void turns_happen(struct turn *turn, enum turn_moment moment, const char *entry,
		  const char *checkpoint);

/** Lines of the file. */
void turns_print_turn(struct strbuf *out, const struct turn_session *session,
		      const struct turn *turn);
void turns_print_event(struct strbuf *out, enum turn_moment moment, int64_t when,
		       const struct turn_session *session, const char *entry,
		       const char *checkpoint);

#endif
