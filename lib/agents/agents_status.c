/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agents_internal.h"
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

static bool is_disabled(const struct install_change *change)
{
	struct strbuf text = STRBUF_INIT;
	json_t *root = install_read(&text, change) ? NULL : json_loads(text.buf, 0, NULL);
	bool disabled = json_is_true(json_object_get(root, "disableAllHooks"));

	json_decref(root);
	strbuf_release(&text);
	return disabled;
}

/* All files as we write them; one that somebody changed may still do the same. */
static int look_at_all(enum agents_state *out, const struct agents_changes *changes)
{
	size_t found = 0, ours = 0;
	bool partly = false;
	int err = 0;

	for (size_t i = 0; i < changes->nr && !err; i++) {
		enum install_state state;

		err = install_look(&state, &changes->items[i]);
		found += !err && state != INSTALL_ABSENT;
		ours += !err && state == INSTALL_THERE;
		partly = partly || (!err && state == INSTALL_PARTLY);
	}
	*out = err				      ? AGENTS_UNREADABLE
	       : !found				      ? AGENTS_ABSENT
	       : partly || (ours && found < changes->nr) ? AGENTS_OUTDATED
						      : AGENTS_INSTALLED;
	return err;
}

/* What is wrong with a file that only may have hooks is not our concern. */
static bool is_beside(const struct install_change *beside)
{
	struct strbuf text = STRBUF_INIT;
	bool found = !install_read(&text, beside) && install_is_alike(beside, text.buf);

	strbuf_release(&text);
	return found;
}

/* Links may lead anywhere: the agent follows them, too. */
static void look_at(struct agents_status *out, const char *name, const json_t *agent,
		    const char *base, bool user)
{
	struct install_change beside;
	struct agents_changes changes;
	const char *path;

	agents_changes(&changes, name, agent, "/", base, user, false);
	path = changes.items[changes.main].path;
	*out = (struct agents_status){ .agent = name };
	if (look_at_all(&out->state, &changes))
		out->why = xstrdup(ckpt_error_last());
	else if (out->state != AGENTS_ABSENT && is_disabled(&changes.items[changes.main]))
		out->why = xstrdup("'disableAllHooks' is set there");
	if (out->state == AGENTS_ABSENT && agents_beside(&beside, &changes, agent) &&
	    is_beside(&beside)) {
		out->state = AGENTS_INSTALLED;
		path = beside.path;
	}
	out->path = xstrfmt("/%s", path);
	agents_changes_release(&changes);
}

/* ---- whether it works here ---- */

/* What counts is the entry of the primary worktree, and a directory here. */
static void look_at_primary(struct agents_status *out, const json_t *agent, const char *root,
			    const char *primary)
{
	const char *dir = agents_text(agents_part(agent, false), "dir");
	char *here = xstrfmt("%s/%s", root, dir);
	struct agents_status there;

	look_at(&there, out->agent, agent, primary, false);
	if (there.state == AGENTS_ABSENT && out->state != AGENTS_ABSENT) {
		free(out->why);
		out->why = xstrfmt("in a linked worktree %s reads '%s', which has no entry",
				   agents_in_primary(agent), there.path);
	} else if (there.state != AGENTS_ABSENT && out->state == AGENTS_ABSENT) {
		out->state = there.state;
		free(out->path);
		out->path = xstrdup(there.path);
		if (!fs_is_dir(here))
			out->why = xstrfmt("in a linked worktree %s reads it only if there is a "
					   "directory '%s'",
					   agents_in_primary(agent), dir);
	}
	free(here);
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

static void add_status(struct agents_statuses *out, const char *name, const json_t *agent,
		       const char *base, const char *primary, bool user)
{
	size_t hidden = user ? 0 : strlen(base) + (base[1] != '\0');
	struct agents_status status;

	look_at(&status, name, agent, base, user);
	if (user && status.state == AGENTS_ABSENT) {
		free(status.path);
		return;
	}
	memmove(status.path, status.path + hidden, strlen(status.path + hidden) + 1);
	if (primary && agents_in_primary(agent))
		look_at_primary(&status, agent, base, primary);
	set_works(&status);
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr++] = status;
}

void agents_look(struct agents_statuses *out, const char *root, const char *primary)
{
	const char *home = getenv("HOME");

	memset(out, 0, sizeof(*out));
	for (const char *const *name = agents_names(); *name; name++) {
		json_t *agent = agents_load(*name);

		if (agent)
			add_status(out, *name, agent, root, primary, false);
		if (agent && home && *home == '/' && strcmp(home, root) != 0)
			add_status(out, *name, agent, home, NULL, true);
		json_decref(agent);
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
