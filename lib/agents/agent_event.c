/* SPDX-License-Identifier: MIT */
#include "agents/agent_event_internal.h"

#include "agents/jsonedit_internal.h"
#include "base/base.h"

/*
 * The text is checked as a whole, but only the few values that matter become values: what a tool
 * answered may be of any depth, and have numbers of any size.
 */

enum {
	LABEL_MAX = 128,  /* bytes of an id or a name */
	PROMPT_MAX = 200, /* bytes of the first line */
};

#define ELLIPSIS "\xe2\x80\xa6"

/* --- strings --- */

/* Whether an escape is one half of a pair: the high one has one of 89ab as its second digit. */
static bool is_half(const char *escape, const char *digits)
{
	return escape[0] == '\\' && escape[1] == 'u' && (escape[2] == 'd' || escape[2] == 'D') &&
	       escape[3] && strchr(digits, escape[3]);
}

/* What is cut in the middle of a character has half of it, and jansson takes only whole ones. */
static void replace_halves(char *string)
{
	for (char *p = string; *p; p++) {
		if (*p != '\\')
			continue;
		if (is_half(p, "89abAB") && is_half(p + 6, "cdefCDEF"))
			p += 11;
		else if (is_half(p, "89abcdefABCDEF"))
			p = (char *)memcpy(p + 2, "fffd", 4) + 3;
		else if (p[1])
			p++;
	}
}

/* The value of a string; NULL if it is anything else, or empty. The caller frees it. */
static char *string_at(const struct strbuf *text, const struct jsonedit_item *item)
{
	struct strbuf raw = STRBUF_INIT;
	json_t *value;
	char *out = NULL;

	if (text->buf[item->start] != '"')
		return NULL;
	utf8_sanitize(&raw, text->buf + item->start, item->end - item->start);
	replace_halves(raw.buf);
	value = json_loadb(raw.buf, raw.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (json_string_length(value)) {
		out = xmemdupz(json_string_value(value), json_string_length(value));
		/* A directory that is cut short at a NUL is a different one. */
		for (size_t i = 0; i < json_string_length(value); i++)
			if (!out[i])
				out[i] = ' ';
	}
	json_decref(value);
	strbuf_release(&raw);
	return out;
}

/* Make it one line of at most `max` bytes, fit to be shown; NULL if nothing is left. */
static void shorten(char **text, size_t max)
{
	struct strbuf line = STRBUF_INIT;
	const char *begin = *text ? *text + strspn(*text, " \t\r\n") : "";
	size_t end;

	utf8_printable(&line, begin, strcspn(begin, "\r\n"), "", ' ');
	if (line.len > max) {
		end = max - strlen(ELLIPSIS);
		while (end && ((unsigned char)line.buf[end] & 0xc0) == 0x80)
			end--;
		strbuf_setlen(&line, end);
		strbuf_addstr(&line, ELLIPSIS);
	}
	free(*text);
	*text = line.len ? xstrdup(line.buf) : NULL;
	strbuf_release(&line);
}

/* --- members --- */

enum slot {
	CWD,
	SESSION,
	TURN,
	EVENT,
	TOOL,
	CALL,
	SUB,
	PARENT,
	PROMPT,
	TRANSCRIPT,
	TIME,
	INPUT,
	RESULT,
	REASON,
	ROOTS,
	NESTED, /* an object with name, id and input of a tool */
	SLOTS
};

/* What it is called by the agents; of several that are there the first here counts. */
static const struct name {
	const char *key;
	enum slot slot;
} names[] = {
	{ "cwd", CWD },
	{ "working_dir", CWD },
	{ "session_id", SESSION },
	{ "sessionId", SESSION },
	{ "conversation_id", SESSION },
	{ "taskId", SESSION },
	{ "trajectory_id", SESSION },
	{ "prompt_id", TURN },
	{ "turn_id", TURN },
	{ "generation_id", TURN },
	{ "execution_id", TURN },
	{ "hook_event_name", EVENT },
	{ "hookEventName", EVENT },
	{ "hookName", EVENT },
	{ "tool_name", TOOL },
	{ "toolName", TOOL },
	{ "tool_use_id", CALL },
	{ "tool_call_id", CALL },
	{ "agent_id", SUB },
	{ "parent_agent_id", PARENT },
	{ "prompt", PROMPT },
	{ "message", PROMPT }, /* Goose */
	{ "transcript_path", TRANSCRIPT },
	{ "timestamp", TIME },
	{ "tool_input", INPUT },
	{ "toolArgs", INPUT },
	{ "toolInput", INPUT },
	{ "tool_info", INPUT }, /* Windsurf; the name of the tool is in it, if it has one */
	{ "tool_response", RESULT },
	{ "toolResult", RESULT },
	{ "stopReason", REASON },
	{ "workspaceRoots", ROOTS },
	{ "workspace_roots", ROOTS },
	{ "tool_call", NESTED },
	{ "tool_result", NESTED },
	{ "tool_info", NESTED },
	{ "preToolUse", NESTED }, /* Cline's editor */
	{ "postToolUse", NESTED },
	{ "userPromptSubmit", NESTED },
};

/* In `tool_call` and the like. */
static const struct name nested_names[] = {
	{ "name", TOOL },
	{ "id", CALL },
	{ "input", INPUT },
	{ "toolName", TOOL },
	{ "parameters", INPUT },
	{ "mcp_tool_name", TOOL },
	{ "cwd", CWD },
	{ "prompt", PROMPT },
	{ "user_prompt", PROMPT },
};

struct found {
	const struct strbuf *text;
	struct jsonedit_item at[SLOTS];
	size_t by[SLOTS]; /* the place of its name in the list, from 1 on; 0: not there */
};

/* One walk over all members, however long some are; null is as good as none. */
static void find_members(struct found *found, size_t object, const struct name *list, size_t nr)
{
	struct jsonedit_iter iter;
	struct jsonedit_item item;

	jsonedit_begin(&iter, found->text, object);
	while (jsonedit_next(&iter, &item)) {
		for (size_t i = 0; i < nr; i++) {
			enum slot slot = list[i].slot;

			if ((found->by[slot] && found->by[slot] <= i) ||
			    found->text->buf[item.start] == 'n' ||
			    !jsonedit_equals(found->text, item.key, list[i].key))
				continue;
			found->by[slot] = i + 1;
			found->at[slot] = item;
		}
	}
}

static char *take(const struct found *found, enum slot slot)
{
	return found->by[slot] ? string_at(found->text, &found->at[slot]) : NULL;
}

/* --- what the tool works on --- */

static char *first_member(const struct strbuf *text, size_t object, const char *const *keys)
{
	struct jsonedit_item item;
	char *value = NULL;

	for (; *keys && !value; keys++)
		if (jsonedit_find(&item, text, object, *keys))
			value = string_at(text, &item);
	return value;
}

/* The strings of an array, as a line. */
static char *join(const struct strbuf *text, const struct jsonedit_item *array)
{
	struct strbuf line = STRBUF_INIT;
	struct jsonedit_iter iter;
	struct jsonedit_item item;

	jsonedit_begin(&iter, text, array->start);
	while (jsonedit_next(&iter, &item) && line.len < PROMPT_MAX) {
		char *word = string_at(text, &item);

		if (word)
			strbuf_addf(&line, "%s%s", line.len ? " " : "", word);
		free(word);
	}
	return strbuf_detach(&line, NULL);
}

/* A patch in the form of Codex names its files. */
static char *path_of_patch(const char *patch)
{
	static const char *const heads[] = { "*** Update File: ", "*** Add File: ",
					     "*** Delete File: " };
	const char *first = NULL;
	size_t skip = 0;

	if (strncmp(patch + strspn(patch, " \r\n"), "*** Begin Patch", 15) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		const char *at = strstr(patch, heads[i]);

		if (at && (!first || at < first)) {
			first = at;
			skip = strlen(heads[i]);
		}
	}
	return first ? xmemdupz(first + skip, strcspn(first + skip, "\r\n")) : NULL;
}

static void read_input(struct agent_event *out, const struct strbuf *text, size_t object)
{
	static const char *const paths[] = { "file_path",     "filePath",      "path",
					     "notebook_path", "absolute_path", NULL };
	static const char *const commands[] = { "command", "cmd", "input", "patch", "command_line",
						NULL };
	static const char *const lists[] = { "command", "commands", NULL };
	struct jsonedit_item item;

	out->path = first_member(text, object, paths);
	out->command = first_member(text, object, commands);
	for (size_t i = 0; lists[i] && !out->command; i++)
		if (jsonedit_find(&item, text, object, lists[i]) && text->buf[item.start] == '[')
			out->command = join(text, &item);
	if (!out->path && out->command)
		out->path = path_of_patch(out->command);
}

/* An object, or the text of one in a string. */
static void read_inputs(struct agent_event *out, const struct found *found)
{
	struct strbuf inner = STRBUF_INIT;
	char *string = take(found, INPUT);

	if (string) {
		strbuf_addstr(&inner, string);
		if (!jsonedit_check(&inner, 0) && inner.buf[jsonedit_root(&inner)] == '{')
			read_input(out, &inner, jsonedit_root(&inner));
		else
			out->path = path_of_patch(string);
	} else if (found->by[INPUT] && found->text->buf[found->at[INPUT].start] == '{') {
		read_input(out, found->text, found->at[INPUT].start);
	}
	strbuf_release(&inner);
	free(string);
}

/* --- who and when --- */

/*
 * Others read the settings of Claude Code and run what they find there. Claude Code always says
 * where its transcript is, in a directory of its own; Copilot says it only at the end.
 */
static const char *who(const char *entry, const struct found *found)
{
	static const struct {
		const char *dir, *agent;
	} homes[] = { { "/.copilot/", "copilot" },
		      { "/.factory/", "droid" },
		      { "/.qwen/", "qwen-code" },
		      { "/.codex/", "codex" } };
	const char *agent = entry;
	char *transcript = take(found, TRANSCRIPT);

	if (strcmp(entry, "claude-code") != 0) {
		free(transcript);
		return entry;
	}
	for (size_t i = 0; transcript && i < ARRAY_SIZE(homes); i++)
		if (strstr(transcript, homes[i].dir) && !strstr(transcript, "/.claude/"))
			agent = homes[i].agent;
	if (found->by[SESSION] && !transcript && found->by[TIME])
		agent = "copilot";
	free(transcript);
	return agent;
}

/* Copilot's own events have no name: what they bring tells. */
static enum agent_moment moment_without_name(const struct found *found)
{
	if (found->by[TOOL])
		return found->by[RESULT] ? AGENT_AFTER : AGENT_BEFORE;
	return found->by[PROMPT] ? AGENT_PROMPT : found->by[REASON] ? AGENT_STOP : AGENT_OTHER;
}

static void set_moment(struct agent_event *out, const struct found *found, const char *given)
{
	char *told = take(found, EVENT);
	const char *event = told ? told : given;

	out->moment = event ? agent_moment_of(event, out->labels.tool != NULL)
			    : moment_without_name(found);
	/* Qwen repeats the event after each tool, without a text: nobody asked for anything. */
	if (out->moment == AGENT_PROMPT && found->by[PROMPT] && !out->labels.prompt)
		out->moment = AGENT_OTHER;
	free(told);
}

static void set_roots(struct agent_event *out, const struct found *found)
{
	struct jsonedit_iter iter;
	struct jsonedit_item item;

	if (!found->by[ROOTS] || found->text->buf[found->at[ROOTS].start] != '[')
		return;
	jsonedit_begin(&iter, found->text, found->at[ROOTS].start);
	while (jsonedit_next(&iter, &item)) {
		char *root = string_at(found->text, &item);

		if (root)
			strlist_add(&out->roots, root);
		free(root);
	}
}

static void set_labels(struct ckpt_agent *out, const struct found *found)
{
	out->session = take(found, SESSION);
	out->turn_id = take(found, TURN);
	out->tool = take(found, TOOL);
	out->tool_call = take(found, CALL);
	/* Cline's main agent has an id as well, and says that it has no parent. */
	if (!found->by[ROOTS] || found->by[PARENT])
		out->sub_agent = take(found, SUB);
	out->prompt = take(found, PROMPT);
	shorten(&out->session, LABEL_MAX);
	shorten(&out->turn_id, LABEL_MAX);
	shorten(&out->tool, LABEL_MAX);
	shorten(&out->tool_call, LABEL_MAX);
	shorten(&out->sub_agent, LABEL_MAX);
	shorten(&out->prompt, PROMPT_MAX);
}

void agent_event_read(struct agent_event *out, const struct strbuf *text, const char *entry,
		      const char *event)
{
	struct found found = { .text = text };
	size_t root;

	memset(out, 0, sizeof(*out));
	out->entry = xstrdup(entry);
	shorten(&out->entry, LABEL_MAX);
	if (!out->entry)
		out->entry = xstrdup("agent");
	/* Who cannot be understood may be about to change something. */
	if (!text->len || jsonedit_check(text, 0) || text->buf[jsonedit_root(text)] != '{') {
		out->labels.name = xstrdup(out->entry);
		out->moment = event ? agent_moment_of(event, true) : AGENT_BEFORE;
		return;
	}
	out->readable = true;
	root = jsonedit_root(text);
	find_members(&found, root, names, ARRAY_SIZE(names));
	if (found.by[NESTED] && text->buf[found.at[NESTED].start] == '{' && !found.by[TOOL])
		find_members(&found, found.at[NESTED].start, nested_names,
			     ARRAY_SIZE(nested_names));
	out->labels.name = xstrdup(who(out->entry, &found));
	out->cwd = take(&found, CWD);
	set_labels(&out->labels, &found);
	set_roots(out, &found);
	set_moment(out, &found, event);
	if (out->moment == AGENT_BEFORE || out->moment == AGENT_AFTER)
		read_inputs(out, &found);
}

void agent_event_release(struct agent_event *event)
{
	record_agent_release(&event->labels);
	free(event->entry);
	free(event->cwd);
	free(event->path);
	free(event->command);
	strlist_release(&event->roots);
	memset(event, 0, sizeof(*event));
}
