/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_MCP_H
#define CKPT_AGENTS_AGENT_MCP_H

#include "base/base.h"

struct agents_opts;
struct agents_result;

/**
 * The entry that makes an agent start `git-checkpoint mcp`, in the file where it has its servers of
 * the Model Context Protocol. What agents.h says about entries and settings is true here, too.
 */

/** The name of the server, which agents put before those of its tools. */
#define AGENT_MCP_NAME "git-checkpoint"

/** The supported names, in the order to show them; the list ends with NULL. */
const char *const *agent_mcp_names(void);

/**
 * CKPT_ERROR for an unknown agent, with a message that lists those that are supported, and for one
 * that has no such file in the project, or in the home directory.
 */
int agent_mcp_check(const char *name, bool user);

int agent_mcp_install(struct agents_result *out, const struct agents_opts *opts);
int agent_mcp_uninstall(struct agents_result *out, const struct agents_opts *opts);

/** Touch nothing: `path` is the file it belongs in and `text` what a new one would contain. */
int agent_mcp_print(struct agents_result *out, const struct agents_opts *opts);

#endif
