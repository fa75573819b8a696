/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_TOKENS_INTERNAL_H
#define CKPT_MCP_MCP_TOKENS_INTERNAL_H

#include "base/base.h"

/**
 * What previews returned: a token stands for one plan, and for one call. They are in memory only,
 * so that those of another server, or of an earlier one, mean nothing.
 */
enum {
	MCP_TOKEN_SIZE = 33,  /**< 128 random bits as hexadecimal digits, and a NUL */
	MCP_DIGEST_SIZE = 65, /**< SHA-256, the same */
	MCP_TOKENS_MAX = 64,  /**< the oldest goes first */
};

struct mcp_tokens {
	struct mcp_token {
		char text[MCP_TOKEN_SIZE], digest[MCP_DIGEST_SIZE];
	} items[MCP_TOKENS_MAX];
	size_t nr;
};

/** Of what is asked for, and where, and of the plan as the command printed it. */
void mcp_tokens_digest(char out[MCP_DIGEST_SIZE], const struct strlist *command, const char *where,
		       const struct strbuf *plan);

/** A new one for that digest. */
int mcp_tokens_issue(struct mcp_tokens *tokens, char out[MCP_TOKEN_SIZE], const char *digest);

/** Take one back, whatever becomes of the call; false if there is none of that text. */
bool mcp_tokens_redeem(struct mcp_tokens *tokens, char out[MCP_DIGEST_SIZE], const char *text);

#endif
