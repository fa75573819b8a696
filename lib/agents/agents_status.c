/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agent_entry_internal.h"
#include "agents/agent_json_internal.h"
#include "agents/agent_toml_internal.h"
#include "agents/agents_internal.h"
#include "agents/jsonedit_internal.h"
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

/* ---- the files of one agent ---- */

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

static bool is_disabled(const struct strbuf *text)
{
	struct jsonedit_item item;

	return jsonedit_find(&item, text, jsonedit_root(text), "disableAllHooks") &&
	       text->buf[item.start] == 't';
}

static enum agents_state look_at_json(struct agents_status *out, const char *path,
				      const struct agent *agent)
{
	enum agents_state state = AGENTS_ABSENT;
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_linked(&text, path);

	if (!err)
		err = agent_json_state(&state, &text, agent);
	if (err && err != CKPT_ENOTFOUND) {
		state = AGENTS_UNREADABLE;
		out->why = xstrdup(ckpt_error_last());
	} else if (!err && state != AGENTS_ABSENT && is_disabled(&text)) {
		out->why = xstrdup("'disableAllHooks' is set there");
	}
	strbuf_release(&text);
	return state;
}

/* All of them as we write them; one that somebody changed may still do the same. */
static enum agents_state look_at_own(const char *base, const struct agent *agent, bool user)
{
	size_t exact = 0, alike = 0, nr = 0;

	for (; agent->own[nr].file; nr++) {
		struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
		unsigned added;

		agent_settings(&path, base, agent, agent->own[nr].file, user);
		if (!fs_read_linked(&text, path.buf)) {
			bool ours = agent_own_is(&text, &agent->own[nr], &added);

			exact += ours;
			alike += !ours && agent_mentioned(agent, text.buf);
		}
		strbuf_release(&path);
		strbuf_release(&text);
	}
	return exact + alike == nr ? AGENTS_INSTALLED
	       : exact		   ? AGENTS_OUTDATED
	       : alike		   ? AGENTS_INSTALLED
				   : AGENTS_ABSENT;
}

/* The path is told without its first `hidden` bytes. */
static void look_at(struct agents_status *out, const char *base, const struct agent *agent,
		    bool user, size_t hidden)
{
	struct strbuf main = STRBUF_INIT, toml = STRBUF_INIT;

	*out = (struct agents_status){ .agent = agent->name };
	agent_settings(&main, base, agent, agent->file, user);
	out->state = agent->format == AGENT_OWN ? look_at_own(base, agent, user)
						: look_at_json(out, main.buf, agent);
	if (agent->toml && out->state == AGENTS_ABSENT) {
		agent_settings(&toml, base, agent, agent->toml, user);
		out->state = look_at_toml(toml.buf, agent);
	}
	out->path = xstrdup((toml.len && out->state != AGENTS_ABSENT ? toml.buf : main.buf) + hidden);
	strbuf_release(&main);
	strbuf_release(&toml);
}

/* ---- whether it works here ---- */

/* What counts is the entry of the primary worktree, and a directory here. */
static void look_at_primary(struct agents_status *out, const char *root, const char *primary,
			    const struct agent *agent)
{
	struct strbuf dir = STRBUF_INIT;
	struct agents_status there;

	look_at(&there, primary, agent, false, 0);
	agent_settings(&dir, root, agent, NULL, false);
	if (there.state == AGENTS_ABSENT && out->state != AGENTS_ABSENT) {
		free(out->why);
		out->why = xstrfmt("in a linked worktree Codex reads '%s', which has no entry",
				   there.path);
	} else if (there.state != AGENTS_ABSENT && out->state == AGENTS_ABSENT) {
		out->state = there.state;
		free(out->path);
		out->path = xstrdup(there.path);
		if (!fs_is_dir(dir.buf))
			out->why = xstrdup("in a linked worktree Codex reads it only if there is a "
					   "directory '.codex'");
	}
	strbuf_release(&dir);
	free(there.path);
	free(there.why);
}

static void set_works(struct agents_status *status)
{
	if (status->state == AGENTS_ABSENT)
		return;
	if (!status->why && !agents_program_found())
		status->why = xstrdup(AGENTS_NO_PROGRAM);
	status->works = !status->why;
}

static void add(struct agents_statuses *out, const char *base, const struct agent *agent,
		const char *primary, bool user)
{
	struct agents_status status;

	look_at(&status, base, agent, user, user ? 0 : strlen(base) + (base[1] != '\0'));
	if (user && status.state == AGENTS_ABSENT) {
		free(status.path);
		return;
	}
	if (!user && agent->toml && primary)
		look_at_primary(&status, base, primary, agent);
	set_works(&status);
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr++] = status;
}

void agents_look(struct agents_statuses *out, const char *root, const char *primary)
{
	const char *home = getenv("HOME");

	memset(out, 0, sizeof(*out));
	for (const struct agent *agent = agent_table; agent->name; agent++) {
		if (agent->format == AGENT_NO_FILE)
			continue;
		add(out, root, agent, primary, false);
		if (home && *home == '/' && strcmp(home, root))
			add(out, home, agent, NULL, true);
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
