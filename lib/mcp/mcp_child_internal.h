/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_CHILD_INTERNAL_H
#define CKPT_MCP_MCP_CHILD_INTERNAL_H

#include "base/base.h"

/** A command of this program that runs while the server goes on listening. */
struct mcp_child {
	pid_t pid;	     /**< 0: none */
	int out, said;	     /**< what it prints; what it says on stderr, a file in memory */
	struct strbuf output;
	size_t limit;
	bool overflowed; /**< it printed more than `limit`: the rest is lost */
};

#define MCP_CHILD_INIT { 0, -1, -1, STRBUF_INIT, 0, false }

/**
 * Start it in the directory `dir`; the words after the program's name. It cannot ask anybody, and
 * if this process dies it gets SIGTERM.
 */
int mcp_child_start(struct mcp_child *out, const struct strlist *words, int dir, size_t limit);

/** Take what is there to read, when poll(2) says so; true if that was all. */
bool mcp_child_read(struct mcp_child *child);

/** Tell it to stop. */
void mcp_child_stop(struct mcp_child *child);

/** Wait for its end: the exit status. The last line that it said is in `said`. */
int mcp_child_end(struct mcp_child *child, struct strbuf *said);
void mcp_child_release(struct mcp_child *child);

#endif
