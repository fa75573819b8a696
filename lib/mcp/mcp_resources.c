/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#define SCHEME "checkpoint:///"
#define LIST SCHEME "list"

enum { LIST_MAX = 20 /* as of checkpoint_list */ };

json_t *mcp_resources_list(void)
{
	return json_pack("[{s:s,s:s,s:s,s:s,s:s}]", "uri", LIST, "name", "checkpoints", "title",
			 "Checkpoints", "description", "the newest checkpoints of the project",
			 "mimeType", "application/json");
}

json_t *mcp_resources_templates(void)
{
	return json_pack("[{s:s,s:s,s:s,s:s}]", "uriTemplate", SCHEME "{id}/{+path}", "name",
			 "file", "title", "A file in a checkpoint", "description",
			 "a file as it was in a checkpoint; its path is from the top of the project");
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Undo percent encoding; false if it is malformed or has a NUL. */
static bool decode_percent(struct strbuf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high, low;

		if (text[i] != '%') {
			strbuf_addch(out, text[i]);
			continue;
		}
		high = i + 2 < len ? hex_value(text[i + 1]) : -1;
		low = high >= 0 ? hex_value(text[i + 2]) : -1;
		if (low < 0 || !(high | low))
			return false;
		strbuf_addch(out, high << 4 | low);
		i += 2;
	}
	return true;
}

bool mcp_resources_path(struct strbuf *out, const char *uri)
{
	static const char scheme[] = "file://";

	return !strncmp(uri, scheme, strlen(scheme)) &&
	       decode_percent(out, uri + strlen(scheme), strlen(uri + strlen(scheme)));
}

static int not_there(const char *uri)
{
	return ckpt_error_set(CKPT_ENOTFOUND, "there is no resource '%s'", uri);
}

int mcp_resources_command(struct strlist *out, const char *uri)
{
	struct strbuf name = STRBUF_INIT, path = STRBUF_INIT;
	const char *rest = uri + strlen(SCHEME), *slash;
	bool valid;

	if (!strcmp(uri, LIST)) {
		strlist_add(out, "--json");
		strlist_add(out, "list");
		strlist_addf(out, "--max-count=%d", LIST_MAX);
		return 0;
	}
	if (strncmp(uri, SCHEME, strlen(SCHEME)) != 0 || !(slash = strchr(rest, '/')))
		return not_there(uri);
	valid = decode_percent(&name, rest, (size_t)(slash - rest)) &&
		decode_percent(&path, slash + 1, strlen(slash + 1)) && mcp_args_is_name(name.buf) &&
		path.len && path.buf[0] != '/';
	if (valid) {
		strlist_add(out, "show");
		strlist_addf(out, "%s:%s", name.buf, path.buf);
	}
	strbuf_release(&name);
	strbuf_release(&path);
	return valid ? 0 : not_there(uri);
}

static void encode_base64(struct strbuf *out, const unsigned char *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	strbuf_grow(out, len / 3 * 4 + 4);
	for (size_t i = 0; i < len; i += 3) {
		unsigned group = (unsigned)bytes[i] << 16;

		group |= i + 1 < len ? (unsigned)bytes[i + 1] << 8 : 0;
		group |= i + 2 < len ? bytes[i + 2] : 0;
		strbuf_addch(out, digits[group >> 18]);
		strbuf_addch(out, digits[group >> 12 & 63]);
		strbuf_addch(out, i + 1 < len ? digits[group >> 6 & 63] : '=');
		strbuf_addch(out, i + 2 < len ? digits[group & 63] : '=');
	}
}

json_t *mcp_resources_contents(const char *uri, const struct strbuf *bytes)
{
	struct strbuf encoded = STRBUF_INIT;
	json_t *contents = json_pack("{s:o}", "uri", json_text(uri));

	if (utf8_valid(bytes->buf, bytes->len) && !memchr(bytes->buf, '\0', bytes->len)) {
		json_object_set_new(contents, "mimeType",
				    json_string(strcmp(uri, LIST) ? "text/plain" : "application/json"));
		json_object_set_new(contents, "text", json_stringn(bytes->buf, bytes->len));
	} else {
		encode_base64(&encoded, (const unsigned char *)bytes->buf, bytes->len);
		json_object_set_new(contents, "mimeType", json_string("application/octet-stream"));
		json_object_set_new(contents, "blob", json_stringn(encoded.buf, encoded.len));
	}
	strbuf_release(&encoded);
	return contents;
}

/* ---- the prompt ---- */

#define PROMPT "change_safely"
#define PROMPT_ABOUT "make a change that can be taken back exactly"

json_t *mcp_prompts_list(void)
{
	return json_pack("[{s:s,s:s,s:s,s:[{s:s,s:s,s:b}]}]", "name", PROMPT, "title",
			 "Change safely", "description", PROMPT_ABOUT, "arguments", "name", "task",
			 "description", "what to change", "required", 1);
}

int mcp_prompts_get(json_t **out, const char *name, const json_t *arguments)
{
	const json_t *task = json_object_get(arguments, "task");
	struct strbuf text = STRBUF_INIT;

	if (strcmp(name, PROMPT) != 0)
		return ckpt_error_set(CKPT_ENOTFOUND, "there is no prompt '%s'", name);
	if (!json_is_object(arguments) || json_object_size(arguments) != 1 || !json_is_string(task))
		return ckpt_error_set(CKPT_EUSAGE, "the prompt '%s' takes the argument 'task'", name);
	strbuf_addf(&text,
		    "Task: %s\n\n"
		    "Before you change anything, call checkpoint_save with the task as reason and "
		    "note the id of the checkpoint; call checkpoint_pin if it must stay for long. Do "
		    "the task. Call checkpoint_diff with that id, and make sure that only files "
		    "changed which the task is about. If it went wrong, call "
		    "checkpoint_preview_restore with that id, look at what would be overwritten or "
		    "removed, and only if that is your own work, call checkpoint_restore with the "
		    "token. checkpoint_undo takes a restore back.\n",
		    json_string_value(task));
	*out = json_pack("{s:s,s:[{s:s,s:{s:s,s:o}}]}", "description", PROMPT_ABOUT, "messages",
			 "role", "user", "content", "type", "text", "text", json_text(text.buf));
	strbuf_release(&text);
	return 0;
}
