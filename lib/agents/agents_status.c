/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agent_entry_internal.h"
#include "agents/agent_json_internal.h"
#include "agents/agent_toml_internal.h"
#include "base/base.h"

const char *agents_state_name(enum agents_state state)
{
	static const char *const names[] = {
		[AGENTS_ABSENT] = "absent",
		[AGENTS_INSTALLED] = "installed",
		[AGENTS_OUTDATED] = "outdated",
		[AGENTS_UNREADABLE] = "unreadable",
	};

	return names[state];
}

/* The second file that an agent may have its hooks in; what is wrong with it is not our concern. */
static enum agents_state look_at_toml(const char *path, const struct agent *agent)
{
	enum agents_state state = AGENTS_ABSENT;
	struct strbuf text = STRBUF_INIT;

	if (!fs_read_linked(&text, path) && agent_mentioned(agent, text.buf))
		state = agent_toml_remove(&text) ? AGENTS_OUTDATED : AGENTS_INSTALLED;
	strbuf_release(&text);
	return state;
}

static enum agents_state look_at_json(char **why_out, const char *path, const struct agent *agent)
{
	enum agents_state state = AGENTS_ABSENT;
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_linked(&text, path);

	if (!err)
		err = agent_json_state(&state, &text, agent);
	if (err && err != CKPT_ENOTFOUND) {
		state = AGENTS_UNREADABLE;
		*why_out = xstrdup(ckpt_error_last());
	}
	strbuf_release(&text);
	return state;
}

/* The path is told without its first `hidden` bytes. */
static void look_at(struct agents_status *out, const char *base, const struct agent *agent,
		    size_t hidden)
{
	struct strbuf json = STRBUF_INIT, toml = STRBUF_INIT;

	*out = (struct agents_status){ .agent = agent->name };
	agent_settings(&json, base, agent, agent->file);
	out->state = look_at_json(&out->why, json.buf, agent);
	if (agent->toml && out->state == AGENTS_ABSENT) {
		agent_settings(&toml, base, agent, agent->toml);
		out->state = look_at_toml(toml.buf, agent);
	}
	out->path = xstrdup((toml.len && out->state != AGENTS_ABSENT ? toml.buf : json.buf) + hidden);
	strbuf_release(&json);
	strbuf_release(&toml);
}

static void add(struct agents_statuses *out, const char *base, const struct agent *agent,
		bool in_worktree)
{
	struct agents_status status;

	look_at(&status, base, agent, in_worktree ? strlen(base) + (base[1] != '\0') : 0);
	if (!in_worktree && status.state == AGENTS_ABSENT) {
		free(status.path);
		return;
	}
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr++] = status;
}

void agents_look(struct agents_statuses *out, const char *root)
{
	const char *home = getenv("HOME");

	memset(out, 0, sizeof(*out));
	for (const struct agent *agent = agent_table; agent->name; agent++) {
		if (!agent->dir)
			continue;
		add(out, root, agent, true);
		if (home && *home == '/' && strcmp(home, root))
			add(out, home, agent, false);
	}
}

void agents_statuses_release(struct agents_statuses *statuses)
{
	for (size_t i = 0; i < statuses->nr; i++) {
		free(statuses->items[i].path);
		free(statuses->items[i].why);
	}
	free(statuses->items);
	memset(statuses, 0, sizeof(*statuses));
}
