/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_MESSAGE_INTERNAL_H
#define CKPT_MCP_MCP_MESSAGE_INTERNAL_H

#include "base/base.h"

/** Messages of JSON-RPC as the protocol has them, and its revisions. Only values: no input, no output. */

enum {
	MCP_LINE_MAX = 4 << 20, /**< bytes of a message */
	MCP_DEPTH_MAX = 32,	/**< of objects and arrays in one another */
};

/** What a refusal says, beside a sentence. */
enum mcp_code {
	MCP_NOT_JSON = -32700,
	MCP_BAD_REQUEST = -32600,
	MCP_NO_METHOD = -32601,
	MCP_BAD_PARAMS = -32602,
	MCP_INTERNAL = -32603,
	MCP_NO_RESOURCE = -32002, /**< before MCP_2026, where it is MCP_BAD_PARAMS */
	MCP_BAD_VERSION = -32022,
};

/** Until 2025 a client begins with `initialize`; since 2026 every request says what it needs to. */
enum mcp_revision { MCP_2025_06, MCP_2025_11, MCP_2026, MCP_REVISIONS };

/** "2026-07-28" */
const char *mcp_revision_name(enum mcp_revision revision);

/** False if it is not supported. */
bool mcp_revision_find(enum mcp_revision *out, const char *name);

/** An array of all names, newest first. */
json_t *mcp_revision_all(void);

/** Beside `whole`, which owns them, all are borrowed. */
struct mcp_message {
	json_t *whole;
	json_t *id;	    /**< a string or an integer; NULL: a notification */
	const char *method; /**< NULL: an answer to somebody */
	json_t *params;	    /**< an object, or NULL */
	json_t *meta;	    /**< "_meta" of these, an object, or NULL */
};

/**
 * Take one line apart. Returns 0, or an enum mcp_code with a sentence for ckpt_error_last(); `id`
 * is then set if the message has one that can be answered. To be released in any case.
 */
int mcp_message_read(struct mcp_message *out, const char *line, size_t len);
void mcp_message_release(struct mcp_message *message);

/** A member of "_meta" whose name begins with "io.modelcontextprotocol/", or NULL. */
json_t *mcp_message_own(const struct mcp_message *message, const char *name);

/** {"jsonrpc","id","result"}; takes the result over. */
json_t *mcp_message_answer(json_t *id, json_t *result);

/** {"jsonrpc","id","error"}; without an id that is null. `data` may be NULL, and is taken over. */
json_t *mcp_message_refusal(json_t *id, int code, const char *why, json_t *data);

/** {"jsonrpc","method","params"}; takes the parameters over. */
json_t *mcp_message_notice(const char *method, json_t *params);

#endif
