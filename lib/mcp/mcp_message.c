/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#include "base/base.h"

#define OWN "io.modelcontextprotocol/"

static const char *const names[] = {
	[MCP_2025_06] = "2025-06-18",
	[MCP_2025_11] = "2025-11-25",
	[MCP_2026] = "2026-07-28",
};

const char *mcp_revision_name(enum mcp_revision revision)
{
	return names[revision];
}

bool mcp_revision_find(enum mcp_revision *out, const char *name)
{
	for (int i = 0; i < MCP_REVISIONS; i++) {
		if (!strcmp(names[i], name)) {
			*out = (enum mcp_revision)i;
			return true;
		}
	}
	return false;
}

json_t *mcp_revision_all(void)
{
	json_t *array = json_array();

	for (int i = MCP_REVISIONS - 1; i >= 0; i--)
		json_array_append_new(array, json_string(names[i]));
	return array;
}

/* ---- reading ---- */

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

static int find_id(struct mcp_message *out)
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

static int find_params(struct mcp_message *out)
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

static int take_apart(struct mcp_message *out)
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

int mcp_message_read(struct mcp_message *out, const char *line, size_t len)
{
	json_error_t where;

	memset(out, 0, sizeof(*out));
	if (len > MCP_LINE_MAX)
		return ckpt_error_set(MCP_BAD_REQUEST, "the message has more than %d bytes",
				      (int)MCP_LINE_MAX);
	out->whole = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY,
				&where);
	if (!out->whole)
		return ckpt_error_set(MCP_NOT_JSON, "not JSON: column %d: %s", where.column,
				      where.text);
	return take_apart(out);
}

void mcp_message_release(struct mcp_message *message)
{
	json_decref(message->whole);
	memset(message, 0, sizeof(*message));
}

json_t *mcp_message_own(const struct mcp_message *message, const char *name)
{
	char *key = xstrfmt(OWN "%s", name);
	json_t *value = json_object_get(message->meta, key);

	free(key);
	return value;
}

/* ---- making ---- */

json_t *mcp_message_answer(json_t *id, json_t *result)
{
	return json_pack("{s:s,s:O,s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *mcp_message_refusal(json_t *id, int code, const char *why, json_t *data)
{
	json_t *error = json_pack("{s:i,s:o}", "code", code, "message", json_text(why));

	if (data)
		json_object_set_new(error, "data", data);
	return json_pack("{s:s,s:o,s:o}", "jsonrpc", "2.0", "id", id ? json_incref(id) : json_null(),
			 "error", error);
}

json_t *mcp_message_notice(const char *method, json_t *params)
{
	return json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params", params);
}
