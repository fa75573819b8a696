/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agents_internal.h"
#include "base/base.h"

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
	return 0;
}

static void add_path(struct strbuf *out, const struct install_change *change)
{
	strbuf_addf(out, "%s/%s", strcmp(change->root, "/") ? change->root : "", change->path);
}

/* ---- what the user should know, each a sentence that stands alone ---- */

static void add_notes(struct agents_result *out, const json_t *part, const struct agents_opts *opts,
		      bool is_new)
{
	const char *variable = agents_text(part, "variable"), *note = agents_text(part, "note");
	const char *moved = variable && opts->user ? getenv(variable) : NULL;

	if (is_new)
		strlist_add(&out->notes, note);
	if (is_new && !opts->user && json_is_true(json_object_get(part, "top_only")))
		strlist_addf(&out->notes,
			     "'%s' does not read it when it is started in a subdirectory; 'git checkpoint "
			     "hooks install --user --agent %s' works everywhere",
			     opts->agent, opts->agent);
	if (moved && *moved && strncmp(moved, out->path.buf, strlen(moved)) != 0)
		strlist_addf(&out->notes, "the variable '%s' is set: settings are read from '%s', not from '%s'",
			     variable, moved, out->path.buf);
	if (!opts->mcp && !agents_program_found())
		strlist_add(&out->notes, AGENTS_NO_PROGRAM);
}

bool agents_program_found(void)
{
	return spawn_available("git-checkpoint");
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
