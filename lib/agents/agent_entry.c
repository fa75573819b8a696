/* SPDX-License-Identifier: MIT */
#include "agents/agent_entry_internal.h"

#include "agents/jsonedit_internal.h"
#include "base/base.h"

static const char *const added_words[] = { "event", "hooks", "file", "dir", "line" };

enum { ADDED_WORDS = sizeof(added_words) / sizeof(added_words[0]) };

const struct agent agent_table[] = {
	{
		.name = "claude-code",
		.dir = ".claude",
		.file = "settings.json",
		.event = "PreToolUse",
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
		.event = "PreToolUse",
		.matcher = "Bash|apply_patch",
		.timeout = 30,
		.enter = "",
		.after = "",
		.variable = "CODEX_HOME",
		.note = "Codex runs a new hook only after you have reviewed it: type /hooks in Codex",
	},
	{
		.name = "gemini-cli",
		.dir = ".gemini",
		.file = "settings.json",
		.flags = JSONEDIT_COMMENTS,
		.event = "BeforeTool",
		.matcher = "run_shell_command|write_file|replace",
		.title = "git-checkpoint",
		.timeout = 30000,
		.enter = "cd \"${GEMINI_PROJECT_DIR:-.}\" && ",
		.after = "; echo '{}'",
	},
	{ .name = "generic" },
	{ .name = NULL },
};

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

static void add_save(struct strbuf *out, const struct agent *agent)
{
	strbuf_addf(out, "git checkpoint save --source %s --automatic -q -m pre-tool", agent->name);
}

/*
 * Whatever happens, the exit status is 0 and nothing is printed but an empty
 * answer. The agent's standard input is read, because some agents report a
 * hook that does not read it.
 */
static void add_command(struct strbuf *out, const struct agent *agent, unsigned added)
{
	const char *separator = " added:";

	strbuf_addf(out, "cat >/dev/null; %s", agent->enter);
	add_save(out, agent);
	strbuf_addstr(out, " >/dev/null 2>&1 || true");
	for (int i = 0; i < ADDED_WORDS; i++) {
		if (added & 1u << i) {
			strbuf_addf(out, "%s%s", separator, added_words[i]);
			separator = ",";
		}
	}
	strbuf_addstr(out, agent->after);
}

void agent_line(struct strbuf *out, const struct agent *agent)
{
	add_save(out, agent);
	strbuf_addstr(out, " </dev/null >/dev/null 2>&1 || true\n");
}

/* A new reference. */
static json_t *make_entry(const struct agent *agent, unsigned added)
{
	struct strbuf command = STRBUF_INIT;
	json_t *entry;

	add_command(&command, agent, added);
	entry = json_pack("{s:s, s:[{s:s, s:s*, s:s, s:i}]}", "matcher", agent->matcher, "hooks",
			  "type", "command", "name", agent->title, "command", command.buf,
			  "timeout", agent->timeout);
	strbuf_release(&command);
	return entry;
}

json_t *agent_entry(const struct agent *agent, unsigned added, enum agent_depth depth)
{
	json_t *value = make_entry(agent, added);

	if (depth >= AGENT_EVENT)
		value = json_pack("[o]", value);
	if (depth >= AGENT_HOOKS)
		value = json_pack("{s:o}", agent->event, value);
	return value;
}

void agent_file(struct strbuf *out, const struct agent *agent, unsigned added)
{
	json_t *root = json_pack("{s:o}", "hooks", agent_entry(agent, added, AGENT_HOOKS));
	char *dump = json_dumps(root, JSON_INDENT(2));

	strbuf_addf(out, "%s\n", dump);
	free(dump);
	json_decref(root);
}

/* As an older version wrote it: the only difference is the option. */
static json_t *make_older_entry(const struct agent *agent, unsigned added)
{
	json_t *entry = make_entry(agent, added),
	       *handler = json_array_get(json_object_get(entry, "hooks"), 0);
	const char *command = json_string_value(json_object_get(handler, "command")),
		   *option = strstr(command, AGENT_OPTION);
	char *older =
		xstrfmt("%.*s%s", (int)(option - command), command, option + strlen(AGENT_OPTION));

	json_object_set_new(handler, "command", json_string(older));
	free(older);
	return entry;
}

bool agent_mentioned(const struct agent *agent, const char *text)
{
	struct strbuf save = STRBUF_INIT;
	bool found = false;

	strbuf_addf(&save, "git checkpoint save --source %s", agent->name);
	for (const char *at = text; !found && (at = strstr(at, save.buf)); at++)
		found = !strchr("abcdefghijklmnopqrstuvwxyz-", at[save.len] ? at[save.len] : ' ');
	strbuf_release(&save);
	return found;
}

/* The words after "added:" in a command. */
static unsigned added_by(const char *command)
{
	const char *words = strstr(command, " added:");
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

bool agent_is_handler(const struct agent *agent, const json_t *handler, unsigned *added)
{
	const char *command = json_string_value(json_object_get(handler, "command"));
	json_t *entry;
	bool ours;

	if (!command)
		return false;
	*added = added_by(command);
	entry = strstr(command, AGENT_OPTION) ? make_entry(agent, *added)
					      : make_older_entry(agent, *added);
	ours = json_equal(handler, json_array_get(json_object_get(entry, "hooks"), 0));
	json_decref(entry);
	return ours;
}
