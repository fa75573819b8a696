/* SPDX-License-Identifier: MIT */
#include "agents/agent_entry_internal.h"

#include "agents/agent_hook.h"
#include "agents/jsonedit_internal.h"
#include "base/base.h"

static const char *const added_words[] = { "event", "hooks", "file", "dir", "line" };

enum { ADDED_WORDS = sizeof(added_words) / sizeof(added_words[0]) };

#define CLAUDE_EVENTS                                                   \
	{                                                               \
		"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop" \
	}

const struct agent agent_table[] = {
	{
		.name = "claude-code",
		.dir = ".claude",
		.file = "settings.json",
		.events = CLAUDE_EVENTS,
		.matcher = "Bash|Edit|MultiEdit|NotebookEdit|Write",
		.timeout = 30,
		.enter = "cd \"${CLAUDE_PROJECT_DIR:-.}\" && ",
		.after = "",
		.variable = "CLAUDE_CONFIG_DIR",
	},
	{
		.name = "codex",
		.dir = ".codex",
		.file = "hooks.json",
		.toml = "config.toml",
		.events = CLAUDE_EVENTS,
		.matcher = "Bash|apply_patch",
		.timeout = 30,
		.enter = "",
		.after = "",
		.variable = "CODEX_HOME",
		.note = "Codex runs a new hook only after you have reviewed it: type /hooks in "
			"Codex",
	},
	{
		.name = "gemini-cli",
		.dir = ".gemini",
		.file = "settings.json",
		.flags = JSONEDIT_COMMENTS,
		.events = { "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent" },
		.matcher = "run_shell_command|write_file|replace",
		.title = "git-checkpoint",
		.timeout = 30000,
		.enter = "cd \"${GEMINI_PROJECT_DIR:-.}\" && ",
		.after = "; echo '{}'",
	},
	{ .name = "generic" },
	{ .name = NULL },
};

void agent_settings(struct strbuf *out, const char *base, const struct agent *agent,
		    const char *file)
{
	strbuf_addstr(out, base);
	path_append(out, agent->dir);
	if (file)
		path_append(out, file);
}

int agent_find(const struct agent **out, const char *name)
{
	struct strbuf list = STRBUF_INIT;
	int err = 0;

	for (*out = agent_table; (*out)->name && strcmp((*out)->name, name); (*out)++)
		strbuf_addf(&list, "%s%s", list.len ? ", " : "", (*out)->name);
	if (!(*out)->name)
		err = ckpt_error_set(CKPT_ERROR, "agent '%s' is not supported; use one of %s",
				     name, list.buf);
	strbuf_release(&list);
	return err;
}

static void add_words(struct strbuf *out, unsigned added)
{
	const char *separator = " " AGENT_HOOK_NOTE;

	for (int i = 0; i < ADDED_WORDS; i++) {
		if (added & 1u << i) {
			strbuf_addf(out, "%s%s", separator, added_words[i]);
			separator = ",";
		}
	}
}

/* Of older versions, and for agents without settings. */
static void add_save(struct strbuf *out, const struct agent *agent, const char *option)
{
	strbuf_addf(out, "git checkpoint save --source %s%s -q -m pre-tool", agent->name, option);
}

/*
 * One program and plain words, which every shell and every agent without one takes as they are. It
 * never fails a tool: agent-hook exits with 0, and a shell that does not find it with 127.
 */
static void add_command(struct strbuf *out, const struct agent *agent, unsigned added,
			enum agent_version version)
{
	if (version == AGENT_CURRENT) {
		strbuf_addf(out, "git-checkpoint agent-hook %s", agent->name);
		add_words(out, added);
		return;
	}
	strbuf_addf(out, "cat >/dev/null; %s", agent->enter);
	add_save(out, agent, version == AGENT_FIRST ? "" : AGENT_OPTION);
	strbuf_addstr(out, " >/dev/null 2>&1 || true");
	add_words(out, added);
	strbuf_addstr(out, agent->after);
}

void agent_line(struct strbuf *out, const struct agent *agent)
{
	add_save(out, agent, AGENT_OPTION);
	strbuf_addstr(out, " </dev/null >/dev/null 2>&1 || true\n");
}

/* A new reference. Without a matcher it is for every tool, in the formats of all of them. */
static json_t *make_entry(const struct agent *agent, unsigned added, enum agent_version version)
{
	struct strbuf command = STRBUF_INIT;
	json_t *entry;

	add_command(&command, agent, added, version);
	entry = json_pack("{s:s*, s:[{s:s, s:s*, s:s, s:i}]}", "matcher",
			  version == AGENT_CURRENT ? NULL : agent->matcher, "hooks", "type",
			  "command", "name", agent->title, "command", command.buf, "timeout",
			  agent->timeout);
	strbuf_release(&command);
	return entry;
}

json_t *agent_entry(const struct agent *agent, unsigned added, enum agent_depth depth,
		    const char *event)
{
	json_t *value = make_entry(agent, added, AGENT_CURRENT);

	if (depth >= AGENT_EVENT)
		value = json_pack("[o]", value);
	if (depth >= AGENT_HOOKS)
		value = json_pack("{s:o}", event, value);
	return value;
}

void agent_file(struct strbuf *out, const struct agent *agent, unsigned added)
{
	json_t *hooks = json_object(), *root = json_pack("{s:o}", "hooks", hooks);
	char *dump;

	for (int i = 0; i < AGENT_EVENTS; i++)
		json_object_set_new(hooks, agent->events[i],
				    agent_entry(agent, added, AGENT_EVENT, NULL));
	dump = json_dumps(root, JSON_INDENT(2));
	strbuf_addf(out, "%s\n", dump);
	free(dump);
	json_decref(root);
}

/* `text` contains `command` with the agent's whole name after it. */
static bool mentions(const char *text, const char *command, const char *name)
{
	struct strbuf wanted = STRBUF_INIT;
	bool found = false;

	strbuf_addf(&wanted, "%s %s", command, name);
	for (const char *at = text; !found && (at = strstr(at, wanted.buf)); at++)
		found = !strchr("abcdefghijklmnopqrstuvwxyz-",
				at[wanted.len] ? at[wanted.len] : ' ');
	strbuf_release(&wanted);
	return found;
}

bool agent_mentioned(const struct agent *agent, const char *text)
{
	return mentions(text, "git checkpoint save --source", agent->name) ||
	       mentions(text, "checkpoint agent-hook", agent->name);
}

/* The words after "added:" in a command. */
static unsigned added_by(const char *command)
{
	const char *words = strstr(command, " " AGENT_HOOK_NOTE);
	unsigned added = 0;

	if (!words)
		return 0;
	for (words += strlen(" added"); *words == ':' || *words == ',';) {
		size_t len = strspn(++words, "abcdefghijklmnopqrstuvwxyz");

		for (int i = 0; i < ADDED_WORDS; i++)
			if (len == strlen(added_words[i]) && !strncmp(words, added_words[i], len))
				added |= 1u << i;
		words += len;
	}
	return added;
}

bool agent_is_handler(const struct agent *agent, const json_t *handler, unsigned *added,
		      enum agent_version *version)
{
	const char *command = json_string_value(json_object_get(handler, "command"));
	json_t *entry;
	bool ours;

	if (!command)
		return false;
	*added = added_by(command);
	*version = strstr(command, "agent-hook")   ? AGENT_CURRENT
		   : strstr(command, AGENT_OPTION) ? AGENT_SECOND
						   : AGENT_FIRST;
	entry = make_entry(agent, *added, *version);
	ours = json_equal(handler, json_array_get(json_object_get(entry, "hooks"), 0));
	json_decref(entry);
	return ours;
}
