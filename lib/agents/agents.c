/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agents_internal.h"
#include "git/git.h"

void agents_result_release(struct agents_result *result)
{
	strbuf_release(&result->path);
	strbuf_release(&result->text);
	strlist_release(&result->notes);
}

/* ---- which files ---- */

/* In the home directory a link may lead anywhere; one that a repository contains may not. */
static int find_changes(struct agents_changes *out, const json_t *agent, const struct agents_opts *opts)
{
	const char *base = opts->user ? getenv("HOME") : opts->root;

	if (!base || *base != '/')
		return ckpt_error_set(CKPT_ERROR, "HOME is not set to an absolute path; set it, or "
						  "leave --user out");
	agents_changes(out, opts->agent, agent, opts->user ? "/" : base, base, opts->user, opts->mcp);
	for (size_t i = 0; i < out->nr; i++)
		out->items[i].worktree = opts->root;
	return 0;
}

static void add_path(struct strbuf *out, const struct install_change *change)
{
	strbuf_addf(out, "%s/%s", strcmp(change->root, "/") ? change->root : "", change->path);
}

/* git puts only what it tracks into a worktree that it makes; `path` is below the top of this one. */
static bool is_untracked(const char *root, const char *path)
{
	struct gitindex *index = NULL;
	struct repo *repo = NULL;
	bool untracked = !repo_open_at(&repo, root) &&
			 !gitindex_open(&index, root, repo->gitdir, repo->sha256) &&
			 !gitindex_has(index, path);

	gitindex_close(index);
	repo_free(repo);
	return untracked;
}

/* ---- what the user should know, each a sentence that stands alone ---- */

static void add_notes(struct agents_result *out, const json_t *part, const struct agents_opts *opts,
		      bool is_new)
{
	const char *variable = agents_text(part, "variable"), *note = agents_text(part, "note");
	const char *moved = variable && opts->user ? getenv(variable) : NULL;
	const char *below = opts->mcp || opts->user ? NULL : path_below(out->path.buf, opts->root);

	if (is_new)
		strlist_add(&out->notes, note);
	if (is_new && !opts->user && json_is_true(json_object_get(part, "top_only")))
		strlist_addf(&out->notes,
			     "'%s' does not read it when it is started in a subdirectory; 'git checkpoint "
			     "hooks install --user --agent %s' works everywhere",
			     opts->agent, opts->agent);
	if (below && is_untracked(opts->root, below))
		strlist_addf(&out->notes,
			     "git does not track '%s', so a worktree that an agent makes lacks it; commit "
			     "it, or use 'git checkpoint hooks install --user --agent %s'",
			     below, opts->agent);
	if (moved && *moved && strncmp(moved, out->path.buf, strlen(moved)) != 0)
		strlist_addf(&out->notes, "the variable '%s' is set: settings are read from '%s', not from '%s'",
			     variable, moved, out->path.buf);
	if (!opts->mcp && !spawn_available("git-checkpoint"))
		strlist_add(&out->notes, AGENTS_NO_PROGRAM);
}

/* What does the same but is not exactly ours belongs to the user. */
static void note_others(struct agents_result *out, const struct install_change *change, bool mcp)
{
	struct strbuf path = STRBUF_INIT;

	add_path(&path, change);
	if (mcp)
		strlist_addf(&out->notes,
			     "'%s' has a server 'git-checkpoint' that was not written by 'mcp "
			     "--install', or was changed since; it was left as it is",
			     path.buf);
	else
		strlist_addf(&out->notes,
			     "'%s' has an entry that was not written by 'hooks install', or was "
			     "changed since; remove it by hand",
			     path.buf);
	strbuf_release(&path);
}

/* ---- installing and removing ---- */

static const enum agents_change changes_of[] = {
	[INSTALL_UNCHANGED] = AGENTS_UNCHANGED,
	[INSTALL_EDITED] = AGENTS_EDITED,
	[INSTALL_CREATED] = AGENTS_CREATED,
	[INSTALL_REMOVED] = AGENTS_REMOVED,
};

static int carry_out(struct agents_result *out, const struct agents_changes *changes,
		     const struct agents_opts *opts, bool in)
{
	struct install_result results[AGENTS_FILES_MAX];
	int err = in ? install_put(results, changes->items, changes->nr)
		     : install_take_back(results, changes->items, changes->nr);

	for (size_t i = 0; i < changes->nr && !err; i++) {
		enum agents_change change = changes_of[results[i].outcome];

		if (change > out->change)
			out->change = change;
		if (results[i].alike && (opts->mcp || !in))
			note_others(out, &changes->items[i], opts->mcp);
	}
	return err;
}

static bool has_hooks(const struct strbuf *toml)
{
	for (const char *p = toml->buf; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		p += strspn(p, " \t[");
		/* The list of trusted hooks is not a hook: Codex writes it itself. */
		if (!strncmp(p, "hooks", 5) && p[5] && strchr(".] \t=", p[5]) &&
		    strncmp(p, "hooks.state", 11) != 0)
			return true;
	}
	return false;
}

/* What the user has put into the other file is as good; `out->path` is that of it then. */
static int look_beside(bool *done, struct agents_result *out, const json_t *agent,
		       struct agents_changes *changes)
{
	struct strbuf text = STRBUF_INIT, path = STRBUF_INIT;
	struct install_change beside;
	int err;

	*done = false;
	if (!agents_beside(&beside, changes, agent))
		return 0;
	add_path(&path, &beside);
	err = install_read(&text, &beside);
	*done = !err && install_is_alike(&beside, text.buf);
	if (*done) {
		strbuf_reset(&out->path);
		strbuf_addstr(&out->path, path.buf);
	} else if (!err && has_hooks(&text)) {
		strlist_addf(&out->notes,
			     "'%s' has hooks, too: both are run, with a warning that they are in two "
			     "files",
			     path.buf);
	}
	strbuf_release(&path);
	strbuf_release(&text);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

/*
 * In a linked worktree it takes the hooks of the primary one, and only if there is a directory for
 * them here. So both get the entry; the record tells whether the other one was put there from here.
 */
static int carry_out_in_primary(struct agents_result *out, const json_t *agent,
				const struct agents_opts *opts, bool in)
{
	struct agents_result other = AGENTS_RESULT_INIT;
	struct agents_changes changes;
	char *by = xstrfmt("%s in %s", opts->agent, opts->root);
	int err = 0;

	agents_changes(&changes, opts->agent, agent, opts->primary, opts->primary, false, false);
	changes.items[0].by = by;
	changes.items[0].worktree = opts->root;
	if (in || install_is_by(&changes.items[0]))
		err = carry_out(&other, &changes, opts, in);
	add_path(&other.path, &changes.items[0]);
	if (!err && in)
		strlist_addf(&out->notes,
			     "this is a linked worktree, where %s reads the hooks of the primary one: "
			     "'%s' has the entry, too",
			     agents_in_primary(agent), other.path.buf);
	if (!err && out->change == AGENTS_UNCHANGED && other.change != AGENTS_UNCHANGED)
		out->change = AGENTS_EDITED;
	agents_changes_release(&changes);
	agents_result_release(&other);
	free(by);
	return err;
}

static void set_generic(struct agents_result *out)
{
	out->change = AGENTS_NO_FILE;
	strbuf_addstr(&out->text,
		      "# Let the agent run this line before each step that changes files, in the\n"
		      "# directory that it works in. It takes a checkpoint only if something changed\n"
		      "# since the last one, never fails, and prints only what went wrong.\n"
		      "git checkpoint save --source generic --automatic -q -m pre-tool </dev/null "
		      ">/dev/null || true\n");
}

/* `out->change` is AGENTS_NO_FILE if there is no more to do. */
static int begin_edit(struct agents_result *out, json_t **agent, struct agents_changes *changes,
		 const struct agents_opts *opts)
{
	int err = opts->mcp ? agents_mcp_check(opts->agent, opts->user) : agents_check(opts->agent);

	memset(changes, 0, sizeof(*changes));
	*agent = err ? NULL : agents_load(opts->agent);
	if (!err && !*agent)
		set_generic(out);
	if (err || !*agent)
		return err;
	err = find_changes(changes, *agent, opts);
	if (!err)
		add_path(&out->path, &changes->items[changes->main]);
	return err;
}

static int edit_settings(struct agents_result *out, const struct agents_opts *opts, bool in)
{
	struct agents_changes changes;
	bool done = false;
	json_t *agent;
	int err = begin_edit(out, &agent, &changes, opts);

	if (!err && in && agent && !opts->mcp)
		err = look_beside(&done, out, agent, &changes);
	if (!err && agent && !done)
		err = carry_out(out, &changes, opts, in);
	if (!err && changes.nr && opts->primary && !opts->user && agents_in_primary(agent))
		err = carry_out_in_primary(out, agent, opts, in);
	if (!err && in && agent && (!opts->mcp || out->change != AGENTS_UNCHANGED))
		add_notes(out, agents_part(agent, opts->mcp), opts, out->change != AGENTS_UNCHANGED);
	if (!in)
		strbuf_reset(&out->text);
	agents_changes_release(&changes);
	json_decref(agent);
	return err;
}

int agents_install(struct agents_result *out, const struct agents_opts *opts)
{
	return edit_settings(out, opts, true);
}

int agents_uninstall(struct agents_result *out, const struct agents_opts *opts)
{
	return edit_settings(out, opts, false);
}

/* All files, each with its name before it if there are several. */
static void print_changes(struct strbuf *out, const struct agents_changes *changes, const char *dir)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const char *path = strstr(changes->items[i].path, dir);

		if (changes->nr > 1)
			strbuf_addf(out, "%s%s:\n", i ? "\n" : "", path + strlen(dir) + 1);
		strbuf_addstr(out, changes->items[i].text);
	}
}

int agents_print(struct agents_result *out, const struct agents_opts *opts)
{
	struct agents_changes changes;
	json_t *agent;
	int err = begin_edit(out, &agent, &changes, opts);

	if (!err && agent) {
		print_changes(&out->text, &changes, changes.dir);
		add_notes(out, agents_part(agent, opts->mcp), opts, true);
	}
	agents_changes_release(&changes);
	json_decref(agent);
	return err;
}

/* ---- what there is ---- */

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
	if (!status->why && !spawn_available("git-checkpoint"))
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
	status.untracked = !user && status.state != AGENTS_ABSENT && is_untracked(base, status.path);
	if (primary && agents_in_primary(agent))
		look_at_primary(&status, agent, base, primary);
	set_works(&status);
	*ALLOC_NEXT(out->items, out->nr, out->alloc) = status;
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
