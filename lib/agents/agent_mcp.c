/* SPDX-License-Identifier: MIT */
#include "agents/agent_mcp.h"

#include "agents/agent_mcp_entry_internal.h"
#include "agents/agent_settings_internal.h"
#include "agents/agents.h"
#include "agents/jsonedit_internal.h"
#include "base/base.h"

#define SERVERS "mcpServers"

static const struct agent_mcp servers[] = {
	{ "claude-code", ".mcp.json", NULL, SERVERS, AGENT_MCP_PLAIN, 0, NULL,
	  "restart Claude Code if it is running; it asks once whether to use the server, and /mcp "
	  "shows it",
	  "Claude Code rewrites the settings in the home directory all the time; add the server with "
	  "'claude mcp add --scope user git-checkpoint -- git-checkpoint mcp'" },
	{ "codex", ".codex/config.toml", ".codex/config.toml", NULL, AGENT_MCP_TOML, 0, "CODEX_HOME",
	  "restart Codex if it is running; it reads the settings of a project only in a folder that it "
	  "trusts, and /mcp shows the server",
	  NULL },
	{ "gemini-cli", ".gemini/settings.json", ".gemini/settings.json", SERVERS, AGENT_MCP_PLAIN,
	  JSONEDIT_COMMENTS, NULL,
	  "restart Gemini CLI if it is running; servers of a project need a trusted folder, and /mcp "
	  "shows them",
	  NULL },
	{ "copilot", ".github/mcp.json", ".copilot/mcp-config.json", SERVERS, AGENT_MCP_LOCAL, 0, NULL,
	  "restart Copilot CLI if it is running, and trust the folder when it asks; /mcp shows the "
	  "server",
	  NULL },
	{ "cursor", ".cursor/mcp.json", ".cursor/mcp.json", SERVERS, AGENT_MCP_PLAIN, 0, NULL,
	  "turn the server on under Settings, MCP, if Cursor does not ask", NULL },
	{ "opencode", "opencode.json", ".config/opencode/opencode.json", "mcp", AGENT_MCP_COMMAND,
	  JSONEDIT_COMMENTS, "XDG_CONFIG_HOME", "restart OpenCode if it is running", NULL },
	{ "qwen-code", ".qwen/settings.json", ".qwen/settings.json", SERVERS, AGENT_MCP_PLAIN,
	  JSONEDIT_COMMENTS, NULL, "restart Qwen Code if it is running; /mcp shows the server", NULL },
	{ "droid", ".factory/mcp.json", ".factory/mcp.json", SERVERS, AGENT_MCP_STDIO, 0, NULL,
	  "/mcp in Droid shows the server", NULL },
	{ "windsurf", NULL, ".codeium/windsurf/mcp_config.json", SERVERS, AGENT_MCP_PLAIN, 0, NULL,
	  "refresh the list of servers in Windsurf",
	  "Windsurf has servers in the home directory only: use --user" },
	{ "kiro", ".kiro/settings/mcp.json", ".kiro/settings/mcp.json", SERVERS, AGENT_MCP_PLAIN, 0,
	  NULL, "/mcp in Kiro shows the server", NULL },
};

const char *const *agent_mcp_names(void)
{
	static const char *names[ARRAY_SIZE(servers) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(servers); i++)
		names[i] = servers[i].name;
	return names;
}

static int find(const struct agent_mcp **out, const char *name)
{
	struct strbuf list = STRBUF_INIT;
	int err = 0;

	*out = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(servers) && !*out; i++) {
		strbuf_addf(&list, "%s%s", list.len ? ", " : "", servers[i].name);
		if (!strcmp(servers[i].name, name))
			*out = &servers[i];
	}
	if (!*out)
		err = ckpt_error_set(CKPT_ERROR,
				     "the MCP settings of agent '%s' are not supported; use one of %s, "
				     "or let it run 'git-checkpoint mcp'",
				     name, list.buf);
	strbuf_release(&list);
	return err;
}

int agent_mcp_check(const char *name, bool user)
{
	const struct agent_mcp *agent;
	int err = find(&agent, name);

	if (!err && !(user ? agent->user : agent->file))
		err = ckpt_error_set(CKPT_ERROR, "%s", agent->instead);
	return err;
}

/* ---- the file ---- */

static int locate(struct settings *s, const struct agent_mcp *agent, const struct agents_opts *opts)
{
	const char *base = opts->user ? getenv("HOME") : opts->root;
	int err = agent_mcp_check(agent->name, opts->user);

	if (err)
		return err;
	if (!base || *base != '/')
		return ckpt_error_set(CKPT_ERROR, "HOME is not set to an absolute path; set it, or "
						  "leave --user out");
	strbuf_addstr(&s->path, base);
	path_append(&s->path, opts->user ? agent->user : agent->file);
	strbuf_add(&s->dir, s->path.buf, (size_t)(strrchr(s->path.buf, '/') - s->path.buf));
	return 0;
}

static int malformed(int err, const struct settings *s)
{
	return err ? ckpt_error_prefix(err, "'%s' cannot be edited", s->path.buf) : 0;
}

static void note_foreign(struct agents_result *out, const struct settings *s)
{
	strlist_addf(&out->notes,
		     "'%s' has a server '" AGENT_MCP_NAME "' that was not written by 'mcp --install', "
		     "or was changed since; it was left as it is",
		     s->path.buf);
}

static int install(struct agents_result *out, struct settings *s, const struct agent_mcp *agent)
{
	enum agent_mcp_found found;
	int dirs = agent_settings_missing_dirs(s), err;

	if (!s->exists) {
		agent_mcp_file(&s->text, agent,
			       AGENT_MCP_FILE | (dirs > 0 ? AGENT_MCP_DIR : 0) |
				       (dirs > 1 ? AGENT_MCP_DIRS : 0));
		out->change = AGENTS_CREATED;
		return agent_settings_create(s, dirs, 0666);
	}
	err = agent_mcp_find(&found, &s->text, agent);
	if (!err && found == AGENT_MCP_FOREIGN)
		note_foreign(out, s);
	if (err || found != AGENT_MCP_ABSENT)
		return malformed(err, s);
	err = agent_mcp_insert(&s->text, agent);
	if (err)
		return malformed(err, s);
	out->change = AGENTS_EDITED;
	return agent_settings_store(s);
}

static int uninstall(struct agents_result *out, struct settings *s, const struct agent_mcp *agent)
{
	enum agent_mcp_found found = AGENT_MCP_ABSENT;
	unsigned added;
	bool empty;
	int err = s->exists ? agent_mcp_find(&found, &s->text, agent) : 0;

	if (!err && found == AGENT_MCP_FOREIGN)
		note_foreign(out, s);
	if (err || found != AGENT_MCP_OURS)
		return malformed(err, s);
	agent_mcp_remove(&s->text, agent, &added, &empty);
	if (empty && added & AGENT_MCP_FILE && !s->linked) {
		out->change = AGENTS_REMOVED;
		return agent_settings_unlink(s, added & AGENT_MCP_DIRS  ? 2
					  : added & AGENT_MCP_DIR ? 1
								  : 0);
	}
	out->change = AGENTS_EDITED;
	return agent_settings_store(s);
}

static void add_notes(struct agents_result *out, const struct agent_mcp *agent,
		      const struct agents_opts *opts)
{
	const char *moved = agent->variable && opts->user ? getenv(agent->variable) : NULL;

	strlist_add(&out->notes, agent->note);
	if (moved && *moved && strncmp(moved, out->path.buf, strlen(moved)))
		strlist_addf(&out->notes,
			     "the variable '%s' is set: settings are read from '%s', not from '%s'",
			     agent->variable, moved, out->path.buf);
}

static int edit(struct agents_result *out, const struct agents_opts *opts, bool in)
{
	struct settings s = SETTINGS_INIT;
	struct settings_locks locks = { .nr = 0 };
	const struct agent_mcp *agent;
	int err = find(&agent, opts->agent);

	if (!err)
		err = locate(&s, agent, opts);
	if (!err)
		err = agent_settings_confine(&s, opts);
	if (!err)
		err = agent_settings_lock_dir(&locks, s.dir.buf);
	if (!err)
		err = agent_settings_load(&s, &locks);
	if (!err) {
		strbuf_add(&out->path, s.path.buf, s.path.len);
		err = in ? install(out, &s, agent) : uninstall(out, &s, agent);
	}
	if (!err && in && out->change != AGENTS_UNCHANGED)
		add_notes(out, agent, opts);
	agent_settings_release(&s);
	agent_settings_unlock_all(&locks);
	return err;
}

int agent_mcp_install(struct agents_result *out, const struct agents_opts *opts)
{
	return edit(out, opts, true);
}

int agent_mcp_uninstall(struct agents_result *out, const struct agents_opts *opts)
{
	return edit(out, opts, false);
}

int agent_mcp_print(struct agents_result *out, const struct agents_opts *opts)
{
	struct settings s = SETTINGS_INIT;
	const struct agent_mcp *agent;
	int err = find(&agent, opts->agent);

	if (!err)
		err = locate(&s, agent, opts);
	if (!err) {
		strbuf_add(&out->path, s.path.buf, s.path.len);
		agent_mcp_file(&out->text, agent, 0);
		add_notes(out, agent, opts);
	}
	agent_settings_release(&s);
	return err;
}
