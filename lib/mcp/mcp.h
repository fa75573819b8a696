/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_H
#define CKPT_MCP_MCP_H

#include "base/base.h"

/**
 * A server of the Model Context Protocol on two descriptors: coding agents call checkpoints as
 * tools. One JSON object on each line; nothing else is ever written there.
 *
 * What a tool does is done by a command of this same program, run again with --json in a process
 * of its own. Functions could be called instead, but a command may end its process (memory that
 * runs out, a signal, a bug), and the server must outlive it; it is stopped when a client cancels,
 * and holds no lock then; it sees the settings as they are then; and the answer is what the
 * manual documents. What comes in is hostile until it was checked: nothing of it reaches a shell
 * or can become an option.
 */
struct mcp_opts {
	const struct strlist *roots; /**< directories that may be named; empty: the current project */
	const char *version;	     /**< of this program, for clients */
	int in, out;
};

/**
 * Answer until the input ends and everything that was asked for is done, or until a signal came
 * or nobody reads the answers. Fails only before the first message is read.
 */
int mcp_serve(const struct mcp_opts *opts);

/*
 * In this folder:
 *
 *   mcp_lines mcp_server    lines in and out, calls in turn; messages, and what each asks for
 *   mcp_tools               what a tool takes and answers, its command line
 *   mcp_project mcp_call    in which project a call is, and whether it may; from its start to the
 *                           answer: the command that it runs, the plan that was shown
 *   mcp_resources           files and lists to be read, the prompt
 */

#endif
