/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#include "agents/agents.h"

#define OWN "io.modelcontextprotocol/"

/* Lists are the same for everybody as long as the server runs. */
enum { LIST_MS = 3600 * 1000 };

#define INSTRUCTIONS                                                                                \
	"Checkpoints of the whole working directory, apart from the project's own git. Call "       \
	"checkpoint_save before changes that may have to be taken back; it costs little and takes " \
	"none if nothing changed. To go back, call checkpoint_preview_restore, look at the plan, "  \
	"and call checkpoint_restore with its token. Pin what must stay. Every answer names the "    \
	"worktree that it is about; name another one as 'directory' when you have gone there."

/*
 * The revisions of the protocol, newest first. Until 2025 a client begins with `initialize`; in the
 * first of these every request says what it needs to.
 */
static const char *const revisions[] = { "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
					   "2024-11-05" };

static json_t *list_revisions(void)
{
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(revisions); i++)
		json_array_append_new(array, json_string(revisions[i]));
	return array;
}

/* ---- messages, and what is in them ---- */

/* Beside `whole`, which owns them, all are borrowed. */
struct message {
	json_t *whole;
	json_t *id;	    /* a string or an integer; NULL: a notification */
	const char *method; /* NULL: an answer to somebody */
	json_t *params;	    /* an object, or NULL */
	json_t *meta;	    /* "_meta" of these, an object, or NULL */
};

/* No text may end earlier for us than it does for others. */
static bool has_nul(const char *text, size_t len)
{
	return memchr(text, '\0', len) != NULL;
}

static int check_value(const json_t *value, int depth)
{
	const char *key;
	json_t *member;
	size_t i;
	int err = 0;

	if (json_is_string(value) && has_nul(json_string_value(value), json_string_length(value)))
		return ckpt_error_set(MCP_BAD_REQUEST, "a text contains a NUL");
	if ((json_is_object(value) || json_is_array(value)) && depth >= MCP_DEPTH_MAX)
		return ckpt_error_set(MCP_BAD_REQUEST, "the message is nested too deeply");
	json_object_foreach((json_t *)value, key, member)
		if (!err)
			err = check_value(member, depth + 1);
	json_array_foreach(value, i, member)
		if (!err)
			err = check_value(member, depth + 1);
	return err;
}

static int find_id(struct message *out)
{
	json_t *id = json_object_get(out->whole, "id");

	if (!id)
		return 0;
	if (!json_is_string(id) && !json_is_integer(id))
		return ckpt_error_set(MCP_BAD_REQUEST, "'id' is neither a string nor an integer");
	if (json_is_string(id) && has_nul(json_string_value(id), json_string_length(id)))
		return ckpt_error_set(MCP_BAD_REQUEST, "a text contains a NUL");
	out->id = id;
	return 0;
}

static int find_params(struct message *out)
{
	json_t *token;

	out->params = json_object_get(out->whole, "params");
	if (out->params && !json_is_object(out->params))
		return ckpt_error_set(MCP_BAD_PARAMS, "'params' is not an object");
	out->meta = json_object_get(out->params, "_meta");
	if (out->meta && !json_is_object(out->meta))
		return ckpt_error_set(MCP_BAD_PARAMS, "'_meta' is not an object");
	token = json_object_get(out->meta, "progressToken");
	if (token && !json_is_string(token) && !json_is_integer(token))
		return ckpt_error_set(MCP_BAD_PARAMS,
				      "'progressToken' is neither a string nor an integer");
	return 0;
}

static int take_apart(struct message *out)
{
	const char *version = json_string_value(json_object_get(out->whole, "jsonrpc"));
	json_t *method = json_object_get(out->whole, "method");
	int err;

	if (json_is_array(out->whole))
		return ckpt_error_set(MCP_BAD_REQUEST, "batches are not supported");
	if (!json_is_object(out->whole))
		return ckpt_error_set(MCP_BAD_REQUEST, "the message is not an object");
	err = find_id(out);
	if (!err)
		err = check_value(out->whole, 0);
	if (err)
		return err;
	if (!version || strcmp(version, "2.0"))
		return ckpt_error_set(MCP_BAD_REQUEST, "'jsonrpc' is not \"2.0\"");
	if (!method && (json_object_get(out->whole, "result") ||
			json_object_get(out->whole, "error")))
		return 0;
	if (!json_is_string(method))
		return ckpt_error_set(MCP_BAD_REQUEST, "'method' is not a string");
	out->method = json_string_value(method);
	return find_params(out);
}

/*
 * Take one line apart. Returns 0, or an enum mcp_code with a sentence for ckpt_error_last(); `id`
 * is then set if the message has one that can be answered. To be released in any case.
 */
static int read_message(struct message *out, const char *line, size_t len, bool too_long)
{
	json_error_t where;

	memset(out, 0, sizeof(*out));
	out->whole = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY,
				&where);
	if (too_long) {
		out->method = json_string_value(json_object_get(out->whole, "method"));
		(void)find_id(out);
		return ckpt_error_set(MCP_BAD_REQUEST, "the message has more than %d bytes",
				      (int)MCP_LINE_MAX);
	}
	if (!out->whole)
		return ckpt_error_set(MCP_NOT_JSON, "not JSON: column %d: %s", where.column,
				      where.text);
	return take_apart(out);
}

static void release_message(struct message *message)
{
	json_decref(message->whole);
	memset(message, 0, sizeof(*message));
}

/* A member of "_meta" whose name begins with OWN, or NULL. */
static json_t *find_own(const struct message *message, const char *name)
{
	char *key = xstrfmt(OWN "%s", name);
	json_t *value = json_object_get(message->meta, key);

	free(key);
	return value;
}

/* ---- requests ---- */

/* A request, while it is looked at. */
struct request {
	struct mcp_server *server;
	const struct message *message;
	bool modern;
	json_t *data; /* for a refusal, or NULL */
};

void mcp_server_release(struct mcp_server *server)
{
	while (server->first)
		mcp_dispatch_done(server);
	mcp_roots_release(&server->roots);
	free(server->client);
	server->client = NULL;
}

static json_t *server_info(const struct mcp_server *server)
{
	return json_pack("{s:s,s:s,s:s}", "name", "git-checkpoint", "title", "git checkpoint",
			 "version", server->version);
}

json_t *mcp_dispatch_result(const struct mcp_server *server, json_t *result, bool modern)
{
	if (modern)
		json_object_update_new(result,
				       json_pack("{s:s,s:{s:o}}", "resultType", "complete", "_meta",
						 "io.modelcontextprotocol/serverInfo",
						 server_info(server)));
	return result;
}

/* A text of the parameters, or NULL. */
static const char *find_param(const struct request *request, const char *name)
{
	return json_string_value(json_object_get(request->message->params, name));
}

/* ---- who asks, in which revision ---- */

/* What this program itself, or its user, does. */
static bool is_reserved(const char *name)
{
	static const char *const own[] = { "cli", "flow", "hook", "watch", "checkpoint" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (!strcasecmp(own[i], name))
			return true;
	return false;
}

/*
 * The source of the checkpoints: the client's name, in the letters that others have, too, or what
 * the agent is called in hooks. What a program adds to its name for this protocol says nothing.
 */
static char *source_of(const json_t *info)
{
	static const char suffix[] = "-mcp-client";
	const char *name = json_string_value(json_object_get(info, "name")), *agent;
	struct strbuf out = STRBUF_INIT;
	char *end;

	for (; name && *name && out.len < 64; name++)
		if (isalnum((unsigned char)*name) || strchr("._-", *name))
			strbuf_addch(&out, *name);
		else if (out.len && out.buf[out.len - 1] != '-')
			strbuf_addch(&out, '-');
	end = strstr(out.buf, suffix);
	if (end && end > out.buf)
		strbuf_setlen(&out, (size_t)(end - out.buf));
	while (out.len && out.buf[out.len - 1] == '-')
		strbuf_setlen(&out, out.len - 1);
	agent = is_reserved(out.buf) || !out.len ? "mcp" : agents_of_client(out.buf);
	if (agent) {
		strbuf_reset(&out);
		strbuf_addstr(&out, agent);
	}
	return strbuf_detach(&out, NULL);
}

static char *client_of(const struct request *request)
{
	if (request->modern)
		return source_of(find_own(request->message, "clientInfo"));
	return xstrdup(request->server->client ? request->server->client : "mcp");
}

static int check_revision(struct request *request)
{
	const json_t *version = find_own(request->message, "protocolVersion");
	const char *method = request->message->method;

	if (!version) {
		if (request->server->initialized || !strcmp(method, "initialize") ||
		    !strcmp(method, "ping"))
			return 0;
		return ckpt_error_set(MCP_BAD_PARAMS,
				      "'_meta' has no 'io.modelcontextprotocol/protocolVersion', and "
				      "there was no 'initialize'");
	}
	if (!json_is_string(version))
		return ckpt_error_set(MCP_BAD_PARAMS, "the protocol version is not a string");
	request->modern = true;
	if (strcmp(json_string_value(version), revisions[0]) != 0) {
		request->data = json_pack("{s:o,s:O}", "supported", list_revisions(), "requested",
					  version);
		return ckpt_error_set(MCP_BAD_VERSION, "unsupported protocol version");
	}
	if (!json_is_object(find_own(request->message, "clientCapabilities")))
		return ckpt_error_set(MCP_BAD_PARAMS,
				      "'_meta' has no 'io.modelcontextprotocol/clientCapabilities'");
	return 0;
}

static json_t *make_capabilities(void)
{
	return json_pack("{s:{},s:{},s:{}}", "tools", "resources", "prompts");
}

static int run_initialize(struct request *request, json_t **out)
{
	struct mcp_server *server = request->server;
	const char *wanted = find_param(request, "protocolVersion"), *revision = revisions[1];

	if (!wanted)
		return ckpt_error_set(MCP_BAD_PARAMS, "'protocolVersion' is not a string");
	/* If it is another one, the client decides whether it can go on. */
	for (size_t i = 2; i < ARRAY_SIZE(revisions); i++)
		if (!strcmp(revisions[i], wanted))
			revision = revisions[i];
	server->initialized = true;
	server->tells_place = json_is_object(json_object_get(
		json_object_get(request->message->params, "capabilities"), "roots"));
	free(server->client);
	server->client = source_of(json_object_get(request->message->params, "clientInfo"));
	*out = json_pack("{s:s,s:o,s:o,s:s}", "protocolVersion",
			 revision, "capabilities", make_capabilities(),
			 "serverInfo", server_info(server), "instructions", INSTRUCTIONS);
	return 0;
}

static int run_discover(struct request *request, json_t **out)
{
	if (!request->modern)
		return ckpt_error_set(MCP_NO_METHOD, "'server/discover' is of a later revision");
	*out = json_pack("{s:o,s:o,s:s,s:i,s:s}", "supportedVersions", list_revisions(),
			 "capabilities", make_capabilities(), "instructions", INSTRUCTIONS, "ttlMs",
			 (int)LIST_MS, "cacheScope", "public");
	return 0;
}

static int run_ping(struct request *request, json_t **out)
{
	if (request->modern)
		return ckpt_error_set(MCP_NO_METHOD, "there is no method 'ping' any more");
	*out = json_object();
	return 0;
}

/* ---- lists ---- */

/* All of it at once: nobody was ever given a cursor. */
static int make_list(struct request *request, json_t **out, const char *name, json_t *(*make)(void))
{
	if (json_object_get(request->message->params, "cursor"))
		return ckpt_error_set(MCP_BAD_PARAMS, "unknown cursor");
	*out = json_pack("{s:o}", name, make());
	if (request->modern)
		json_object_update_new(*out, json_pack("{s:i,s:s}", "ttlMs", (int)LIST_MS,
						       "cacheScope", "public"));
	return 0;
}

static int get_prompt(struct request *request, json_t **out)
{
	const char *name = find_param(request, "name");

	if (!name)
		return ckpt_error_set(MCP_BAD_PARAMS, "'name' is not a string");
	if (mcp_prompts_get(out, name, json_object_get(request->message->params, "arguments")))
		return MCP_BAD_PARAMS;
	return 0;
}

/* ---- calls ---- */

static void add_call(const struct request *request, struct mcp_call *call)
{
	struct mcp_call **last = &request->server->first;

	call->id = json_incref(request->message->id);
	call->progress = json_incref(json_object_get(request->message->meta, "progressToken"));
	call->modern = request->modern;
	call->source = client_of(request);
	call->child = (struct mcp_child)MCP_CHILD_INIT;
	call->project = (struct mcp_project)MCP_PROJECT_INIT;
	strbuf_init(&call->before);
	while (*last)
		last = &(*last)->next;
	*last = call;
	request->server->waiting++;
}

void mcp_dispatch_done(struct mcp_server *server)
{
	struct mcp_call *call = server->first;

	server->first = call->next;
	server->waiting--;
	mcp_call_free(call);
}

static int call_tool(struct request *request, json_t **out)
{
	const char *name = find_param(request, "name");
	const struct mcp_tool *tool = name ? mcp_tools_find(name) : NULL;
	struct mcp_args args = MCP_ARGS_INIT;
	struct mcp_call *call;

	if (!tool)
		return ckpt_error_set(MCP_BAD_PARAMS, "there is no tool '%s'", name ? name : "");
	/* Wrong arguments are for the model to correct, not for the client. */
	if (mcp_args_read(&args, tool, json_object_get(request->message->params, "arguments"))) {
		mcp_args_release(&args);
		*out = mcp_call_error(NULL, CKPT_EUSAGE);
		return 0;
	}
	call = xcalloc(1, sizeof(*call));
	call->tool = tool;
	call->args = args;
	add_call(request, call);
	return 0;
}

static int read_resource(struct request *request, json_t **out UNUSED)
{
	const char *uri = find_param(request, "uri");
	struct mcp_call *call;

	if (!uri)
		return ckpt_error_set(MCP_BAD_PARAMS, "'uri' is not a string");
	call = xcalloc(1, sizeof(*call));
	call->uri = xstrdup(uri);
	add_call(request, call);
	return 0;
}

static const struct {
	const char *method;
	/* Sets `out`, unless the answer comes later; or fails with an enum mcp_code. */
	int (*run)(struct request *request, json_t **out);
	/* Instead of that: the name of a list, and what makes it. */
	const char *list;
	json_t *(*make)(void);
} methods[] = {
	{ "initialize", run_initialize },
	{ "server/discover", run_discover },
	{ "ping", run_ping },
	{ "tools/list", NULL, "tools", mcp_tools_list },
	{ "tools/call", call_tool },
	{ "resources/list", NULL, "resources", mcp_resources_list },
	{ "resources/templates/list", NULL, "resourceTemplates", mcp_resources_templates },
	{ "resources/read", read_resource },
	{ "prompts/list", NULL, "prompts", mcp_prompts_list },
	{ "prompts/get", get_prompt },
};

/* ---- messages ---- */

static struct mcp_call *find_call(const struct mcp_server *server, const json_t *id)
{
	struct mcp_call *call = server->first;

	while (call && !(id && json_equal(call->id, id)))
		call = call->next;
	return call;
}

static int run_method(struct request *request, json_t **out)
{
	int err = check_revision(request);

	for (size_t i = 0; i < ARRAY_SIZE(methods) && !err; i++)
		if (!strcmp(methods[i].method, request->message->method))
			return methods[i].run ? methods[i].run(request, out)
					      : make_list(request, out, methods[i].list,
							  methods[i].make);
	return err ? err
		   : ckpt_error_set(MCP_NO_METHOD, "there is no method '%s'",
				    request->message->method);
}

/* Nothing is answered to a notification, whatever it says. */
static void take_notice(struct mcp_server *server, const struct message *message)
{
	struct mcp_call *call;

	if (strcmp(message->method, "notifications/cancelled") != 0)
		return;
	call = find_call(server, json_object_get(message->params, "requestId"));
	if (call && mcp_call_cancel(call))
		mcp_child_stop(&call->child);
}

/*
 * Where the client is, which was asked for the first call. It is followed into another worktree of
 * the project: that is where its files are now.
 */
static void take_answer(struct mcp_server *server, const struct message *message)
{
	struct mcp_call *call = server->first;
	const char *id = json_string_value(message->id), *uri;
	json_t *result = json_object_get(message->whole, "result"), *root;
	size_t i;

	if (!call || !call->asked_until || call->placed || !id || strcmp(id, MCP_ASKS_PLACE) != 0)
		return;
	call->placed = true;
	json_array_foreach(json_object_get(result, "roots"), i, root) {
		struct strbuf path = STRBUF_INIT;

		uri = json_string_value(json_object_get(root, "uri"));
		if (uri && !call->args.directory && mcp_resources_path(&path, uri) &&
		    mcp_project_is_other(&server->roots, path.buf))
			call->args.directory = xstrdup(path.buf);
		strbuf_release(&path);
	}
}

static void send_message(struct mcp_server *server, json_t *message)
{
	server->send(server, message);
	json_decref(message);
}

static void answer_request(struct mcp_server *server, const struct message *message)
{
	struct request request = { server, message, false, NULL };
	json_t *result = NULL;
	int err = run_method(&request, &result);

	if (err)
		send_message(server, mcp_message_refusal(message->id, err, ckpt_error_last(), request.data));
	else if (result)
		send_message(server, mcp_message_answer(message->id, mcp_dispatch_result(server, result,
									     request.modern)));
}

static void refuse_message(struct mcp_server *server, json_t *id, int code)
{
	send_message(server, mcp_message_refusal(id, code, ckpt_error_last(), NULL));
}

void mcp_dispatch(struct mcp_server *server, const char *line, size_t len, bool too_long)
{
	struct message message;
	int err = read_message(&message, line, len, too_long);

	if (err && message.method && !message.id)
		err = 0; /* a notification: nobody waits for an answer */
	else if (err)
		refuse_message(server, message.id, err);
	else if (message.method && find_call(server, message.id))
		/* With the same id it would be taken for the answer of the other. */
		refuse_message(server, NULL,
		       ckpt_error_set(MCP_BAD_REQUEST,
				      "a request with that id is not answered yet"));
	else if (message.method && message.id)
		answer_request(server, &message);
	else if (message.method)
		take_notice(server, &message);
	else
		take_answer(server, &message);
	release_message(&message);
}
