/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agent_entry_internal.h"
#include "agents/agent_json_internal.h"
#include "agents/agent_settings_internal.h"
#include "agents/agent_toml_internal.h"
#include "agents/agents_internal.h"
#include "base/base.h"

void agents_result_release(struct agents_result *result)
{
	strbuf_release(&result->path);
	strbuf_release(&result->text);
	strlist_release(&result->notes);
}

const char *const *agents_names(void)
{
	static const char *names[32];

	for (int i = 0; i < 31 && agent_table[i].name; i++)
		names[i] = agent_table[i].name;
	return names;
}

int agents_check(const char *name)
{
	const struct agent *agent;

	return agent_find(&agent, name);
}

/* An entry with the same meaning that is not exactly ours belongs to the user. */
static void note_others(struct agents_result *out, const struct settings *s,
			const struct agent *agent)
{
	if (agent_mentioned(agent, s->text.buf))
		strlist_addf(&out->notes,
			     "'%s' has an entry that was not written by 'hooks install', or was "
			     "changed since; remove it by hand",
			     s->path.buf);
}

/* Nothing is inserted that could not be removed again without changing any other byte. */
static int no_way_back(const struct settings *s)
{
	return ckpt_error_set(CKPT_ERROR, "'%s' has a format from which the entry could not be removed "
					  "again without a trace; add the entry that --print shows by "
					  "hand",
			      s->path.buf);
}

/* ---- JSON ---- */

static int malformed(int err, const struct settings *s)
{
	return err ? ckpt_error_prefix(err, "'%s' is malformed", s->path.buf) : 0;
}

static int install_json(struct agents_result *out, struct settings *s, const struct agent *agent,
			unsigned extra)
{
	bool changed;
	int err;

	if (!s->exists) {
		int dirs = agent_settings_missing_dirs(s);

		agent_file(&s->text, agent, extra | ADDED_FILE | agent_dirs_flag(dirs));
		out->change = AGENTS_CREATED;
		return agent_settings_create(s, dirs, 0666);
	}
	err = agent_json_insert(&s->text, agent, extra, &changed);
	if (err == CKPT_EREFUSED)
		return no_way_back(s);
	if (err || !changed)
		return malformed(err, s);
	out->change = AGENTS_EDITED;
	return agent_settings_store(s);
}

static int uninstall_json(struct agents_result *out, struct settings *s,
			  const struct agent *agent, unsigned *added_out)
{
	bool changed, empty;
	unsigned added;
	int err = agent_json_remove(&s->text, agent, &changed, &added, &empty);

	*added_out |= added;

	if (!err)
		note_others(out, s, agent);
	if (err || !changed)
		return malformed(err, s);
	if (empty && added & ADDED_FILE && !s->linked) {
		out->change = AGENTS_REMOVED;
		return agent_settings_unlink(s, agent_dirs_of(added));
	}
	out->change = AGENTS_EDITED;
	err = agent_json_check(&s->text, agent);
	return err ? malformed(err, s) : agent_settings_store(s);
}

/* ---- TOML ---- */

/* What an earlier version wrote there. */
static int uninstall_toml(struct agents_result *out, struct settings *s,
			  const struct agent *agent)
{
	int err = 0;

	if (agent_toml_remove(&s->text)) {
		out->change = AGENTS_EDITED;
		err = agent_settings_store(s);
	}
	if (!err)
		note_others(out, s, agent);
	return err;
}

/* ---- files of our own ---- */

/* Of which there may be several; all are read before any is touched. */
struct own_files {
	struct settings items[8];
	unsigned added[8];
	bool ours[8];
	struct settings_locks locks;
};

static int open_own(struct own_files *files, const struct agent *agent,
		    const struct agents_opts *opts)
{
	int err = 0;

	for (size_t i = 0; agent->own[i].file && !err; i++) {
		struct settings *s = &files->items[i];

		*s = (struct settings)SETTINGS_INIT;
		err = agent_settings_find(s, agent, agent->own[i].file, opts);
		if (!err)
			err = agent_settings_confine(s, opts);
		if (!err)
			err = agent_settings_lock_dir(&files->locks, s->dir.buf);
		if (!err)
			err = agent_settings_load(s, &files->locks);
		files->ours[i] = s->exists && !s->linked &&
				 agent_own_is(&s->text, &agent->own[i], &files->added[i]);
	}
	return err;
}

static void close_own(struct own_files *files, const struct agent *agent)
{
	for (size_t i = 0; agent->own[i].file; i++)
		agent_settings_release(&files->items[i]);
	agent_settings_unlock_all(&files->locks);
}

static int install_own(struct agents_result *out, struct own_files *files,
		       const struct agent *agent)
{
	int err = 0;

	for (size_t i = 0; agent->own[i].file; i++)
		if (files->items[i].exists && !files->ours[i])
			return ckpt_error_set(CKPT_EREFUSED,
					      "'%s' exists and was not written by 'hooks install'; "
					      "add what --print shows to it by hand, or move it away",
					      files->items[i].path.buf);
	for (size_t i = 0; agent->own[i].file && !err; i++) {
		struct settings *s = &files->items[i];
		int dirs = agent_settings_missing_dirs(s);

		if (s->exists)
			continue;
		agent_own_text(&s->text, &agent->own[i], ADDED_FILE | agent_dirs_flag(dirs));
		out->change = AGENTS_CREATED;
		err = agent_settings_create(s, dirs, agent->own[i].mode);
	}
	return err;
}

static int uninstall_own(struct agents_result *out, struct own_files *files,
			 const struct agent *agent)
{
	size_t nr = 0;
	int err = 0;

	for (; agent->own[nr].file; nr++)
		if (files->items[nr].exists && !files->ours[nr])
			note_others(out, &files->items[nr], agent);
	/* The first one made the directories that the others are in. */
	while (nr-- > 0 && !err) {
		if (!files->ours[nr])
			continue;
		out->change = AGENTS_REMOVED;
		err = agent_settings_unlink(&files->items[nr], agent_dirs_of(files->added[nr]));
	}
	return err;
}

static int edit_own(struct agents_result *out, const struct agent *agent,
		    const struct agents_opts *opts, bool in)
{
	struct own_files files = { .locks = { .nr = 0 } };
	int err = open_own(&files, agent, opts);

	if (!err) {
		struct settings main = SETTINGS_INIT;

		err = agent_settings_find(&main, agent, agent->file, opts);
		strbuf_addstr(&out->path, main.path.buf);
		agent_settings_release(&main);
	}
	if (!err)
		err = in ? install_own(out, &files, agent) : uninstall_own(out, &files, agent);
	close_own(&files, agent);
	return err;
}

/* ---- everything ---- */

static void generic(struct agents_result *out, const struct agent *agent)
{
	out->change = AGENTS_NO_FILE;
	strbuf_addstr(&out->text,
		      "# Let the agent run this line before each step that changes files, in the\n"
		      "# directory that it works in. It takes a checkpoint only if something changed\n"
		      "# since the last one, never fails, and prints only what went wrong.\n");
	agent_line(&out->text, agent);
}

/* Both are read before either is written: a malformed one stops everything. */
struct both {
	struct settings json, toml;
	struct settings_locks locks;
};

static int open_both(struct both *b, const struct agent *agent, const struct agents_opts *opts)
{
	int err = agent_settings_find(&b->json, agent, agent->file, opts);

	if (!err)
		err = agent_settings_confine(&b->json, opts);
	if (!err)
		err = agent_settings_lock_dir(&b->locks, b->json.dir.buf);
	if (!err)
		err = agent_settings_load(&b->json, &b->locks);
	if (!err && agent->toml)
		err = agent_settings_find(&b->toml, agent, agent->toml, opts);
	if (!err && agent->toml)
		err = agent_settings_confine(&b->toml, opts);
	if (!err && agent->toml)
		err = agent_settings_load(&b->toml, &b->locks);
	return err;
}

/* What an older version put into the second file goes into the first. */
static int install(struct agents_result *out, struct both *b, const struct agent *agent,
		   unsigned extra)
{
	bool moves = b->toml.exists && agent_toml_remove(&b->toml.text);
	bool done = !moves && b->toml.exists && agent_mentioned(agent, b->toml.text.buf);
	int err;

	strbuf_addstr(&out->path, done ? b->toml.path.buf : b->json.path.buf);
	if (done)
		return 0;
	if (b->toml.exists && agent_toml_has_hooks(&b->toml.text))
		strlist_addf(&out->notes,
			     "'%s' has hooks, too: both are run, with a warning that they are in two "
			     "files",
			     b->toml.path.buf);
	err = install_json(out, &b->json, agent, extra);
	if (err || !moves)
		return err;
	if (out->change == AGENTS_UNCHANGED)
		out->change = AGENTS_EDITED;
	return agent_settings_store(&b->toml);
}

static int uninstall(struct agents_result *out, struct both *b, const struct agent *agent,
		     unsigned *added)
{
	int err = 0;

	strbuf_addstr(&out->path, b->json.path.buf);
	if (b->json.exists)
		err = malformed(agent_json_check(&b->json.text, agent), &b->json);
	if (!err && b->toml.exists)
		err = uninstall_toml(out, &b->toml, agent);
	if (!err && out->change == AGENTS_EDITED) {
		strbuf_reset(&out->path);
		strbuf_addstr(&out->path, b->toml.path.buf);
	}
	return err || !b->json.exists ? err : uninstall_json(out, &b->json, agent, added);
}

static int edit_settings(struct agents_result *out, const struct agent *agent,
			 const struct agents_opts *opts, bool in, unsigned *added)
{
	struct both b = { SETTINGS_INIT, SETTINGS_INIT, { .nr = 0 } };
	int err = open_both(&b, agent, opts);

	if (!err)
		err = in ? install(out, &b, agent, *added) : uninstall(out, &b, agent, added);
	agent_settings_release(&b.json);
	agent_settings_release(&b.toml);
	agent_settings_unlock_all(&b.locks);
	return err;
}

/*
 * In a linked worktree Codex takes the hooks of the primary one, and only if there is a directory for
 * them here. So both get the entry, and ours here remembers whether the other one is its work.
 */
static int edit_with_primary(struct agents_result *out, const struct agent *agent,
			     const struct agents_opts *opts, bool in)
{
	struct agents_opts there = { opts->agent, opts->primary, NULL, false };
	struct agents_result other = AGENTS_RESULT_INIT;
	unsigned added = 0, ignored = 0;
	int err = in ? edit_settings(&other, agent, &there, true, &added) : 0;

	if (in && other.change != AGENTS_UNCHANGED)
		added = ADDED_PRIMARY;
	if (!err)
		err = edit_settings(out, agent, opts, in, &added);
	if (!err && !in && added & ADDED_PRIMARY)
		err = edit_settings(&other, agent, &there, false, &ignored);
	if (!err && in)
		strlist_addf(&out->notes,
			     "this is a linked worktree, where Codex reads the hooks of the primary one: "
			     "'%s' has the entry, too",
			     other.path.buf);
	if (!err && out->change == AGENTS_UNCHANGED && other.change != AGENTS_UNCHANGED)
		out->change = AGENTS_EDITED;
	agents_result_release(&other);
	return err;
}

static int edit(struct agents_result *out, const struct agents_opts *opts, bool in)
{
	const struct agent *agent;
	unsigned added = 0;
	int err = agent_find(&agent, opts->agent);

	if (err)
		return err;
	if (agent->format == AGENT_NO_FILE) {
		out->change = AGENTS_NO_FILE;
		if (in)
			generic(out, agent);
		return 0;
	}
	if (agent->format == AGENT_OWN)
		err = edit_own(out, agent, opts, in);
	else if (agent->toml && opts->primary && !opts->user)
		err = edit_with_primary(out, agent, opts, in);
	else
		err = edit_settings(out, agent, opts, in, &added);
	if (!err && in)
		agents_add_notes(out, agent, opts, out->change != AGENTS_UNCHANGED);
	return err;
}

int agents_install(struct agents_result *out, const struct agents_opts *opts)
{
	return edit(out, opts, true);
}

int agents_uninstall(struct agents_result *out, const struct agents_opts *opts)
{
	return edit(out, opts, false);
}

/* All files, each with its name before it if there are several. */
static void print_own(struct strbuf *out, const struct agent *agent)
{
	for (size_t i = 0; agent->own[i].file; i++) {
		if (agent->own[1].file)
			strbuf_addf(out, "%s%s:\n", i ? "\n" : "", agent->own[i].file);
		agent_own_text(out, &agent->own[i], 0);
	}
}

int agents_print(struct agents_result *out, const struct agents_opts *opts)
{
	struct settings settings = SETTINGS_INIT;
	const struct agent *agent;
	int err = agent_find(&agent, opts->agent);

	if (err)
		return err;
	if (agent->format == AGENT_NO_FILE) {
		generic(out, agent);
		return 0;
	}
	err = agent_settings_find(&settings, agent, agent->file, opts);
	if (!err) {
		strbuf_addstr(&out->path, settings.path.buf);
		if (agent->format == AGENT_OWN)
			print_own(&out->text, agent);
		else
			agent_file(&out->text, agent, 0);
		agents_add_notes(out, agent, opts, true);
	}
	agent_settings_release(&settings);
	return err;
}
