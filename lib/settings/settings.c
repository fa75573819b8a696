/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include "git/git.h"
#include "settings/setting_internal.h"

/*
 * A value from any source goes the same way: its row of the table is found,
 * and assign_value() sets the field and records the origin. The sources differ only
 * in how they name a place.
 */

/* Patterns add up, so they may come from several places. */
static void note_origin(struct ckpt_settings *settings, unsigned index, const char *origin)
{
	char **slot = &settings->origins[index], *joined;

	if (*slot && setting_adds_up(index))
		joined = xstrfmt("%s, %s", *slot, origin);
	else
		joined = xstrdup(origin);
	free(*slot);
	*slot = joined;
}

static int assign_value(struct ckpt_settings *settings, unsigned index, const char *value,
			const char *origin)
{
	struct strbuf shown = STRBUF_INIT;
	int err = 0;

	if (setting_parse(settings, index, value)) {
		note_origin(settings, index, origin);
	} else {
		quote_path(&shown, value);
		err = ckpt_error_set(CKPT_ERROR, "%s: bad value '%s' for '%s': expected %s", origin,
				     shown.buf, setting_table[index].key, setting_expected(index));
	}
	strbuf_release(&shown);
	return err;
}

static void warn_unknown(struct ckpt_settings *settings, const char *origin, const char *section,
			 const char *key)
{
	struct strbuf name = STRBUF_INIT, shown = STRBUF_INIT;

	if (*section)
		strbuf_addf(&name, "%s.", section);
	strbuf_addstr(&name, key);
	quote_path(&shown, name.buf);
	strlist_addf(&settings->warnings, "%s: unknown key '%s'", origin, shown.buf);
	strbuf_release(&name);
	strbuf_release(&shown);
}

/* Only the user may name a command to run; a repository, or its surroundings, may not. */
static void warn_command(struct ckpt_settings *settings, const char *origin, unsigned index)
{
	strlist_addf(&settings->warnings,
		     "%s: '%s' runs a command and is ignored here; it is honoured only in "
		     "$XDG_CONFIG_HOME/git-checkpoint/config and in checkpoint/config of the store",
		     origin, setting_table[index].key);
}

struct file_context {
	struct ckpt_settings *settings;
	const char *path;
	const char *distrust; /* why it must not say what is run; NULL: it may */
};

/* Sections for others: [hooks] and [capture "<name>"]. */
static bool is_known_section(const char *section)
{
	return !strcasecmp(section, "hooks") || !strncasecmp(section, "capture \"", 9);
}

static int take_from_file(const char *section, const char *key, const char *value, unsigned line,
			  void *payload)
{
	struct file_context *context = payload;
	char *origin = xstrfmt("%s:%u", context->path, line);
	int index = *section ? -1 : setting_find(key), err = 0;

	if (index >= 0 && setting_table[index].runs_command && context->distrust)
		strlist_addf(&context->settings->warnings,
			     "%s: '%s' runs a command and is ignored: %s", origin,
			     setting_table[index].key, context->distrust);
	else if (index >= 0)
		err = assign_value(context->settings, (unsigned)index, value, origin);
	else if (!is_known_section(section))
		warn_unknown(context->settings, origin, section, key);
	free(origin);
	return err;
}

static int load_file(struct ckpt_settings *settings, const char *path, const char *worktree)
{
	struct file_context context = { settings, path, ini_distrust(path, worktree) };
	int err;

	/* Another user's, as HOME is after a change of user: git skips it, too. */
	if (access(path, R_OK) < 0 && errno == EACCES) {
		strlist_addf(&settings->warnings,
			     "'%s' cannot be read and is ignored, and nothing is evicted; make it "
			     "readable, or remove it",
			     path);
		settings->unread = true;
		return 0;
	}
	err = ini_read(path, take_from_file, &context);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

bool settings_user_file(struct strbuf *out)
{
	char *dir = env_user_dir("XDG_CONFIG_HOME", ".config");

	strbuf_reset(out);
	if (dir) {
		strbuf_addstr(out, dir);
		path_append(out, "git-checkpoint/config");
	}
	free(dir);
	return out->len > 0;
}

static int load_user_file(struct ckpt_settings *settings, const char *worktree)
{
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	if (settings_user_file(&path))
		err = load_file(settings, path.buf, worktree);
	strbuf_release(&path);
	return err;
}

struct git_context {
	struct ckpt_settings *settings;
	bool command; /* take `git -c`, or all but that */
};

static int take_from_git(const char *key, const char *value, enum gitconfig_level level,
			 void *payload)
{
	struct git_context *context = payload;
	char *origin;
	int index, err = 0;

	if (context->command != (level == GITCONFIG_COMMAND))
		return 0;
	origin = xstrfmt("git config (%s)", gitconfig_level_name(level));
	index = setting_find(key + strlen("checkpoint."));
	if (index < 0)
		warn_unknown(context->settings, origin, "", key);
	else if (setting_table[index].runs_command)
		warn_command(context->settings, origin, (unsigned)index);
	else
		err = assign_value(context->settings, (unsigned)index, value, origin);
	free(origin);
	return err;
}

static int load_git(struct ckpt_settings *settings, const struct gitconfig *gitconfig,
		    bool command)
{
	struct git_context context = { settings, command };

	return gitconfig ? gitconfig_each(gitconfig, "checkpoint.", take_from_git, &context) : 0;
}

/*
 * A user who wants no colours from git wants none from us. It has less weight
 * than all our own settings, so it comes first; a value that git would not
 * understand is ignored.
 */
static void load_git_color(struct ckpt_settings *settings, const struct gitconfig *gitconfig)
{
	const char *value = gitconfig ? gitconfig_get(gitconfig, "color.ui", GITCONFIG_COMMAND) : NULL;
	unsigned color = (unsigned)setting_find("color");

	if (value && setting_parse(settings, color, value))
		note_origin(settings, color, "git config (color.ui)");
}

/* "maxCount" is GIT_CHECKPOINT_MAX_COUNT there; an empty one counts as not set. */
static int load_environment(struct ckpt_settings *settings)
{
	struct strbuf name = STRBUF_INIT;
	int err = 0;

	for (unsigned i = 0; i < setting_count && !err; i++) {
		const char *value;

		strbuf_reset(&name);
		strbuf_addstr(&name, "GIT_CHECKPOINT_");
		for (const char *p = setting_table[i].key; *p; p++) {
			if (isupper((unsigned char)*p))
				strbuf_addch(&name, '_');
			strbuf_addch(&name, toupper((unsigned char)*p));
		}
		value = env_git(name.buf);
		if (!value || !*value)
			continue;
		if (setting_table[i].runs_command)
			warn_command(settings, name.buf, i);
		else
			err = assign_value(settings, i, value, name.buf);
	}
	strbuf_release(&name);
	return err;
}

int settings_load(struct ckpt_settings *out, const struct gitconfig *gitconfig,
		  const char *store_file, const char *worktree)
{
	struct ckpt_settings settings = { 0 };
	int err = 0;

	settings.origins = xcalloc(setting_count, sizeof(*settings.origins));
	for (unsigned i = 0; i < setting_count && !err; i++)
		if (!setting_parse(&settings, i, setting_table[i].fallback))
			err = ckpt_error_set(CKPT_ERROR, "bad default of '%s'",
					     setting_table[i].key);
	if (!err) {
		load_git_color(&settings, gitconfig);
		err = load_user_file(&settings, worktree);
	}
	if (!err)
		err = load_git(&settings, gitconfig, false);
	if (!err && store_file)
		err = load_file(&settings, store_file, worktree);
	if (!err)
		err = load_environment(&settings);
	if (!err)
		err = load_git(&settings, gitconfig, true);
	if (!err && settings.unread)
		settings_lift_limits(&settings);
	if (err)
		settings_release(&settings);
	else
		*out = settings;
	return err;
}

void settings_lift_limits(struct ckpt_settings *settings)
{
	settings->max_count = settings->max_automatic = settings->max_size = 0;
	settings->max_age = 0;
	settings->thin_automatic.nr = 0;
}

void settings_release(struct ckpt_settings *settings)
{
	for (unsigned i = 0; settings->origins && i < setting_count; i++)
		free(settings->origins[i]);
	free(settings->origins);
	free(settings->color);
	free(settings->progress);
	free(settings->verify_command);
	free(settings->machine);
	free(settings->project);
	strlist_release(&settings->exclude);
	strlist_release(&settings->sensitive);
	strlist_release(&settings->warnings);
	memset(settings, 0, sizeof(*settings));
}

const char *settings_origin(const struct ckpt_settings *settings, unsigned index)
{
	return settings->origins[index] ? settings->origins[index] : "default";
}
