/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_MCP_ENTRY_INTERNAL_H
#define CKPT_AGENTS_AGENT_MCP_ENTRY_INTERNAL_H

#include "base/base.h"

/** Our server in the text of an agent's settings: only texts, no files. */

enum agent_mcp_shape {
	AGENT_MCP_PLAIN,   /**< {"command","args"} */
	AGENT_MCP_STDIO,   /**< the same with "type":"stdio" */
	AGENT_MCP_LOCAL,   /**< with "type":"local", and "tools":["*"] */
	AGENT_MCP_COMMAND, /**< {"type":"local","command":[...],"enabled":true} */
	AGENT_MCP_TOML,	   /**< a table of Codex' config.toml */
};

struct agent_mcp {
	const char *name;
	const char *file;     /**< in the project; NULL: it has none there */
	const char *user;     /**< in the home directory; NULL: none that we may edit */
	const char *key;      /**< of the object of all servers */
	enum agent_mcp_shape shape;
	unsigned flags;	      /**< for jsonedit_check() */
	const char *variable; /**< moves the user's settings */
	const char *note;     /**< what is left to do */
	const char *instead;  /**< without `file` or `user`: what else to do */
};

/** What did not exist before us; the entry says so itself, as those of hooks do. */
enum agent_mcp_added {
	AGENT_MCP_SERVERS = 1 << 0, /**< the object of all servers */
	AGENT_MCP_FILE = 1 << 1,
	AGENT_MCP_DIR = 1 << 2,	    /**< the directory of the file */
	AGENT_MCP_DIRS = 1 << 3,    /**< and the one around it */
	AGENT_MCP_LINE = 1 << 4,    /**< white space between brackets; a newline at the end */
};

enum agent_mcp_found {
	AGENT_MCP_ABSENT,
	AGENT_MCP_OURS,
	AGENT_MCP_FOREIGN, /**< somebody else wrote an entry of our name */
};

/** A whole file with nothing but the entry, in an empty buffer. */
void agent_mcp_file(struct strbuf *out, const struct agent_mcp *agent, unsigned added);

/** An error for what cannot be parsed, or has another shape. */
int agent_mcp_find(enum agent_mcp_found *out, const struct strbuf *text,
		   const struct agent_mcp *agent);

/** Insert it where there is none. CKPT_EREFUSED if it could not be removed without a trace. */
int agent_mcp_insert(struct strbuf *text, const struct agent_mcp *agent);

/**
 * Remove ours, and the parts around it that we added and that are now empty. False if there is none.
 * `added` is what we added; `empty`: nothing is left.
 */
bool agent_mcp_remove(struct strbuf *text, const struct agent_mcp *agent, unsigned *added,
		      bool *empty);

#endif
