/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_TALK_INTERNAL_H
#define CKPT_WATCH_WATCH_TALK_INTERNAL_H

#include "base/base.h"

struct watch_tree;

/**
 * Connections of processes that ask: each sends one line and gets one answer. Nobody waits for
 * them: a peer that says nothing, or does not read, is cut off.
 */
enum {
	WATCH_TALKS_MAX = 64,
	WATCH_TALK_SECONDS = 5,
};

struct watch_talk {
	int fd;
	struct watch_tree *tree; /**< NULL: it asks the process as a whole */
	struct strbuf in, out;
	size_t sent;
	bool answered;
	double until;
};

struct watch_talks {
	struct watch_talk items[WATCH_TALKS_MAX];
	size_t nr;
	double deaf; /**< until then none is taken: there are no descriptors */
};

/** Take one from a socket that listens, if it is a process of this user. */
void watch_talk_accept(struct watch_talks *talks, int listener, struct watch_tree *tree);

/** What came; true when the question is complete and has not been answered yet. */
bool watch_talk_read(struct watch_talk *talk);

/** Send as much of `out` as it takes now; false when there is nothing left to do: close it. */
bool watch_talk_write(struct watch_talk *talk);

void watch_talk_close(struct watch_talks *talks, size_t at);

/** Those of a worktree that is no longer watched. */
void watch_talks_drop(struct watch_talks *talks, const struct watch_tree *tree);

#endif
