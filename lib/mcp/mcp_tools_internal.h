/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_TOOLS_INTERNAL_H
#define CKPT_MCP_MCP_TOOLS_INTERNAL_H

#include "base/base.h"

/** The tools: what each takes and answers, and the command line that it stands for. */

enum mcp_arg {
	MCP_REASON = 1 << 0,
	MCP_CHECKPOINT = 1 << 1,
	MCP_REVERT = 1 << 2,
	MCP_UNDO = 1 << 3,
	MCP_PATHS = 1 << 4,
	MCP_PATH = 1 << 5,
	MCP_TOKEN = 1 << 6,
	MCP_DIRECTORY = 1 << 7,
};

/** What a tool does with the files, from which its four annotations follow. */
enum mcp_effect {
	MCP_READS,
	MCP_ADDS,     /**< to the store; calling it again changes nothing */
	MCP_DESTROYS, /**< may overwrite or remove files: needs a token */
};

enum mcp_action {
	MCP_DO_SAVE,
	MCP_DO_LIST,
	MCP_DO_SHOW,
	MCP_DO_DIFF,
	MCP_DO_STATUS,
	MCP_DO_HISTORY,
	MCP_DO_PREVIEW,
	MCP_DO_RESTORE,
	MCP_DO_REVERT,
	MCP_DO_UNDO,
	MCP_DO_PIN,
};

struct mcp_tool {
	const char *name, *title, *about;
	enum mcp_action action;
	enum mcp_effect effect;
	unsigned takes, needs; /**< enum mcp_arg; all take MCP_DIRECTORY */
	const char *answer;    /**< for mcp_schema() */
};

/** NULL if there is none of that name. */
const struct mcp_tool *mcp_tools_find(const char *name);

/** The array for `tools/list`. */
json_t *mcp_tools_list(void);

/** Arguments of a call. All zero, or MCP_ARGS_INIT, before mcp_args_release(). */
struct mcp_args {
	unsigned given;
	char *reason, *checkpoint, *token, *directory; /**< NULL: not given */
	struct strlist paths;			       /**< `path` is here, too */
};

#define MCP_ARGS_INIT { 0, NULL, NULL, NULL, NULL, STRLIST_INIT }

/**
 * Check the arguments of a call (NULL: none). What `revert` names is in `checkpoint`. CKPT_EUSAGE
 * with a sentence for the model.
 */
int mcp_args_read(struct mcp_args *out, const struct mcp_tool *tool, const json_t *given);
void mcp_args_release(struct mcp_args *args);

/** Whether a text can be the name of a checkpoint on a command line. */
bool mcp_args_is_name(const char *text);

/**
 * The command line without the program. `plan`: of what a destructive tool would do, the plan
 * alone. `source` is who asks.
 */
void mcp_args_command(struct strlist *out, const struct mcp_tool *tool,
		      const struct mcp_args *args, const char *source, bool plan);

#endif
