/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_EVENT_INTERNAL_H
#define CKPT_AGENTS_AGENT_EVENT_INTERNAL_H

#include "base/base.h"
#include "record/record.h"

/**
 * What an agent tells its hooks: one JSON object, with names that differ from agent to agent. All
 * of this is pure: nothing is looked up on the disk and nothing is touched.
 */
enum agent_moment {
	AGENT_OTHER,  /**< nothing to do */
	AGENT_BEFORE, /**< a tool is about to run */
	AGENT_AFTER,  /**< it has run */
	AGENT_PROMPT, /**< the user asked for something */
	AGENT_STOP,   /**< the agent has answered */
};

struct agent_event {
	bool readable; /**< it was one JSON object; otherwise only labels.name and moment are set */
	enum agent_moment moment;
	char *entry;		  /**< the agent whose settings were used */
	struct ckpt_agent labels; /**< `name` is who really called, not whose settings were used */
	char *cwd;		  /**< where the agent works; NULL: not told */
	struct strlist roots;	  /**< of its workspace, the first is the main one */
	char *path, *command;	  /**< what the tool works on; each may be NULL */
};

/**
 * Read a text of any bytes. `entry` is the agent whose settings have our entry, `event` the name of
 * the event if the entry says it, or NULL. End with agent_event_release() in any case.
 */
void agent_event_read(struct agent_event *out, const struct strbuf *text, const char *entry,
		      const char *event);
void agent_event_release(struct agent_event *event);

/** By the name that an agent has for it; `has_tool` decides about unknown ones. */
enum agent_moment agent_moment_of(const char *agent, const char *event, bool has_tool);

/**
 * Whether the state is to be saved: at the prompt and at the end, and before and after each tool
 * unless it is known to read only. Tools that are not known, those of MCP servers among them, may
 * change files; tools of our own server do not, or save on their own.
 */
bool agent_event_saves(const struct agent_event *event);

/** Whether a tool of this agent is known to read only. */
bool agent_tool_reads(const char *agent, const char *tool);

/**
 * Reading one JSON object from a stream that need not end: some agents keep their end of the pipe
 * open.
 */
enum {
	AGENT_INPUT_SECONDS = 5,
	AGENT_INPUT_MAX = 32 << 20, /**< bytes */
};

/** Finds the end of an object as its bytes arrive. Begin with all zero. */
struct agent_input_scan {
	size_t depth;
	bool begun, in_string, escaped;
	bool other; /**< it does not begin as an object: it has no end */
};

/** How many of these bytes belong to the object, if it ends here; otherwise 0. */
size_t agent_input_scan(struct agent_input_scan *scan, const char *bytes, size_t len);

/**
 * Append one object. False if there is none, it is not whole, too large or too slow; then what was
 * appended means nothing.
 */
bool agent_input_read(struct strbuf *out, int fd, double seconds, size_t max);

#endif
