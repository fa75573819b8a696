/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agent_entry_internal.h"
#include "agents/agent_json_internal.h"
#include "base/base.h"
#include "restore/restore.h"

enum { PATHS_MAX = 64 };

/* Called once for each path of a project's settings, until it returns true. */
typedef bool (*visit_fn)(const struct agent *agent, const struct agent_own *own, const char *path,
			 void *payload);

static bool visit(const struct agent *agent, const struct agent_own *own, visit_fn fn, void *payload)
{
	struct strbuf path = STRBUF_INIT;
	bool done;

	strbuf_addstr(&path, agent->dir);
	path_append(&path, own ? own->file : agent->file);
	done = fn(agent, own, path.buf, payload);
	strbuf_release(&path);
	return done;
}

static void visit_all(visit_fn fn, void *payload)
{
	for (const struct agent *agent = agent_table; agent->name; agent++) {
		if (agent->format == AGENT_NO_FILE)
			continue;
		if (agent->format != AGENT_OWN && visit(agent, NULL, fn, payload))
			return;
		for (const struct agent_own *own = agent->own; own && own->file; own++)
			if (visit(agent, own, fn, payload))
				return;
	}
}

static bool collect(const struct agent *agent, const struct agent_own *own, const char *path,
		    void *payload)
{
	(void)agent;
	(void)own;
	strlist_add(payload, path);
	return false;
}

/* They live as long as the process. */
static const char *const *guarded_paths(void)
{
	static const char *paths[PATHS_MAX + 1];
	static struct strlist list;

	if (!list.nr) {
		visit_all(collect, &list);
		for (size_t i = 0; i < list.nr && i < PATHS_MAX; i++)
			paths[i] = list.items[i];
	}
	return paths;
}

struct question {
	const char *path;
	const struct strbuf *now, *then;
	bool loses;
};

static enum agents_state state_of(const struct strbuf *text, const struct agent *agent)
{
	enum agents_state state = AGENTS_ABSENT;

	return text && !agent_json_state(&state, text, agent) ? state : AGENTS_ABSENT;
}

static bool answer(const struct agent *agent, const struct agent_own *own, const char *path,
		   void *payload)
{
	struct question *q = payload;
	enum agents_state now, then;
	unsigned added;

	if (strcmp(path, q->path) != 0)
		return false;
	if (own) {
		q->loses = agent_own_is(q->now, own, &added) &&
			   !(q->then && agent_own_is(q->then, own, &added));
		return true;
	}
	now = state_of(q->now, agent);
	then = state_of(q->then, agent);
	/* One that is renewed does not become old again. */
	q->loses = now != AGENTS_ABSENT &&
		   (then == AGENTS_ABSENT || (now == AGENTS_INSTALLED && then == AGENTS_OUTDATED));
	return true;
}

static bool loses(const char *path, const struct strbuf *now, const struct strbuf *then)
{
	struct question q = { .path = path, .now = now, .then = then };

	visit_all(answer, &q);
	return q.loses;
}

const struct restore_guard agents_guard = {
	.paths = guarded_paths,
	.loses = loses,
	.why = "it has the entry of 'hooks install --agent', which the checkpoint lacks",
};
