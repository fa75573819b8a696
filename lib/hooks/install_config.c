/* SPDX-License-Identifier: MIT */
#include "hooks/install_internal.h"

#include "git/git.h"

/* The guard and, from git 2.54 on, hooks, in the configuration. */

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
static char *format_value(const struct install_where *where, const char *name)
{
	struct strbuf quoted = STRBUF_INIT;
	char *path = install_where_path(where, name), *value;

	quote_shell(&quoted, path);
	/* A hook runs in the shell that git starts anyway; nothing that follows reads git's output. */
	value = xstrfmt("test -r %s || exit %s; . %s", quoted.buf,
			name == hook_names[HOOK_FSMONITOR] ? "1" : "0; _ckpt_alone=alone", quoted.buf);
	strbuf_release(&quoted);
	free(path);
	return value;
}

/* Ours, wherever the repository was when it was written, or for all repositories. */
static bool is_ours(const char *value)
{
	return strstr(value, INSTALL_GLOBAL "/") ||
	       (!strncmp(value, "test -r ", 8) && strstr(value, "/" INSTALL_DIR "/"));
}

enum whose {
	ANYBODYS,
	OURS,
	NOT_OURS,
};

/* What is looked for, and the last value that was found. */
struct finding {
	const char *key;
	enum gitconfig_level lowest, highest;
	enum whose whose;
	const char *equals, *differs; /* NULL: any value */
	const char *last;
	size_t count;
};

static int note_value(const char *key, const char *value, enum gitconfig_level level, void *payload)
{
	struct finding *finding = payload;

	if (strcmp(key, finding->key) || level < finding->lowest || level > finding->highest ||
	    (finding->whose && (finding->whose == OURS) != is_ours(value)) ||
	    (finding->equals && strcmp(value, finding->equals)) ||
	    (finding->differs && !strcmp(value, finding->differs)))
		return 0;
	finding->last = value;
	finding->count++;
	return 0;
}

/* The level of the file that we write. */
static enum gitconfig_level own_level(const struct install_where *where)
{
	return where->global ? GITCONFIG_GLOBAL : GITCONFIG_LOCAL;
}

const char *install_config_before(const struct gitconfig *config, const char *key,
				  const struct install_where *where)
{
	struct finding finding = { .key = key,
				   .lowest = GITCONFIG_SYSTEM,
				   .highest = own_level(where),
				   .whose = NOT_OURS };

	(void)gitconfig_each(config, key, note_value, &finding);
	return finding.last;
}

/* At that level alone, with what is included there and the worktree's. */
static const char *find_own(struct finding *finding, const struct gitconfig *config,
			    const char *key, const struct install_where *where)
{
	finding->key = key;
	finding->lowest = finding->highest = own_level(where);
	(void)gitconfig_each(config, key, note_value, finding);
	return finding->last;
}

bool install_config_has_guard(const struct install_where *where, const struct gitconfig *config)
{
	struct finding ours = { .whose = OURS };

	return find_own(&ours, config, "core.fsmonitor", where) != NULL;
}

static int count_guard(const char *key, const char *value, void *payload)
{
	struct finding *finding = payload;

	finding->count += !strcmp(key, finding->key) &&
			  !strcmp(value ? value : "true", finding->equals);
	return 0;
}

/* At our level, but in an included file or in the worktree's: more often than in our file. */
static bool is_set_elsewhere(const struct gitconfig *config, const struct install_where *where)
{
	struct finding any = { 0 }, same = { 0 }, here;
	struct strbuf text = STRBUF_INIT;

	same.equals = find_own(&any, config, "core.fsmonitor", where);
	if (!same.equals || is_ours(same.equals))
		return false;
	(void)find_own(&same, config, "core.fsmonitor", where);
	here = same;
	here.count = 0;
	if (!fs_read_linked(&text, where->config))
		(void)configtext_parse(text.buf, text.len, count_guard, &here);
	strbuf_release(&text);
	return same.count > here.count;
}

const char *install_config_barred(const struct install_where *where, const struct gitconfig *config,
				  bool *daemon_out)
{
	const char *before = install_config_before(config, "core.fsmonitor", where);

	*daemon_out = false;
	if (is_set_elsewhere(config, where))
		return SET_ELSEWHERE "; " SHOW_ORIGIN;
	if (before)
		gitconfig_parse_bool(daemon_out, before);
	return *daemon_out ? "core.fsmonitor is 'true', which is git's own daemon" : "";
}

/* ---- changes ---- */

static void add_value(struct install_changes *changes, struct install_value **next, const char *key,
		      char *value, bool wanted)
{
	*(*next)++ = (struct install_value){ install_changes_keep(changes, xstrdup(key)),
					     install_changes_keep(changes, value), !wanted };
}

/* With what is left of one from before the repository was moved. */
static void add_script(struct install_changes *changes, struct install_value **next,
		       const struct install_where *where, const struct gitconfig *config,
		       const char *key, const char *name, bool wanted)
{
	char *value = format_value(where, name);
	struct finding old = { .whose = OURS, .differs = value };

	if (find_own(&old, config, key, where))
		add_value(changes, next, key, xstrdup(old.last), false);
	add_value(changes, next, key, value, wanted);
}

static bool is_wanted(const char *const names[], const char *name)
{
	for (size_t i = 0; names && names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

enum { VALUES_MAX = 16 };

void install_config_add(struct install_changes *changes, const struct install_where *where,
			const struct gitconfig *config, const char *const names[], bool guard,
			bool template)
{
	struct install_value *values = xcalloc(VALUES_MAX, sizeof(*values)), *next = values;
	struct install_change *change;

	strlist_take(&changes->texts, (char *)values);
	for (enum hook_name i = 0; i < HOOK_FSMONITOR; i++) {
		bool wanted = is_wanted(names, hook_names[i]);
		char *key = xstrfmt("hook.checkpoint-%s.command", hook_names[i]);

		add_script(changes, &next, where, config, key, hook_names[i], wanted);
		strcpy(strrchr(key, '.'), ".event");
		add_value(changes, &next, key, xstrdup(hook_names[i]), wanted);
		free(key);
	}
	if (where->global)
		add_value(changes, &next, "init.templatedir",
			  install_where_path(where, INSTALL_TEMPLATE), template);
	add_script(changes, &next, where, config, "core.fsmonitor", hook_names[HOOK_FSMONITOR],
		   guard);
	change = install_changes_add(changes, where, INSTALL_CONFIG, where->config);
	change->values = values;
	change->mode = 0666;
}

/* ---- status ---- */

static bool has_script(const struct install_where *where, const char *name)
{
	char *path = install_where_path(where, name);
	bool has = !access(path, R_OK);

	free(path);
	return has;
}

static enum hooks_state judge_value(const char *value, const struct install_where *where,
				    const char *name, const char **why_out)
{
	char *wanted = format_value(where, name);
	enum hooks_state state = HOOKS_RUNS;

	*why_out = "";
	if (!value) {
		*why_out = "it was removed from the configuration";
		state = HOOKS_MISSING;
	} else if (strcmp(value, wanted)) {
		state = is_ours(value) ? HOOKS_NOT_RUN : HOOKS_DISPLACED;
		*why_out = is_ours(value) ? "the repository was moved"
					  : "the configuration names another program";
	} else if (!has_script(where, name)) {
		*why_out = "its script in the directory '" INSTALL_DIR "' is gone";
		state = HOOKS_NOT_RUN;
	}
	free(wanted);
	return state;
}

/* What git reads where hooks are for all; for a repository, not what only a lower level has. */
static const char *get_value(const struct gitconfig *config, const char *key,
			     const struct install_where *where)
{
	struct finding own = { 0 };

	return where->global ? gitconfig_get(config, key, GITCONFIG_LOCAL)
			     : find_own(&own, config, key, where);
}

enum hooks_state install_config_guard_state(const struct install_where *where,
					    const struct gitconfig *config, const char **why_out,
					    const char **advice_out)
{
	const char *value = get_value(config, "core.fsmonitor", where);
	enum hooks_state state = judge_value(value, where, hook_names[HOOK_FSMONITOR], why_out);

	*advice_out = install_again(where);
	if (state == HOOKS_DISPLACED && is_set_elsewhere(config, where)) {
		*why_out = SET_ELSEWHERE;
		*advice_out = SHOW_ORIGIN;
	} else if (state == HOOKS_DISPLACED && where->global) {
		*why_out = "this repository sets core.fsmonitor itself";
		*advice_out =
			"'git checkpoint hooks install --guard' says what can be done about that";
	}
	return state;
}

bool install_config_has_hook(const struct install_where *where, const struct gitconfig *config,
			     const char *name)
{
	char *key = xstrfmt("hook.checkpoint-%s.command", name);
	bool has = get_value(config, key, where);

	free(key);
	return has;
}

/* hook.<name>.enabled turns a hook off where it is set. */
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
	enum hooks_state state = judge_value(get_value(config, key, where), where, name, why_out);

	*advice_out = install_again(where);
	if (state == HOOKS_RUNS && !install_config_supported()) {
		state = HOOKS_NOT_RUN;
		*why_out = "this git does not support hooks in its configuration";
	} else if (state == HOOKS_RUNS && !is_enabled(config, name)) {
		state = HOOKS_NOT_RUN;
		*why_out = "its key 'enabled' in the configuration is false";
		*advice_out = "remove that key to have it run";
	}
	free(key);
	return state;
}
