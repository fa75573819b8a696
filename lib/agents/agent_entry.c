/* SPDX-License-Identifier: MIT */
#include "agents/agent_entry_internal.h"

#include "agents/agent_hook.h"
#include "base/base.h"

static const char *const added_words[] = { "event", "hooks", "file", "dir",	"line",
					   "dir2",  "dir3",  "dir4", "primary" };

enum { ADDED_WORDS = sizeof(added_words) / sizeof(added_words[0]) };

static const unsigned dir_flags[] = { 0, ADDED_DIR, ADDED_DIR2, ADDED_DIR3, ADDED_DIR4 };

unsigned agent_dirs_flag(int dirs)
{
	return dir_flags[dirs < AGENT_DIRS_MAX ? dirs : AGENT_DIRS_MAX];
}

int agent_dirs_of(unsigned added)
{
	for (int i = AGENT_DIRS_MAX; i > 0; i--)
		if (added & dir_flags[i])
			return i;
	return 0;
}

void agent_settings(struct strbuf *out, const char *base, const struct agent *agent,
		    const char *file, bool user)
{
	strbuf_addstr(out, base);
	path_append(out, user && agent->user_dir ? agent->user_dir : agent->dir);
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

void agent_add_note(struct strbuf *out, unsigned added)
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
static void add_command(struct strbuf *out, const struct agent *agent, const char *event,
			unsigned added, enum agent_version version)
{
	if (version >= AGENT_THIRD) {
		strbuf_addf(out, "git-checkpoint agent-hook %s", agent->name);
		if (agent->tells_event)
			strbuf_addf(out, " %s", event);
		agent_add_note(out, added);
		if (version == AGENT_CURRENT && agent->rescue)
			strbuf_addstr(out, agent->rescue);
		return;
	}
	strbuf_addf(out, "cat >/dev/null; %s", agent->enter);
	add_save(out, agent, version == AGENT_FIRST ? "" : AGENT_OPTION);
	strbuf_addstr(out, " >/dev/null 2>&1 || true");
	agent_add_note(out, added);
	strbuf_addstr(out, agent->after);
}

void agent_line(struct strbuf *out, const struct agent *agent)
{
	add_save(out, agent, AGENT_OPTION);
	strbuf_addstr(out, " </dev/null >/dev/null || true\n");
}

const char *agent_command_key(const struct agent *agent)
{
	return agent->command_key ? agent->command_key : "command";
}

/* What is run at an event; a new reference. */
static json_t *make_handler(const struct agent *agent, const char *event, unsigned added,
			    enum agent_version version)
{
	struct strbuf command = STRBUF_INIT;
	json_t *handler = json_object();

	add_command(&command, agent, event, added, version);
	if (agent->format == AGENT_GROUPS || agent->typed)
		json_object_set_new(handler, "type", json_string("command"));
	if (agent->title)
		json_object_set_new(handler, "name", json_string(agent->title));
	json_object_set_new(handler, agent_command_key(agent), json_string(command.buf));
	if (agent->shows)
		json_object_set_new(handler, "show_output", json_true());
	if (agent->timeout)
		json_object_set_new(handler, agent->timeout_key ? agent->timeout_key : "timeout",
				    json_integer(agent->timeout));
	strbuf_release(&command);
	return handler;
}

/* Without a matcher it is for every tool, in the formats of all of them. */
json_t *agent_entry(const struct agent *agent, unsigned added, enum agent_depth depth,
		    const char *event)
{
	json_t *value = make_handler(agent, event, added, AGENT_CURRENT);

	if (agent->format == AGENT_GROUPS)
		value = json_pack("{s:[o]}", "hooks", value);
	if (depth >= AGENT_EVENT)
		value = json_pack("[o]", value);
	if (depth >= AGENT_HOOKS)
		value = json_pack("{s:o}", event, value);
	return value;
}

void agent_file(struct strbuf *out, const struct agent *agent, unsigned added)
{
	json_t *hooks = json_object(), *root = json_object();
	char *dump;

	if (agent->version)
		json_object_set_new(root, "version", json_integer(1));
	json_object_set_new(root, "hooks", hooks);
	for (int i = 0; agent->events[i]; i++)
		json_object_set_new(hooks, agent->events[i],
				    agent_entry(agent, added, AGENT_EVENT, agent->events[i]));
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
		size_t len = strspn(++words, "abcdefghijklmnopqrstuvwxyz234");

		for (int i = 0; i < ADDED_WORDS; i++)
			if (len == strlen(added_words[i]) && !strncmp(words, added_words[i], len))
				added |= 1u << i;
		words += len;
	}
	return added;
}

bool agent_is_handler(const struct agent *agent, const json_t *handler, const char *event,
		      unsigned *added, enum agent_version *version)
{
	const char *command = json_string_value(json_object_get(handler, agent_command_key(agent)));
	json_t *ours;
	bool equal;

	if (!command)
		return false;
	*added = added_by(command);
	*version = strstr(command, "agent-hook")
			   ? agent->rescue && !strstr(command, agent->rescue) ? AGENT_THIRD
									      : AGENT_CURRENT
		   : strstr(command, AGENT_OPTION) ? AGENT_SECOND
						   : AGENT_FIRST;
	/* Older versions knew fewer agents. */
	if (*version < AGENT_THIRD && !agent->enter)
		return false;
	ours = make_handler(agent, event, *added, *version);
	equal = json_equal(handler, ours);
	json_decref(ours);
	return equal;
}
