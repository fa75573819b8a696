/* SPDX-License-Identifier: MIT */
#include "agents/agent_mcp_entry_internal.h"

#include "agents/agent_hook.h"
#include "agents/agent_mcp.h"
#include "agents/jsonedit_internal.h"
#include "base/base.h"

static const char *const words[] = { "servers", "file", "dir", "dirs", "line" };

/* "added:servers,line", or nothing */
static void add_words(struct strbuf *out, unsigned added)
{
	const char *separator = AGENT_HOOK_NOTE;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (added & 1u << i) {
			strbuf_addf(out, "%s%s", separator, words[i]);
			separator = ",";
		}
	}
}

/* ---- JSON ---- */

static json_t *make_entry(const struct agent_mcp *agent, unsigned added)
{
	struct strbuf note = STRBUF_INIT;
	json_t *arguments, *entry;

	add_words(&note, added);
	if (agent->shape == AGENT_MCP_COMMAND)
		arguments = json_pack("[s,s]", "git-checkpoint", "mcp");
	else
		arguments = json_pack("[s]", "mcp");
	if (note.len)
		json_array_append_new(arguments, json_string(note.buf));
	if (agent->shape == AGENT_MCP_COMMAND)
		entry = json_pack("{s:s,s:o,s:b}", "type", "local", "command", arguments, "enabled",
				  1);
	else
		entry = json_pack("{s:s*,s:s,s:o}", "type",
				  agent->shape == AGENT_MCP_STDIO   ? "stdio"
				  : agent->shape == AGENT_MCP_LOCAL ? "local"
								    : NULL,
				  "command", "git-checkpoint", "args", arguments);
	if (agent->shape == AGENT_MCP_LOCAL)
		json_object_set_new(entry, "tools", json_pack("[s]", "*"));
	strbuf_release(&note);
	return entry;
}

/* Whether a value is an entry that we write; then `added` is what it says. */
static bool is_ours(unsigned *added, const struct strbuf *text, const struct jsonedit_item *item,
		    const struct agent_mcp *agent)
{
	json_t *value = json_loadb(text->buf + item->start, item->end - item->start, 0, NULL), *made;
	bool ours = false;

	for (*added = 0; value && !ours && *added < 1u << ARRAY_SIZE(words); ++*added) {
		made = make_entry(agent, *added);
		ours = json_equal(value, made);
		json_decref(made);
	}
	*added -= ours;
	json_decref(value);
	return ours;
}

static int misshapen(const struct strbuf *text, size_t at, const char *what)
{
	struct strbuf place = STRBUF_INIT;
	int err;

	jsonedit_place(&place, text, at);
	err = ckpt_error_set(CKPT_ERROR, "%s: %s is not an object", place.buf, what);
	strbuf_release(&place);
	return err;
}

/* The object of all servers, and our entry in it: each may be missing, and is all zero then. */
struct spot {
	struct jsonedit_item servers, entry;
};

static int find_json(struct spot *out, const struct strbuf *text, const struct agent_mcp *agent)
{
	size_t root;
	int err = jsonedit_check(text, agent->flags);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	root = jsonedit_root(text);
	if (text->buf[root] != '{')
		return misshapen(text, root, "the outermost value");
	if (!jsonedit_find(&out->servers, text, root, agent->key)) {
		memset(out, 0, sizeof(*out));
		return 0;
	}
	if (text->buf[out->servers.start] != '{')
		return misshapen(text, out->servers.start, agent->key);
	if (!jsonedit_find(&out->entry, text, out->servers.start, AGENT_MCP_NAME))
		memset(&out->entry, 0, sizeof(out->entry));
	return 0;
}

static void insert_json(struct strbuf *text, const struct agent_mcp *agent,
			const struct spot *spot)
{
	bool alone = !spot->servers.end;
	size_t container = alone ? jsonedit_root(text) : spot->servers.start;
	unsigned added = (alone ? AGENT_MCP_SERVERS : 0) |
			 (jsonedit_opens_up(text, container) ? AGENT_MCP_LINE : 0);
	json_t *value = make_entry(agent, added);

	if (alone)
		value = json_pack("{s:o}", AGENT_MCP_NAME, value);
	jsonedit_insert(text, container, alone ? agent->key : AGENT_MCP_NAME, value);
	json_decref(value);
}

static void remove_json(struct strbuf *text, const struct spot *spot, unsigned added)
{
	size_t root = jsonedit_root(text), attached_to = spot->servers.start;

	jsonedit_remove(text, spot->servers.start, spot->entry.start);
	if (added & (AGENT_MCP_SERVERS | AGENT_MCP_FILE) &&
	    jsonedit_is_empty(text, spot->servers.start)) {
		jsonedit_remove(text, root, spot->servers.start);
		attached_to = root;
	}
	if (added & AGENT_MCP_LINE && jsonedit_is_empty(text, attached_to))
		jsonedit_close_up(text, attached_to);
}

/* ---- TOML ---- */

#define TABLE "mcp_servers"
#define FIRST "# >>> git-checkpoint mcp "
#define SECOND ">>>\n[" TABLE "." AGENT_MCP_NAME "]\ncommand = \"git-checkpoint\"\nargs = [\"mcp\"]\n"
#define LAST "# <<< git-checkpoint mcp <<<\n"

/* With the empty line before it, and the newline that the line before that lacked. */
static void make_block(struct strbuf *out, unsigned added)
{
	if (!(added & AGENT_MCP_FILE))
		strbuf_addstr(out, added & AGENT_MCP_LINE ? "\n\n" : "\n");
	strbuf_addstr(out, FIRST);
	add_words(out, added);
	strbuf_addf(out, "%s%s", added ? " " : "", SECOND LAST);
}

/* The last place where our lines are, byte by byte. */
static bool find_block(size_t *start, size_t *end, unsigned *added, const struct strbuf *text)
{
	struct strbuf block = STRBUF_INIT;
	bool found = false;

	for (unsigned tried = 0; tried < 1u << ARRAY_SIZE(words) && !found; tried++) {
		const char *at;

		strbuf_reset(&block);
		make_block(&block, tried);
		at = memmem(text->buf, text->len, block.buf, block.len);
		/* After a line without an end, or else where a line begins. */
		found = at && (tried & AGENT_MCP_LINE || at == text->buf || at[-1] == '\n');
		if (found) {
			*start = (size_t)(at - text->buf);
			*end = *start + block.len;
			*added = tried;
		}
	}
	strbuf_release(&block);
	return found;
}

/* How a line of somebody else begins our table, or makes it impossible. */
static int find_foreign(enum agent_mcp_found *out, const struct strbuf *text)
{
	for (const char *p = text->buf; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		size_t len;

		p += strspn(p, " \t[");
		if (strncmp(p, TABLE, strlen(TABLE)) != 0)
			continue;
		p += strlen(TABLE);
		p += strspn(p, " \t");
		if (*p == '=')
			return ckpt_error_set(CKPT_ERROR, "'" TABLE "' is written on one line, which "
							  "cannot be added to; add the entry that "
							  "--print shows by hand");
		len = strcspn(p, "\n]=");
		if (*p == '.' && memmem(p, len, AGENT_MCP_NAME, strlen(AGENT_MCP_NAME)))
			*out = AGENT_MCP_FOREIGN;
	}
	return 0;
}

static int find_toml(enum agent_mcp_found *out, const struct strbuf *text)
{
	size_t start, end;
	unsigned added;

	*out = AGENT_MCP_ABSENT;
	if (strlen(text->buf) != text->len)
		return ckpt_error_set(CKPT_ERROR, "it contains a NUL");
	if (find_block(&start, &end, &added, text)) {
		*out = AGENT_MCP_OURS;
		return 0;
	}
	return find_foreign(out, text);
}

static void insert_toml(struct strbuf *text)
{
	bool torn = text->len && text->buf[text->len - 1] != '\n';

	make_block(text, torn ? AGENT_MCP_LINE : 0);
}

/* ---- both ---- */

void agent_mcp_file(struct strbuf *out, const struct agent_mcp *agent, unsigned added)
{
	json_t *root;
	char *dump;

	if (agent->shape == AGENT_MCP_TOML) {
		make_block(out, added);
		/* To be shown, it is not after anything. */
		if (!added)
			strbuf_splice(out, 0, 1, NULL, 0);
		return;
	}
	root = json_pack("{s:{s:o}}", agent->key, AGENT_MCP_NAME, make_entry(agent, added));
	dump = json_dumps(root, JSON_INDENT(2));
	strbuf_addf(out, "%s\n", dump);
	free(dump);
	json_decref(root);
}

int agent_mcp_find(enum agent_mcp_found *out, const struct strbuf *text,
		   const struct agent_mcp *agent)
{
	struct spot spot;
	unsigned added;
	int err;

	if (agent->shape == AGENT_MCP_TOML)
		return find_toml(out, text);
	err = find_json(&spot, text, agent);
	*out = err || !spot.entry.end			  ? AGENT_MCP_ABSENT
	       : is_ours(&added, text, &spot.entry, agent) ? AGENT_MCP_OURS
							   : AGENT_MCP_FOREIGN;
	return err;
}

/* Whether `with`, once the entry is removed again, is `text`. */
static bool leads_back(const struct strbuf *with, const struct strbuf *text,
		       const struct agent_mcp *agent)
{
	struct strbuf without = STRBUF_INIT;
	unsigned added;
	bool empty, back;

	strbuf_add(&without, with->buf, with->len);
	back = agent_mcp_remove(&without, agent, &added, &empty) && strbuf_equal(&without, text);
	strbuf_release(&without);
	return back;
}

int agent_mcp_insert(struct strbuf *text, const struct agent_mcp *agent)
{
	struct strbuf with = STRBUF_INIT;
	struct spot spot;
	int err = 0;

	strbuf_add(&with, text->buf, text->len);
	if (agent->shape == AGENT_MCP_TOML)
		insert_toml(&with);
	else if (!(err = find_json(&spot, &with, agent)))
		insert_json(&with, agent, &spot);
	if (!err && !leads_back(&with, text, agent))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the entry could not be removed again without a trace");
	if (!err) {
		strbuf_reset(text);
		strbuf_add(text, with.buf, with.len);
	}
	strbuf_release(&with);
	return err;
}

bool agent_mcp_remove(struct strbuf *text, const struct agent_mcp *agent, unsigned *added,
		      bool *empty)
{
	struct spot spot;
	size_t start, end;

	*empty = false;
	if (agent->shape == AGENT_MCP_TOML) {
		if (!find_block(&start, &end, added, text))
			return false;
		/* A line that somebody added since needs the end of the one before it. */
		start += *added & AGENT_MCP_LINE && end < text->len;
		strbuf_splice(text, start, end, NULL, 0);
		*empty = !text->len;
		return true;
	}
	if (find_json(&spot, text, agent) || !spot.entry.end ||
	    !is_ours(added, text, &spot.entry, agent))
		return false;
	remove_json(text, &spot, *added);
	*empty = jsonedit_is_empty(text, jsonedit_root(text));
	return true;
}
