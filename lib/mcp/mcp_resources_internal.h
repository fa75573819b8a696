/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_RESOURCES_INTERNAL_H
#define CKPT_MCP_MCP_RESOURCES_INTERNAL_H

#include "base/base.h"

/** What can be read without a tool: the list of checkpoints, and each file in them. */

enum { MCP_RESOURCE_MAX = 8 << 20 /**< bytes of a file */ };

/** The arrays for `resources/list` and `resources/templates/list`. */
json_t *mcp_resources_list(void);
json_t *mcp_resources_templates(void);

/** The command that prints a resource; CKPT_ENOTFOUND if there is none with such an address. */
int mcp_resources_command(struct strlist *out, const char *uri);

/** {"uri","mimeType","text"}, or "blob" for what is not text. */
json_t *mcp_resources_contents(const char *uri, const struct strbuf *bytes);

/** The array for `prompts/list`, and what `prompts/get` answers: CKPT_ENOTFOUND, CKPT_EUSAGE. */
json_t *mcp_prompts_list(void);
int mcp_prompts_get(json_t **out, const char *name, const json_t *arguments);

#endif
