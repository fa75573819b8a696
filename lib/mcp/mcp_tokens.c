/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_tokens_internal.h"

#include "base/base.h"

#include <sys/random.h>

void mcp_tokens_digest(char out[MCP_DIGEST_SIZE], const struct strlist *command, const char *where,
		       const struct strbuf *plan)
{
	struct digest *digest = hash_new(HASH_SHA256);
	unsigned char sum[SHA256_SIZE];

	for (size_t i = 0; i < command->nr; i++)
		hash_update(digest, command->items[i], strlen(command->items[i]) + 1);
	hash_update(digest, "", 1); /* no argument is empty */
	hash_update(digest, where, strlen(where) + 1);
	hash_update(digest, plan->buf, plan->len);
	hash_end(digest, sum);
	hash_free(digest);
	oid_hex_encode(out, sum, sizeof(sum));
}

static void forget(struct mcp_tokens *tokens, size_t at)
{
	tokens->nr--;
	memmove(&tokens->items[at], &tokens->items[at + 1],
		(tokens->nr - at) * sizeof(tokens->items[0]));
}

int mcp_tokens_issue(struct mcp_tokens *tokens, char out[MCP_TOKEN_SIZE], const char *digest)
{
	unsigned char bytes[(MCP_TOKEN_SIZE - 1) / 2];
	struct mcp_token *token;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return ckpt_error_errno("unable to get random bytes");
	if (tokens->nr == MCP_TOKENS_MAX)
		forget(tokens, 0);
	token = &tokens->items[tokens->nr++];
	oid_hex_encode(token->text, bytes, sizeof(bytes));
	memcpy(token->digest, digest, MCP_DIGEST_SIZE);
	memcpy(out, token->text, MCP_TOKEN_SIZE);
	return 0;
}

bool mcp_tokens_redeem(struct mcp_tokens *tokens, char out[MCP_DIGEST_SIZE], const char *text)
{
	for (size_t i = 0; i < tokens->nr; i++) {
		if (strcmp(tokens->items[i].text, text) != 0)
			continue;
		memcpy(out, tokens->items[i].digest, MCP_DIGEST_SIZE);
		forget(tokens, i);
		return true;
	}
	return false;
}
