/* SPDX-License-Identifier: MIT */
#include "hooks/install_config_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "hooks/install_internal.h"

bool install_config_supported(void)
{
	static const char *const args[] = { "--version", NULL };
	const struct gitrun how = { .profile = GITRUN_LOOK };
	struct strbuf out = STRBUF_INIT;
	int major = 0, minor = 0;
	bool supported;

	supported = !gitrun(&out, &how, args) &&
		    sscanf(out.buf, "git version %d.%d", &major, &minor) == 2 &&
		    (major > 2 || (major == 2 && minor >= 54));
	strbuf_release(&out);
	return supported;
}

#define SET_ELSEWHERE "core.fsmonitor is set for this repository, but not in its own file"
#define SHOW_ORIGIN "'git config --show-origin core.fsmonitor' says where"

/* ---- values ---- */

/*
 * git passes these to a shell, followed by the arguments. A missing file, for
 * example because the repository was moved, must not make git complain: the
 * guard then says that it does not know, a hook that all is well.
 */
static void shim_value(struct strbuf *out, const struct repo *repo, const char *name,
		       const char *otherwise)
{
	struct strbuf quoted = STRBUF_INIT;
	char *path = install_record_path(repo, name);

	quote_shell(&quoted, path);
	strbuf_addf(out, "test -r %s || exit %s; . %s", quoted.buf, otherwise, quoted.buf);
	strbuf_release(&quoted);
	free(path);
}

static void guard_value(struct strbuf *out, const struct repo *repo)
{
	shim_value(out, repo, "fsmonitor", "1");
}

static void hook_value(struct strbuf *out, const struct repo *repo, const char *name)
{
	/* In the shell that git starts anyway; nothing that follows reads git's output. */
	shim_value(out, repo, name, "0; _ckpt_alone=alone");
}

/* A value of ours, wherever the repository was when it was written. */
static bool is_guard_value(const char *value)
{
	return !strncmp(value, "test -r ", 8) && strstr(value, "/" INSTALL_DIR "/fsmonitor");
}

/* ---- planning ---- */

static char *config_path(const struct repo *repo)
{
	char *path = xstrfmt("%s/config", repo->commondir), *real = realpath(path, NULL);

	if (!real)
		return path;
	free(path);
	return real;
}

static int read_config(struct strbuf *out, const struct repo *repo)
{
	char *path = config_path(repo);
	int err = fs_read_linked(out, path);

	free(path);
	return err;
}

void install_config_release(struct install_config *config)
{
	strbuf_release(&config->before);
	strbuf_release(&config->text);
}

int install_config_undone(struct install_config *out, const struct install_record *record,
			  const struct repo *repo)
{
	int err = read_config(&out->before, repo);

	strbuf_add(&out->text, out->before.buf, out->before.len);
	for (size_t i = record->edits_nr; i-- && !err;)
		config_edit_undo(&out->text, &record->edits[i]);
	return err;
}

static void set(struct strbuf *text, struct install_record *record, const char *section,
		const char *key, const char *value)
{
	config_edit_set(text, install_record_edit(record), section, key, value);
}

/* The value without us, of core.<key> in lower case: the repository's, or else the user's. */
static bool value_before(struct strbuf *out, const struct strbuf *text,
			 const struct gitconfig *config, const char *key)
{
	char *full = xstrfmt("core.%s", key);
	bool found = config_edit_get(out, text, "core", key);
	const char *value = found ? NULL : gitconfig_get(config, full, GITCONFIG_GLOBAL);

	if (value)
		strbuf_addstr(out, value);
	free(full);
	return found || value;
}

/* "~/" at the beginning is git's to expand, not the shell's. */
static char *expand_home(const char *value)
{
	const char *home = getenv("HOME");

	return !strncmp(value, "~/", 2) && home ? xstrfmt("%s%s", home, value + 1) : xstrdup(value);
}

/* The repository's last value, and how often it is set. */
struct last_word {
	const char *value;
	size_t count;
};

static int note_local(const char *key, const char *value, enum gitconfig_level level, void *payload)
{
	struct last_word *last = payload;

	if (!strcmp(key, "core.fsmonitor") && level == GITCONFIG_LOCAL)
		last->value = value;
	return 0;
}

static int count_local(const char *key, const char *value, enum gitconfig_level level,
		       void *payload)
{
	struct last_word *last = payload;

	last->count += !strcmp(key, "core.fsmonitor") && level == GITCONFIG_LOCAL &&
		       !strcmp(value, last->value);
	return 0;
}

/*
 * Set for the repository, but in an included file or in the worktree's: more
 * often than in `text`, which is the repository's file.
 */
static bool is_set_elsewhere(const struct gitconfig *config, const struct strbuf *text)
{
	struct last_word last = { NULL, 0 };

	(void)gitconfig_each(config, "core.fsmonitor", note_local, &last);
	if (!last.value || is_guard_value(last.value))
		return false;
	(void)gitconfig_each(config, "core.fsmonitor", count_local, &last);
	return last.count > config_edit_count(text, "core", "fsmonitor", last.value);
}

/* From an earlier install. */
static bool had_guard(const struct install_record *record)
{
	for (size_t i = 0; i < record->edits_nr; i++)
		if (!strcmp(record->edits[i].key, "fsmonitor"))
			return true;
	return false;
}

/* What is in the way of a guard, as a sentence; "" if nothing is. */
static const char *guard_barred(const struct install_config *out, const struct gitconfig *config,
				bool *daemon_out)
{
	struct strbuf before = STRBUF_INIT;
	bool taken = value_before(&before, &out->text, config, "fsmonitor");

	*daemon_out = false;
	if (taken)
		gitconfig_parse_bool(daemon_out, before.buf);
	strbuf_release(&before);
	return *daemon_out ? "core.fsmonitor is 'true', which is git's own daemon" :
	       is_set_elsewhere(config, &out->before) ? SET_ELSEWHERE "; " SHOW_ORIGIN : "";
}

bool install_config_has_room(const struct install_record *record, const struct repo *repo,
			     const struct gitconfig *config)
{
	struct install_config undone = INSTALL_CONFIG_INIT;
	bool daemon, room = !install_config_undone(&undone, record, repo) &&
			    !*guard_barred(&undone, config, &daemon);

	install_config_release(&undone);
	return room;
}

static void plan_guard(struct install_config *out, struct install_record *record,
		       const struct repo *repo, const struct gitconfig *config,
		       struct strlist *notes)
{
	struct strbuf value = STRBUF_INIT, version = STRBUF_INIT, before = STRBUF_INIT;
	bool taken = value_before(&before, &out->text, config, "fsmonitor"), daemon, ignored;
	bool is_bool = taken && gitconfig_parse_bool(&ignored, before.buf);
	const char *barred = guard_barred(out, config, &daemon);

	free(record->chain);
	record->chain = NULL;
	if (*barred) {
		/* Other worktrees may use an installed one. */
		record->guard = !daemon && had_guard(record);
		strlist_addf(notes, "the guard %s: %s",
			     record->guard ? "stays, but git does not ask it here" :
					     "is not installed", barred);
		if (!record->guard)
			goto done;
	}
	guard_value(&value, repo);
	if (taken && !is_bool && !is_guard_value(before.buf))
		record->chain = expand_home(before.buf);
	set(&out->text, record, "core", "fsmonitor", value.buf);
	/* The protocol version of another program is not ours to change. */
	value_before(&version, &out->text, config, "fsmonitorhookversion");
	if (!record->chain && strcmp(version.buf, "2"))
		set(&out->text, record, "core", "fsmonitorHookVersion", "2");
done:
	strbuf_release(&before);
	strbuf_release(&version);
	strbuf_release(&value);
}

static void plan_hook(struct strbuf *text, struct install_record *record, const struct repo *repo,
		      const char *name)
{
	char *section = xstrfmt("hook.checkpoint-%s", name);
	struct strbuf value = STRBUF_INIT;

	hook_value(&value, repo, name);
	set(text, record, section, "event", name);
	set(text, record, section, "command", value.buf);
	strbuf_release(&value);
	free(section);
}

int install_config_plan(struct install_config *out, struct install_record *record,
			const struct repo *repo, const struct gitconfig *config,
			const char *const names[], struct strlist *notes)
{
	int err = install_config_undone(out, record, repo);
	struct strbuf base = STRBUF_INIT;
	size_t old = record->edits_nr;

	if (err)
		return err;
	strbuf_add(&base, out->text.buf, out->text.len);
	if (record->guard)
		plan_guard(out, record, repo, config, notes);
	for (size_t i = 0; record->config_hooks && names[i]; i++)
		plan_hook(&out->text, record, repo, names[i]);
	if (record->edits_nr > old &&
	    !config_edit_check(&base, &out->text, record->edits + old, record->edits_nr - old))
		err = ckpt_error_set(CKPT_ERROR, "'%s/config' has a format in which a change could not be "
						 "reverted without a trace; tidy it up, or install "
						 "without the parts that need it",
				     repo->commondir);
	strbuf_release(&base);
	return err;
}

/* ---- writing ---- */

/* No other process writes now, but one may have since it was read. */
static int swap_locked(const char *path, const char *lock, const struct install_config *config)
{
	struct strbuf now = STRBUF_INIT;
	int err = fs_read_linked(&now, path);

	if (!err && !strbuf_equal(&now, &config->before))
		err = ckpt_error_set(CKPT_ERROR, "'%s' was changed by another process meanwhile; "
				     "try again", path);
	if (!err && rename(lock, path) < 0)
		err = ckpt_error_errno("unable to put '%s' in place", path);
	else if (!err)
		err = fs_sync_holder(AT_FDCWD, path);
	if (err)
		unlink(lock);
	strbuf_release(&now);
	return err;
}

/*
 * git's lock is a file that must not exist yet and that becomes the new one.
 * It is completed under our own name, so that one left by a killed process of
 * ours can be told from git's.
 */
static int swap_config(const char *path, const char *lock, const char *new, mode_t mode,
		       const struct install_config *config)
{
	int err;

	if (install_same_file(lock, new))
		unlink(lock);
	err = fs_write_file(AT_FDCWD, new, config->text.buf, config->text.len, mode, FS_DURABLE);
	if (err)
		return err;
	if (link(new, lock) < 0)
		err = errno == EEXIST ?
			      ckpt_error_set(CKPT_ERROR, "'%s' exists: another git process is changing "
							 "the configuration; if none is, remove "
							 "that file", lock) :
			      ckpt_error_errno("unable to create '%s'", lock);
	else
		err = swap_locked(path, lock, config);
	unlink(new);
	return err;
}

int install_config_write(const struct install_config *config, const struct repo *repo)
{
	char *path = config_path(repo), *lock = xstrfmt("%s.lock", path);
	char *new = install_record_path(repo, "config.new");
	struct strbuf now = STRBUF_INIT;
	struct stat st;
	int err = fs_read_linked(&now, path);

	if (err)
		goto out;
	if (install_same_file(lock, new))
		unlink(lock);
	unlink(new);
	if (strbuf_equal(&now, &config->text))
		goto out;
	if (stat(path, &st) < 0)
		err = ckpt_error_errno("unable to look at '%s'", path);
	else
		err = swap_config(path, lock, new, st.st_mode & 07777, config);
out:
	strbuf_release(&now);
	free(new);
	free(lock);
	free(path);
	return err;
}

/* ---- status ---- */

static bool shim_there(const struct repo *repo, const char *name)
{
	char *path = install_record_path(repo, name);
	bool there = !access(path, X_OK);

	free(path);
	return there;
}

static enum hooks_state state_of(const char *value, const char *wanted, bool moved, bool shim,
				 const char **why_out)
{
	if (!value) {
		*why_out = "it was removed from the configuration";
		return HOOKS_MISSING;
	}
	if (moved) {
		*why_out = "the repository was moved";
		return HOOKS_NOT_RUN;
	}
	if (strcmp(value, wanted)) {
		*why_out = "the configuration names another program";
		return HOOKS_DISPLACED;
	}
	if (!shim) {
		*why_out = "its file in .git/" INSTALL_DIR " is gone";
		return HOOKS_NOT_RUN;
	}
	*why_out = "";
	return HOOKS_RUNS;
}

enum hooks_state install_config_guard_state(const struct repo *repo, const struct gitconfig *config,
					    const char **why_out, const char **advice_out)
{
	const char *value = gitconfig_get(config, "core.fsmonitor", GITCONFIG_LOCAL);
	struct strbuf wanted = STRBUF_INIT, text = STRBUF_INIT;
	enum hooks_state state;

	guard_value(&wanted, repo);
	state = state_of(value, wanted.buf,
			 value && strcmp(value, wanted.buf) && is_guard_value(value),
			 shim_there(repo, "fsmonitor"), why_out);
	*advice_out = INSTALL_AGAIN;
	if (state == HOOKS_DISPLACED && !read_config(&text, repo) &&
	    is_set_elsewhere(config, &text)) {
		*why_out = SET_ELSEWHERE;
		*advice_out = SHOW_ORIGIN;
	}
	strbuf_release(&text);
	strbuf_release(&wanted);
	return state;
}

enum hooks_state install_config_hook_state(const struct repo *repo, const struct gitconfig *config,
					   const char *name, const char **why_out)
{
	char *key = xstrfmt("hook.checkpoint-%s.command", name);
	const char *value = gitconfig_get(config, key, GITCONFIG_LOCAL);
	struct strbuf wanted = STRBUF_INIT;
	enum hooks_state state;

	hook_value(&wanted, repo, name);
	state = state_of(value, wanted.buf, false, shim_there(repo, name), why_out);
	if (state == HOOKS_RUNS && !install_config_supported()) {
		state = HOOKS_NOT_RUN;
		*why_out = "this git does not support hooks in its configuration";
	}
	strbuf_release(&wanted);
	free(key);
	return state;
}
