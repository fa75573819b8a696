/* SPDX-License-Identifier: MIT */
#include "agents/agents.h"

#include "agents/agent_entry_internal.h"
#include "agents/agent_json_internal.h"
#include "agents/agent_toml_internal.h"
#include "base/base.h"

#include <sys/file.h>

void agents_result_release(struct agents_result *result)
{
	strbuf_release(&result->path);
	strbuf_release(&result->text);
	strlist_release(&result->notes);
}

const char *const *agents_names(void)
{
	static const char *names[16];

	for (int i = 0; i < 15 && agent_table[i].name; i++)
		names[i] = agent_table[i].name;
	return names;
}

int agents_check(const char *name)
{
	const struct agent *agent;

	return agent_find(&agent, name);
}

/* ---- locks ---- */

/* On the directories of the settings, including those that links lead to. */
struct locks {
	int fds[3];
	size_t nr;
};

static bool is_held(const struct locks *locks, int fd)
{
	struct stat st, held;

	for (size_t i = 0; i < locks->nr; i++)
		if (!fstat(fd, &st) && !fstat(locks->fds[i], &held) && st.st_dev == held.st_dev &&
		    st.st_ino == held.st_ino)
			return true;
	return false;
}

/*
 * One process at a time: so an existing temporary was left by a killed one. If the directory
 * does not exist yet, or locks do not work, go on without.
 */
static int lock_dir(struct locks *locks, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc, err = 0;

	if (fd < 0)
		return 0;
	if (is_held(locks, fd)) {
		close(fd);
		return 0;
	}
	do {
		rc = flock(fd, LOCK_EX);
		if (rc < 0 && errno == EINTR)
			err = cancel_check();
	} while (rc < 0 && errno == EINTR && !err);
	if (!rc)
		fs_sweep_temps(fd, ".");
	locks->fds[locks->nr++] = fd;
	return err;
}

static void unlock_all(struct locks *locks)
{
	while (locks->nr)
		close(locks->fds[--locks->nr]);
}

/* ---- the file ---- */

struct settings {
	struct strbuf dir, path;
	struct strbuf real; /* what a symbolic link leads to */
	struct strbuf text;
	bool exists, linked;
	mode_t mode;
};

#define SETTINGS_INIT \
	{ STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, false, false, 0 }

static void settings_release(struct settings *s)
{
	strbuf_release(&s->dir);
	strbuf_release(&s->path);
	strbuf_release(&s->real);
	strbuf_release(&s->text);
}

static int settings_find(struct settings *s, const struct agent *agent, const char *file,
			 const struct agents_opts *opts)
{
	const char *base = opts->user ? getenv("HOME") : opts->root;

	if (!base || *base != '/')
		return ckpt_error_set(CKPT_ERROR, "HOME is not set to an absolute path; set it, or leave --user out");
	agent_settings(&s->dir, base, agent, NULL);
	agent_settings(&s->path, base, agent, file);
	return 0;
}

/*
 * A repository may contain links: those in a project's settings are followed
 * only within it. In the user's home directory they belong to the user.
 */
static int settings_confine(const struct settings *s, const struct agents_opts *opts)
{
	char *root, *real;
	int err = 0;

	if (opts->user)
		return 0;
	root = path_resolve(opts->root);
	real = path_resolve(s->path.buf);
	if (!root || !real)
		err = ckpt_error_errno("unable to follow '%s'", s->path.buf);
	else if (!path_below(real, root))
		err = ckpt_error_set(CKPT_EREFUSED, "'%s' leads out of the worktree, to '%s'",
				     s->path.buf, real);
	free(root);
	free(real);
	return err;
}

/* `real` is absolute. */
static int lock_real(struct locks *locks, const char *real)
{
	char *dir = xmemdupz(real, (size_t)(strrchr(real, '/') - real));
	int err = lock_dir(locks, *dir ? dir : "/");

	free(dir);
	return err;
}

static int settings_load(struct settings *s, struct locks *locks)
{
	struct stat st;
	char *real;
	int err;

	if (lstat(s->path.buf, &st) < 0) {
		if (errno == ENOENT)
			return 0;
		return ckpt_error_errno("unable to look at '%s'", s->path.buf);
	}
	s->exists = true;
	s->linked = S_ISLNK(st.st_mode);
	real = path_real(s->path.buf);
	if (!real || stat(real, &st) < 0) {
		err = ckpt_error_errno("unable to follow the link '%s'", s->path.buf);
		free(real);
		return err;
	}
	err = s->linked ? lock_real(locks, real) : 0;
	strbuf_addstr(&s->real, real);
	free(real);
	s->mode = st.st_mode & 07777;
	return err ? err : fs_read_linked(&s->text, s->real.buf);
}

static int settings_store(const struct settings *s)
{
	return fs_write_file(AT_FDCWD, s->real.buf, s->text.buf, s->text.len, s->mode, FS_DURABLE);
}

static int settings_create(struct settings *s, bool make_dir)
{
	int err;

	if (make_dir) {
		err = fs_mkdir_p(s->dir.buf, fs_usual_mode(0777));
		if (err)
			return err;
	}
	strbuf_addstr(&s->real, s->path.buf);
	s->mode = fs_usual_mode(0666);
	err = settings_store(s);
	if (err && make_dir)
		rmdir(s->dir.buf);
	return err;
}

static int settings_unlink(const struct settings *s, bool made_dir)
{
	if (unlink(s->path.buf) < 0)
		return ckpt_error_errno("unable to remove '%s'", s->path.buf);
	if (made_dir && !rmdir(s->dir.buf))
		return 0;
	return fs_sync_dir(AT_FDCWD, s->dir.buf);
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

static int install_json(struct agents_result *out, struct settings *s, const struct agent *agent)
{
	bool changed;
	int err;

	if (!s->exists) {
		bool make_dir = !fs_is_dir(s->dir.buf);

		agent_file(&s->text, agent, ADDED_FILE | (make_dir ? ADDED_DIR : 0));
		out->change = AGENTS_CREATED;
		return settings_create(s, make_dir);
	}
	err = agent_json_insert(&s->text, agent, &changed);
	if (err == CKPT_EREFUSED)
		return no_way_back(s);
	if (err || !changed)
		return malformed(err, s);
	out->change = AGENTS_EDITED;
	return settings_store(s);
}

static int uninstall_json(struct agents_result *out, struct settings *s,
			  const struct agent *agent)
{
	bool changed, empty;
	unsigned added;
	int err = agent_json_remove(&s->text, agent, &changed, &added, &empty);

	if (!err)
		note_others(out, s, agent);
	if (err || !changed)
		return malformed(err, s);
	if (empty && added & ADDED_FILE && !s->linked) {
		out->change = AGENTS_REMOVED;
		return settings_unlink(s, added & ADDED_DIR);
	}
	out->change = AGENTS_EDITED;
	err = agent_json_check(&s->text, agent);
	return err ? malformed(err, s) : settings_store(s);
}

/* ---- TOML ---- */

/* What an earlier version wrote there. */
static int uninstall_toml(struct agents_result *out, struct settings *s,
			  const struct agent *agent)
{
	int err = 0;

	if (agent_toml_remove(&s->text)) {
		out->change = AGENTS_EDITED;
		err = settings_store(s);
	}
	if (!err)
		note_others(out, s, agent);
	return err;
}

/* ---- everything ---- */

static void add_notes(struct agents_result *out, const struct agent *agent, bool user, bool is_new)
{
	const char *moved = agent->variable ? getenv(agent->variable) : NULL;

	if (agent->note && is_new)
		strlist_add(&out->notes, agent->note);
	if (user && moved && *moved && strncmp(moved, out->path.buf, strlen(moved)))
		strlist_addf(&out->notes, "the variable '%s' is set: settings are read from '%s', not from '%s'",
			     agent->variable, moved, out->path.buf);
}

static void generic(struct agents_result *out, const struct agent *agent)
{
	out->change = AGENTS_NO_FILE;
	strbuf_addstr(&out->text,
		      "# Let the agent run this line before each step that changes files, in the\n"
		      "# directory that it works in. It never fails, prints nothing, and takes a\n"
		      "# checkpoint only if something changed since the last one.\n");
	agent_line(&out->text, agent);
}

/* Both are read before either is written: a malformed one stops everything. */
struct both {
	struct settings json, toml;
	struct locks locks;
};

static int open_both(struct both *b, const struct agent *agent, const struct agents_opts *opts)
{
	int err = settings_find(&b->json, agent, agent->file, opts);

	if (!err)
		err = settings_confine(&b->json, opts);
	if (!err)
		err = lock_dir(&b->locks, b->json.dir.buf);
	if (!err)
		err = settings_load(&b->json, &b->locks);
	if (!err && agent->toml)
		err = settings_find(&b->toml, agent, agent->toml, opts);
	if (!err && agent->toml)
		err = settings_confine(&b->toml, opts);
	if (!err && agent->toml)
		err = settings_load(&b->toml, &b->locks);
	return err;
}

/* What an older version put into the second file goes into the first. */
static int install(struct agents_result *out, struct both *b, const struct agent *agent)
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
	err = install_json(out, &b->json, agent);
	if (err || !moves)
		return err;
	if (out->change == AGENTS_UNCHANGED)
		out->change = AGENTS_EDITED;
	return settings_store(&b->toml);
}

static int uninstall(struct agents_result *out, struct both *b, const struct agent *agent)
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
	return err || !b->json.exists ? err : uninstall_json(out, &b->json, agent);
}

static int edit(struct agents_result *out, const struct agents_opts *opts, bool in)
{
	struct both b = { SETTINGS_INIT, SETTINGS_INIT, { .nr = 0 } };
	const struct agent *agent;
	int err = agent_find(&agent, opts->agent);

	if (err)
		return err;
	if (!agent->dir) {
		out->change = AGENTS_NO_FILE;
		if (in)
			generic(out, agent);
		return 0;
	}
	err = open_both(&b, agent, opts);
	if (!err)
		err = in ? install(out, &b, agent) : uninstall(out, &b, agent);
	if (!err && in)
		add_notes(out, agent, opts->user, out->change != AGENTS_UNCHANGED);
	settings_release(&b.json);
	settings_release(&b.toml);
	unlock_all(&b.locks);
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

int agents_print(struct agents_result *out, const struct agents_opts *opts)
{
	struct settings settings = SETTINGS_INIT;
	const struct agent *agent;
	int err = agent_find(&agent, opts->agent);

	if (err)
		return err;
	if (!agent->dir) {
		generic(out, agent);
		return 0;
	}
	err = settings_find(&settings, agent, agent->file, opts);
	if (!err) {
		strbuf_addstr(&out->path, settings.path.buf);
		agent_file(&out->text, agent, 0);
		add_notes(out, agent, opts->user, true);
	}
	settings_release(&settings);
	return err;
}
