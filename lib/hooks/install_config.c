/* SPDX-License-Identifier: MIT */
#include "hooks/install_config_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "hooks/install_internal.h"
#include "hooks/install_template_internal.h"
#include "hooks/install_where_internal.h"

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

#define SET_ELSEWHERE "core.fsmonitor is set, but not in the file that 'git config' writes"
#define SHOW_ORIGIN "'git config --show-origin core.fsmonitor' says where"

/* ---- values ---- */

/*
 * git passes these to a shell, followed by the arguments. A missing file, for
 * example because the repository was moved, must not make git complain: the
 * guard then says that it does not know, a hook that all is well.
 */
static void shim_value(struct strbuf *out, const struct install_where *where, const char *name,
		       const char *otherwise)
{
	struct strbuf quoted = STRBUF_INIT;
	char *path = install_record_path(where, name);

	quote_shell(&quoted, path);
	strbuf_addf(out, "test -r %s || exit %s; . %s", quoted.buf, otherwise, quoted.buf);
	strbuf_release(&quoted);
	free(path);
}

static void guard_value(struct strbuf *out, const struct install_where *where)
{
	shim_value(out, where, "fsmonitor", "1");
}

static void hook_value(struct strbuf *out, const struct install_where *where, const char *name)
{
	/* In the shell that git starts anyway; nothing that follows reads git's output. */
	shim_value(out, where, name, "0; _ckpt_alone=alone");
}

/* A value of ours, wherever the repository was when it was written, or that for all repositories. */
static bool is_guard_value(const char *value)
{
	return !strncmp(value, "test -r ", 8) && (strstr(value, "/" INSTALL_DIR "/fsmonitor") ||
						  strstr(value, INSTALL_GLOBAL "/fsmonitor"));
}

/* ---- planning ---- */

void install_config_release(struct install_config *config)
{
	strbuf_release(&config->before);
	strbuf_release(&config->text);
}

int install_config_undone(struct install_config *out, const struct install_record *record,
			  const struct install_where *where)
{
	int err = install_config_read(&out->before, where);

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

/* Of one level, or of all up to one. */
struct last_word {
	const char *key;
	enum gitconfig_level lowest, highest;
	bool not_ours;	   /* skip what we set */
	const char *value; /* the last one */
	size_t count;	   /* of values that equal `value` */
};

static int note_last(const char *key, const char *value, enum gitconfig_level level, void *payload)
{
	struct last_word *last = payload;

	if (!strcmp(key, last->key) && level >= last->lowest && level <= last->highest &&
	    !(last->not_ours && (is_guard_value(value) || strstr(value, INSTALL_GLOBAL "/"))))
		last->value = value;
	return 0;
}

static int count_last(const char *key, const char *value, enum gitconfig_level level, void *payload)
{
	struct last_word *last = payload;

	last->count += !strcmp(key, last->key) && level >= last->lowest && level <= last->highest &&
		       !strcmp(value, last->value);
	return 0;
}

/* The level of the file that we write. */
static enum gitconfig_level own_level(const struct install_where *where)
{
	return where->global ? GITCONFIG_GLOBAL : GITCONFIG_LOCAL;
}

/* The last value of that level alone. */
static const char *level_value(const struct gitconfig *config, const char *key,
			       const struct install_where *where)
{
	struct last_word last = { .key = key,
				  .lowest = own_level(where),
				  .highest = own_level(where) };

	(void)gitconfig_each(config, key, note_last, &last);
	return last.value;
}

bool install_config_before(struct strbuf *out, const struct strbuf *text,
			   const struct gitconfig *config, const char *section, const char *key)
{
	char *full = xstrfmt("%s.%s", section, key);
	struct last_word last = { .key = full,
				  .lowest = GITCONFIG_SYSTEM,
				  .highest = GITCONFIG_GLOBAL,
				  .not_ours = true };
	bool found = config_edit_get(out, text, section, key);

	if (!found)
		(void)gitconfig_each(config, full, note_last, &last);
	if (last.value)
		strbuf_addstr(out, last.value);
	free(full);
	return found || last.value;
}

char *install_expand_home(const char *value)
{
	const char *home = getenv("HOME");

	return !strncmp(value, "~/", 2) && home ? xstrfmt("%s%s", home, value + 1) : xstrdup(value);
}

/*
 * Set at our level, but in an included file or in the worktree's: more often
 * than in `text`, which is the file that we write.
 */
static bool is_set_elsewhere(const struct gitconfig *config, const struct strbuf *text,
			     const struct install_where *where)
{
	struct last_word last = { .key = "core.fsmonitor",
				  .lowest = own_level(where),
				  .highest = own_level(where) };

	(void)gitconfig_each(config, last.key, note_last, &last);
	if (!last.value || is_guard_value(last.value))
		return false;
	(void)gitconfig_each(config, last.key, count_last, &last);
	return last.count > config_edit_count(text, last.key, last.value);
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
static const char *guard_barred(const struct install_config *out, const struct install_where *where,
				const struct gitconfig *config, bool *daemon_out)
{
	struct strbuf before = STRBUF_INIT;
	bool taken = install_config_before(&before, &out->text, config, "core", "fsmonitor");

	*daemon_out = false;
	if (taken)
		gitconfig_parse_bool(daemon_out, before.buf);
	strbuf_release(&before);
	return *daemon_out ? "core.fsmonitor is 'true', which is git's own daemon"
	       : is_set_elsewhere(config, &out->before, where) ? SET_ELSEWHERE "; " SHOW_ORIGIN
							       : "";
}

bool install_config_has_room(const struct install_record *record, const struct install_where *where,
			     const struct gitconfig *config)
{
	struct install_config undone = INSTALL_CONFIG_INIT;
	bool daemon, room = !install_config_undone(&undone, record, where) &&
			    !*guard_barred(&undone, where, config, &daemon);

	install_config_release(&undone);
	return room;
}

/* Ours for this repository replaces ours for all, and what that one asks in turn. */
static char *chain_of_all(void)
{
	struct install_record record = { 0 };
	struct install_where all;
	char *chain = NULL;

	if (install_where_global(&all))
		return NULL;
	if (!install_record_read(&record, &all) && record.guard && record.chain)
		chain = xstrdup(record.chain);
	install_record_release(&record);
	install_where_release(&all);
	return chain;
}

static void plan_guard(struct install_config *out, struct install_record *record,
		       const struct install_where *where, const struct gitconfig *config,
		       struct strlist *notes)
{
	struct strbuf value = STRBUF_INIT, version = STRBUF_INIT, before = STRBUF_INIT;
	bool taken = install_config_before(&before, &out->text, config, "core", "fsmonitor"),
	     daemon, ignored;
	bool is_bool = taken && gitconfig_parse_bool(&ignored, before.buf);
	const char *barred = guard_barred(out, where, config, &daemon);

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
	guard_value(&value, where);
	if (taken && !is_bool && !is_guard_value(before.buf))
		record->chain = install_expand_home(before.buf);
	else if (!taken && !where->global)
		record->chain = chain_of_all();
	set(&out->text, record, "core", "fsmonitor", value.buf);
	/* The protocol version of another program, in any repository, is not ours to change. */
	(void)install_config_before(&version, &out->text, config, "core", "fsmonitorhookversion");
	if (!where->global && !record->chain && strcmp(version.buf, "2"))
		set(&out->text, record, "core", "fsmonitorHookVersion", "2");
done:
	strbuf_release(&before);
	strbuf_release(&version);
	strbuf_release(&value);
}

static void plan_hook(struct strbuf *text, struct install_record *record,
		      const struct install_where *where, const char *name)
{
	char *section = xstrfmt("hook.checkpoint-%s", name);
	struct strbuf value = STRBUF_INIT;

	hook_value(&value, where, name);
	set(text, record, section, "event", name);
	set(text, record, section, "command", value.buf);
	strbuf_release(&value);
	free(section);
}

static void plan_template(struct strbuf *text, struct install_record *record,
			  const struct install_where *where)
{
	char *path = install_record_path(where, INSTALL_TEMPLATE);

	set(text, record, "init", "templateDir", path);
	free(path);
}

int install_config_plan(struct install_config *out, struct install_record *record,
			const struct install_where *where, const struct gitconfig *config,
			const char *const names[], struct strlist *notes)
{
	int err = install_config_undone(out, record, where);
	struct strbuf base = STRBUF_INIT;
	size_t old = record->edits_nr;

	if (err)
		return err;
	strbuf_add(&base, out->text.buf, out->text.len);
	if (record->guard)
		plan_guard(out, record, where, config, notes);
	for (size_t i = 0; record->config_hooks && names[i]; i++)
		plan_hook(&out->text, record, where, names[i]);
	if (record->template)
		plan_template(&out->text, record, where);
	if (record->edits_nr > old &&
	    !config_edit_check(&base, &out->text, record->edits + old, record->edits_nr - old))
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' has a format in which a change could not be "
				     "reverted without a trace; tidy it up, or install "
				     "without the parts that need it",
				     where->config);
	strbuf_release(&base);
	return err;
}

/* ---- status ---- */

static bool shim_there(const struct install_where *where, const char *name)
{
	char *path = install_record_path(where, name);
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
		*why_out = "its script in the directory '" INSTALL_DIR "' is gone";
		return HOOKS_NOT_RUN;
	}
	*why_out = "";
	return HOOKS_RUNS;
}

/* Whether it is ours for a repository that git reads; NULL: only a lower level has one. */
static const char *value_in_force(const struct gitconfig *config, const char *key,
				  const struct install_where *where)
{
	return where->global ? gitconfig_get(config, key, GITCONFIG_LOCAL)
			     : level_value(config, key, where);
}

enum hooks_state install_config_guard_state(const struct install_where *where,
					    const struct gitconfig *config, const char **why_out,
					    const char **advice_out)
{
	const char *value = value_in_force(config, "core.fsmonitor", where);
	struct strbuf wanted = STRBUF_INIT, text = STRBUF_INIT;
	enum hooks_state state;

	guard_value(&wanted, where);
	state = state_of(value, wanted.buf,
			 value && strcmp(value, wanted.buf) && is_guard_value(value),
			 shim_there(where, "fsmonitor"), why_out);
	*advice_out = install_again(where);
	if (state == HOOKS_DISPLACED && !install_config_read(&text, where) &&
	    is_set_elsewhere(config, &text, where)) {
		*why_out = SET_ELSEWHERE;
		*advice_out = SHOW_ORIGIN;
	} else if (state == HOOKS_DISPLACED && where->global) {
		*why_out = "this repository sets core.fsmonitor itself";
		*advice_out =
			"'git checkpoint hooks install --guard' says what can be done about that";
	}
	strbuf_release(&text);
	strbuf_release(&wanted);
	return state;
}

/* hook.<name>.enabled, which turns a hook off where it is set. */
static bool is_enabled(const struct gitconfig *config, const char *name)
{
	char *key = xstrfmt("hook.checkpoint-%s.enabled", name);
	bool enabled = gitconfig_bool(config, key, true);

	free(key);
	return enabled;
}

enum hooks_state install_config_hook_state(const struct install_where *where,
					   const struct gitconfig *config, const char *name,
					   const char **why_out, const char **advice_out)
{
	char *key = xstrfmt("hook.checkpoint-%s.command", name);
	const char *value = value_in_force(config, key, where);
	struct strbuf wanted = STRBUF_INIT;
	enum hooks_state state;

	hook_value(&wanted, where, name);
	state = state_of(value, wanted.buf, false, shim_there(where, name), why_out);
	*advice_out = install_again(where);
	if (state == HOOKS_RUNS && !install_config_supported()) {
		state = HOOKS_NOT_RUN;
		*why_out = "this git does not support hooks in its configuration";
	} else if (state == HOOKS_RUNS && !is_enabled(config, name)) {
		state = HOOKS_NOT_RUN;
		*why_out = "its key 'enabled' in the configuration is false";
		*advice_out = "remove that key to have it run";
	}
	strbuf_release(&wanted);
	free(key);
	return state;
}
