/* SPDX-License-Identifier: MIT */
/*
 * Lines that a client sends: whatever they are, each has at most one answer, which is a message of
 * the protocol, and nothing that was sent can become an option of a command.
 */
#include "fuzz.h"

#include "mcp/mcp_internal.h"

static size_t sent;

static void check_message(struct mcp_server *server, const json_t *message)
{
	struct strbuf text = STRBUF_INIT;
	json_t *again;

	(void)server;
	sent++;
	FUZZ_CHECK(json_is_object(message), "not an object");
	FUZZ_CHECK(json_object_get(message, "id"), "no id");
	FUZZ_CHECK(!json_object_get(message, "result") != !json_object_get(message, "error"),
		   "neither a result nor an error, or both");
	json_write(&text, message);
	FUZZ_CHECK(!memchr(text.buf, '\n', text.len), "more than one line");
	again = json_loadb(text.buf, text.len, 0, NULL);
	FUZZ_CHECK(again, "not JSON");
	json_decref(again);
	strbuf_release(&text);
}

/* After the options there are only a checkpoint, or a file in one, "--" and paths. */
static void check_command(const struct mcp_call *call)
{
	struct strlist words = STRLIST_INIT;
	bool ended = false;

	if (call->tool)
		mcp_args_command(&words, call->tool, &call->args, call->source, false);
	else if (mcp_resources_command(&words, call->uri))
		FUZZ_CHECK(!words.nr, "half a command");
	for (size_t i = 0; i < words.nr && !ended; i++) {
		const char *word = words.items[i];

		ended = !strcmp(word, "--");
		FUZZ_CHECK(ended || *word != '-' || !strcmp(word, "--json") ||
				   !strcmp(word, "--yes") || !strcmp(word, "--dry-run") ||
				   !strcmp(word, "--patch") || !strncmp(word, "--session=", 10) ||
				   !strncmp(word, "--max-count=", 12) ||
				   !strncmp(word, "--source=", 9) || !strncmp(word, "--message=", 10) ||
				   !strncmp(word, "--reason=", 9),
			   "the option '%s'", word);
	}
	strlist_release(&words);
}

/* As if its command had printed the line that asked for it, or something that it might print. */
static void end_call(struct mcp_server *server, const char *line, size_t len, int status)
{
	struct mcp_call *call = server->first;
	json_t *message;

	check_command(call);
	call->planning = call->tool && call->tool->effect == MCP_DESTROYS;
	strbuf_add(&call->child.output, line, len);
	message = mcp_call_ended(call, server, status, "said");
	if (message)
		check_message(server, message);
	json_decref(message);
	mcp_dispatch_done(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mcp_server server = { .version = "1", .send = check_message };
	const char *at = (const char *)data, *end = at + size;
	size_t lines = 0;
	json_t *schema = mcp_schema("status");

	json_decref(schema);
	sent = 0;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);

		lines++;
		mcp_dispatch(&server, at, len, size % 5 == 4);
		if (server.waiting > 2)
			end_call(&server, at, len, (int)(lines % 6));
		at += len + 1;
	}
	while (server.first)
		end_call(&server, "{\"warnings\":[]}", 15, (int)(server.waiting % 5));
	FUZZ_CHECK(sent <= lines, "%zu answers to %zu lines", sent, lines);
	mcp_server_release(&server);
	return 0;
}
