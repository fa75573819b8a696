/* SPDX-License-Identifier: MIT */
#include "base/base.h"
#include "mcp/mcp_resources_internal.h"
#include "mcp/mcp_server_internal.h"

/* No plan of a repository that somebody works in is larger. */
enum { OUTPUT_MAX = 64 << 20 };

/* Exit statuses of commands; git-checkpoint(1) has all of them. */
enum { STATUS_DONE = 0, STATUS_INCOMPLETE = 3, STATUS_REFUSED = 5, STATUS_FATAL = 128, STATUS_USAGE = 129 };

void mcp_call_free(struct mcp_call *call)
{
	json_decref(call->id);
	json_decref(call->progress);
	mcp_args_release(&call->args);
	mcp_place_release(&call->place);
	mcp_child_release(&call->child);
	strbuf_release(&call->before);
	free(call->uri);
	free(call->source);
	free(call);
}

/* ---- answers ---- */

/* `object` is what the command prints. */
static json_t *tool_result(json_t *object, bool failed)
{
	struct strbuf text = STRBUF_INIT;
	json_t *result;

	json_write(&text, object);
	result = json_pack("{s:[{s:s,s:s}],s:b}", "content", "type", "text", "text", text.buf,
			   "isError", failed);
	/* An error is not what the schema describes. */
	if (!json_object_get(object, "error"))
		json_object_set(result, "structuredContent", object);
	strbuf_release(&text);
	return result;
}

static json_t *error_result(int status, const char *why)
{
	json_t *object = json_pack("{s:{s:i,s:o}}", "error", "code", status, "message",
				   json_text(why));
	json_t *result = tool_result(object, true);

	json_decref(object);
	return result;
}

json_t *mcp_call_error(int err)
{
	return error_result(err == CKPT_EUSAGE	   ? STATUS_USAGE
			    : err == CKPT_EREFUSED ? STATUS_REFUSED
						   : STATUS_FATAL,
			    ckpt_error_last());
}

static json_t *tell(const struct mcp_call *call, const struct mcp_server *server, json_t *result)
{
	return mcp_message_answer(call->id, mcp_dispatch_result(server, result, call->modern));
}

static json_t *fail_resource(const struct mcp_call *call, int code, const char *why)
{
	if (code == MCP_NO_RESOURCE && call->modern)
		code = MCP_BAD_PARAMS;
	return mcp_message_refusal(call->id, code, why,
				   json_pack("{s:o}", "uri", json_text(call->uri)));
}

/* An error of our own. */
static json_t *fail(const struct mcp_call *call, const struct mcp_server *server, int err)
{
	if (!call->tool)
		return fail_resource(call, err == CKPT_ENOTFOUND ? MCP_NO_RESOURCE : MCP_INTERNAL,
				     ckpt_error_last());
	return tell(call, server, mcp_call_error(err));
}

/* ---- starting ---- */

static int run_tool(struct mcp_call *call)
{
	struct strlist words = STRLIST_INIT;
	int err;

	strlist_add(&words, "--json");
	mcp_args_command(&words, call->tool, &call->args, call->source, call->planning);
	mcp_child_release(&call->child);
	err = mcp_child_start(&call->child, &words, call->place.fd, OUTPUT_MAX);
	strlist_release(&words);
	return err;
}

static int start_tool(struct mcp_call *call, struct mcp_server *server)
{
	int err = 0;

	call->planning = call->tool->effect == MCP_DESTROYS;
	if (call->planning && !mcp_tokens_redeem(&server->tokens, call->expected, call->args.token))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the token is not valid, or was used before: call "
				     "checkpoint_preview_restore again, and look at the plan");
	if (!err)
		err = mcp_place_find(&call->place, &server->roots, call->args.directory);
	return err ? err : run_tool(call);
}

static int start_resource(struct mcp_call *call, const struct mcp_server *server)
{
	struct strlist words = STRLIST_INIT;
	int err = mcp_resources_command(&words, call->uri);

	if (!err)
		err = mcp_place_find(&call->place, &server->roots, NULL);
	if (!err)
		err = mcp_child_start(&call->child, &words, call->place.fd, MCP_RESOURCE_MAX);
	strlist_release(&words);
	return err;
}

json_t *mcp_call_start(struct mcp_call *call, struct mcp_server *server)
{
	int err = call->tool ? start_tool(call, server) : start_resource(call, server);

	return err ? fail(call, server, err) : NULL;
}

/* ---- when a command has ended ---- */

/* What is asked for, where, and what would be done: another of these is another plan. */
static void digest_plan(char out[MCP_DIGEST_SIZE], const struct mcp_call *call)
{
	struct strlist words = STRLIST_INIT;

	mcp_args_command(&words, call->tool, &call->args, "", true);
	mcp_tokens_digest(out, &words, call->place.worktree ? call->place.worktree : "",
			  &call->child.output);
	strlist_release(&words);
}

static const char *state_before(const json_t *object)
{
	const char *hash = json_string_value(json_object_get(
		json_object_get(object, "verification"), "pre_state_hash"));

	return hash ? hash : "";
}

/* The plan is still the one that was shown: carry it out. */
static json_t *go_on(struct mcp_call *call, struct mcp_server *server, const json_t *object)
{
	char digest[MCP_DIGEST_SIZE];
	int err = 0;

	digest_plan(digest, call);
	if (strcmp(digest, call->expected) != 0)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the token stands for another plan: files or checkpoints "
				     "changed since, or the arguments are not the same; call "
				     "checkpoint_preview_restore again, and look at the plan");
	if (!err) {
		call->planning = false;
		strbuf_addstr(&call->before, state_before(object));
		err = run_tool(call);
	}
	return err ? fail(call, server, err) : NULL;
}

static int add_token(struct mcp_call *call, struct mcp_server *server, json_t *object)
{
	char digest[MCP_DIGEST_SIZE], token[MCP_TOKEN_SIZE];
	int err;

	digest_plan(digest, call);
	err = mcp_tokens_issue(&server->tokens, token, digest);
	if (!err)
		json_object_set_new(object, "token", json_string(token));
	return err;
}

/* Somebody was quicker than us, and nothing is lost: it is in the safety checkpoint. */
static void warn_of_change(const struct mcp_call *call, json_t *object)
{
	if (call->before.len && strcmp(call->before.buf, state_before(object)) != 0)
		json_array_append_new(json_object_get(object, "warnings"),
				      json_string("files changed between the plan and the restore; "
						  "the safety checkpoint has them"));
}

static json_t *no_answer(const struct mcp_call *call, int status, const char *said)
{
	char *why = xstrfmt("the command ended with status %d%s%s%s", status,
			    call->child.overflowed ? ", and its answer is too large" : "",
			    *said ? ": " : "", said);
	json_t *result = error_result(status ? status : STATUS_FATAL, why);

	free(why);
	return result;
}

static json_t *tool_ended(struct mcp_call *call, struct mcp_server *server, json_t *object,
			  int status, const char *said)
{
	bool done = status == STATUS_DONE || status == STATUS_INCOMPLETE;
	int err = 0;

	if (call->child.overflowed || !json_is_object(object))
		return tell(call, server, no_answer(call, status, said));
	if (call->planning && done && !json_object_get(object, "error"))
		return go_on(call, server, object);
	if (call->tool->action == MCP_DO_PREVIEW && done)
		err = add_token(call, server, object);
	warn_of_change(call, object);
	return err ? fail(call, server, err) : tell(call, server, tool_result(object, !done));
}

static json_t *resource_ended(const struct mcp_call *call, const struct mcp_server *server,
			      int status, const char *said)
{
	json_t *result;

	if (call->child.overflowed)
		return fail_resource(call, MCP_INTERNAL, "the file is too large for this protocol");
	if (status != STATUS_DONE)
		return fail_resource(call,
				     status == STATUS_FATAL || status == STATUS_USAGE ?
					     MCP_NO_RESOURCE :
					     MCP_INTERNAL,
				     *said ? said : "the resource cannot be read");
	result = json_pack("{s:[o]}", "contents",
			   mcp_resources_contents(call->uri, &call->child.output));
	if (call->modern)
		json_object_update_new(result, json_pack("{s:i,s:s}", "ttlMs", 0, "cacheScope",
							 "private"));
	return tell(call, server, result);
}

json_t *mcp_call_ended(struct mcp_call *call, struct mcp_server *server, int status,
		       const char *said)
{
	json_t *object, *message;

	if (!call->tool)
		return resource_ended(call, server, status, said);
	object = json_loadb(call->child.output.buf, call->child.output.len, 0, NULL);
	message = tool_ended(call, server, object, status, said);
	json_decref(object);
	return message;
}

bool mcp_call_cancel(struct mcp_call *call)
{
	bool harmless = !call->tool || call->planning || call->tool->effect != MCP_DESTROYS;

	call->cancelled = harmless;
	return harmless;
}
