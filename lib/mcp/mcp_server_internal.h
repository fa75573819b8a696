/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_SERVER_INTERNAL_H
#define CKPT_MCP_MCP_SERVER_INTERNAL_H

#include "base/base.h"
#include "mcp/mcp_child_internal.h"
#include "mcp/mcp_message_internal.h"
#include "mcp/mcp_place_internal.h"
#include "mcp/mcp_tokens_internal.h"
#include "mcp/mcp_tools_internal.h"

/**
 * What a server knows, and the calls that wait for a command. The first of these runs, one at a
 * time: they would wait for each other's lock anyway, and stay in the order of the client.
 */
struct mcp_server {
	const char *version;
	struct mcp_roots roots;
	struct mcp_tokens tokens;
	bool initialized;	    /**< and in which revision, by whom: */
	enum mcp_revision revision;
	char *client;
	struct mcp_call *first;
	size_t waiting;
	void (*send)(struct mcp_server *server, const json_t *message);
	void *payload; /**< for send() */
};

/** A tool that was called, or a resource that is to be read. */
struct mcp_call {
	struct mcp_call *next;
	json_t *id;
	json_t *progress; /**< the token for notifications, or NULL */
	unsigned reports; /**< how many were sent */
	bool modern;	  /**< of revision 2026 */
	bool planning;	  /**< a destructive tool: its plan is made again first */
	bool cancelled;	  /**< nobody waits for the answer */
	const struct mcp_tool *tool; /**< NULL: a resource */
	struct mcp_args args;
	char *uri;
	char *source; /**< who asks */
	char expected[MCP_DIGEST_SIZE]; /**< of the plan that the token stands for */
	struct strbuf before; /**< the hash of the state that the plan is for */
	struct mcp_place place;
	struct mcp_child child;
};

/* ---- mcp_dispatch.c ---- */

/** Do what a line asks for: answer it, or add a call. */
void mcp_dispatch(struct mcp_server *server, const char *line, size_t len);

/** Complete a result as the revision of its request wants it. */
json_t *mcp_dispatch_result(const struct mcp_server *server, json_t *result, bool modern);

/** Drop the first call. */
void mcp_dispatch_done(struct mcp_server *server);
void mcp_server_release(struct mcp_server *server);

/* ---- mcp_call.c ---- */

/** Start what it needs. NULL: its child runs. Otherwise the message that ends it. */
json_t *mcp_call_start(struct mcp_call *call, struct mcp_server *server);

/** Its child has ended with `status`, after it said something on stderr; as above. */
json_t *mcp_call_ended(struct mcp_call *call, struct mcp_server *server, int status,
		       const char *said);

/** The result of a tool that was refused: the sentence is that of ckpt_error_last(). */
json_t *mcp_call_error(int err);

/** The client does not want it any more. True if it may be stopped: it changes no files yet. */
bool mcp_call_cancel(struct mcp_call *call);
void mcp_call_free(struct mcp_call *call);

#endif
