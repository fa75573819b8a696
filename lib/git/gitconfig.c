/* SPDX-License-Identifier: MIT */
#include "git/gitconfig.h"

#include "git/configcond_internal.h"
#include "git/configtext.h"
#include "git/repo.h"

/*
 * Each file is read and parsed separately, in git's order, and its values are
 * copied into one array: a lookup is then a search from the end. Not by
 * libgit2, which blocks if a file, or one that it includes, is a FIFO.
 */

enum {
	INCLUDE_DEPTH = 10, /* git's own limit */
	FILES_MAX = 10000,  /* git has no limit, and reads a small file or two for ever */
};

struct entry {
	char *key;
	char *value; /* "true" for a key without a value */
	enum gitconfig_level level;
};

struct gitconfig {
	struct entry *entries; /* lowest level first */
	size_t nr, alloc;
	struct configcond cond; /* while it is read */
	size_t files;
};

const char *gitconfig_level_name(enum gitconfig_level level)
{
	static const char *const names[] = { "system", "global", "local", "command" };

	return names[level];
}

static void add_entry(struct gitconfig *config, char *key, const char *value,
		      enum gitconfig_level level)
{
	ALLOC_GROW(config->entries, config->nr + 1, config->alloc);
	config->entries[config->nr].key = key;
	config->entries[config->nr].value = xstrdup(value ? value : "true");
	config->entries[config->nr].level = level;
	config->nr++;
}

static void clear_entries(struct gitconfig *config)
{
	for (size_t i = 0; i < config->nr; i++) {
		free(config->entries[i].key);
		free(config->entries[i].value);
	}
	config->nr = 0;
}

void gitconfig_close(struct gitconfig *config)
{
	if (!config)
		return;
	clear_entries(config);
	free(config->entries);
	free(config);
}

/* A file while it is read. */
struct source {
	struct gitconfig *config;
	const char *path;
	enum gitconfig_level level;
	int depth; /* of includes */
};

static int add_file(struct gitconfig *config, const char *path, enum gitconfig_level level,
		    int depth);

/* `value` is a path: absolute, of a home directory, or relative to the file that has it. */
static int include_file(const struct source *from, const char *value)
{
	struct strbuf expanded = STRBUF_INIT, path = STRBUF_INIT;
	const char *slash = strrchr(from->path, '/');
	int err = 0;

	if (from->depth == INCLUDE_DEPTH)
		return ckpt_error_set(CKPT_ERROR, "files include each other more than %d levels deep",
				      INCLUDE_DEPTH);
	if (configcond_expand(&expanded, value)) {
		if (*expanded.buf != '/')
			strbuf_add(&path, from->path, slash ? (size_t)(slash - from->path) + 1 : 0);
		strbuf_addstr(&path, expanded.buf);
		err = add_file(from->config, path.buf, from->level, from->depth + 1);
	}
	strbuf_release(&expanded);
	strbuf_release(&path);
	return err;
}

static int add_value(const char *key, const char *value, void *payload)
{
	static const char prefix[] = "includeif.", suffix[] = ".path";
	const struct source *from = payload;
	size_t len = strlen(key);
	bool holds = !strcmp(key, "include.path");

	add_entry(from->config, xstrdup(key), value, from->level);
	if (len > strlen(prefix) + strlen(suffix) && !strncmp(key, prefix, strlen(prefix)) &&
	    !strcmp(key + len - strlen(suffix), suffix)) {
		char *condition = xmemdupz(key + strlen(prefix),
					   len - strlen(prefix) - strlen(suffix));

		holds = configcond_holds(&from->config->cond, condition, from->path);
		free(condition);
	}
	return holds && value && *value ? include_file(from, value) : 0;
}

/* Add one file with everything it includes. A missing file counts as empty. */
static int add_file(struct gitconfig *config, const char *path, enum gitconfig_level level,
		    int depth)
{
	struct source from = { config, path, level, depth };
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	if (access(path, R_OK) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		/* As in git: after a change of user, HOME may still be another user's. */
		if (errno == EACCES && level != GITCONFIG_LOCAL)
			return 0;
		ckpt_error_errno("unable to read '%s'", path);
		return CKPT_ERROR;
	}
	if (++config->files > FILES_MAX)
		return ckpt_error_set(CKPT_ERROR, "'%s' includes more than %d files", path, FILES_MAX);
	err = fs_read_linked(&text, path);
	if (!err) {
		err = configtext_parse(text.buf, text.len, add_value, &from);
		if (err)
			ckpt_error_prefix(err, "unable to read the git configuration '%s'", path);
	}
	strbuf_release(&text);
	return err ? CKPT_ERROR : 0;
}

/* The same for a name below a directory; does nothing if the directory does not exist. */
static int add_below(struct gitconfig *config, const char *dir, const char *name,
		     enum gitconfig_level level)
{
	struct strbuf path = STRBUF_INIT;
	int err;

	if (!dir || !*dir)
		return 0;
	strbuf_addstr(&path, dir);
	path_append(&path, name);
	err = add_file(config, path.buf, level, 0);
	strbuf_release(&path);
	return err;
}

static const char *find_value(const struct gitconfig *config, const char *key,
			enum gitconfig_level highest, enum gitconfig_level lowest)
{
	for (size_t i = config->nr; i-- > 0;) {
		const struct entry *entry = &config->entries[i];

		if (entry->level <= highest && entry->level >= lowest && !strcmp(entry->key, key))
			return entry->value;
	}
	return NULL;
}

/* A number as git reads it, in an int: any sign and base, followed by k, m or g. */
static bool parse_int(intmax_t *out, const char *value)
{
	static const char letters[] = "kmg";
	intmax_t max = INT_MAX, number;
	char *end;

	errno = 0;
	number = strtoimax(value, &end, 0);
	if (errno || end == value)
		return false;
	if (*end) {
		const char *at = strchr(letters, tolower((unsigned char)*end));

		if (!at || end[1])
			return false;
		max >>= 10 * (at - letters + 1);
	}
	*out = number;
	return number <= max && number >= -max;
}

bool gitconfig_parse_bool(bool *out, const char *value)
{
	static const char *const yes[] = { "true", "yes", "on" };
	static const char *const no[] = { "false", "no", "off", "" };
	intmax_t number;

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!strcasecmp(value, yes[i])) {
			*out = true;
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (!strcasecmp(value, no[i])) {
			*out = false;
			return true;
		}
	if (!parse_int(&number, value))
		return false;
	*out = number != 0;
	return true;
}

static int add_user_files(struct gitconfig *config)
{
	const char *override = env_git("GIT_CONFIG_GLOBAL");
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int err;

	if (override)
		return *override ? add_file(config, override, GITCONFIG_GLOBAL, 0) : 0;
	if (xdg && *xdg)
		err = add_below(config, xdg, "git/config", GITCONFIG_GLOBAL);
	else
		err = add_below(config, home, ".config/git/config", GITCONFIG_GLOBAL);
	if (!err)
		err = add_below(config, home, ".gitconfig", GITCONFIG_GLOBAL);
	return err;
}

static int add_all_files(struct gitconfig *config, const struct repo *repo)
{
	const char *system = env_git("GIT_CONFIG_SYSTEM"), *none = env_git("GIT_CONFIG_NOSYSTEM");
	const char *own;
	bool no_system = false, own_config = false;
	int err = 0;

	if (none)
		gitconfig_parse_bool(&no_system, none);
	if (!no_system && (!system || *system))
		err = add_file(config, system ? system : "/etc/gitconfig", GITCONFIG_SYSTEM, 0);
	if (!err)
		err = add_user_files(config);
	if (err || !repo)
		return err;
	err = add_below(config, repo->commondir, "config", GITCONFIG_LOCAL);
	own = find_value(config, "extensions.worktreeconfig", GITCONFIG_LOCAL, GITCONFIG_LOCAL);
	if (!err && own && gitconfig_parse_bool(&own_config, own) && own_config)
		err = add_below(config, repo->gitdir, "config.worktree", GITCONFIG_LOCAL);
	return err;
}

/* By git's definition the names of remotes do not depend on conditions about them. */
static void add_urls(struct strlist *urls, const struct gitconfig *config)
{
	for (size_t i = 0; i < config->nr; i++) {
		const char *key = config->entries[i].key, *last = strrchr(key, '.');

		if (!strncmp(key, "remote.", 7) && last > key + 6 && !strcmp(last, ".url"))
			strlist_add(urls, config->entries[i].value);
	}
}

static int add_files(struct gitconfig *config, const struct repo *repo)
{
	struct repo_state state = { 0 };
	struct strlist urls = STRLIST_INIT;
	int err;

	if (repo)
		repo_read_state(&state, repo);
	config->cond.gitdir = repo ? repo->gitdir : NULL;
	config->cond.branch = state.branch;
	err = add_all_files(config, repo);
	if (!err && config->cond.asked_for_urls) {
		add_urls(&urls, config);
		config->cond.urls = &urls;
		config->files = 0;
		clear_entries(config);
		err = add_all_files(config, repo);
	}
	strlist_release(&urls);
	repo_state_release(&state);
	memset(&config->cond, 0, sizeof(config->cond));
	return err;
}

/*
 * A key of `git -c`, in the form of the others: all lower case except for a
 * subsection. NULL if it is invalid.
 */
static char *canonical_key(const char *text, size_t len)
{
	const char *first = memchr(text, '.', len), *last = memrchr(text, '.', len);
	char *key;

	if (!first || first == text || last == text + len - 1)
		return NULL;
	key = xmemdupz(text, len);
	for (size_t i = 0; i < len; i++)
		if (text + i < first || text + i > last)
			key[i] = (char)tolower((unsigned char)key[i]);
	return key;
}

static int add_parameter(struct gitconfig *config, const char *name, size_t len,
			 const char *value, const char *variable)
{
	char *key = canonical_key(name, len);

	if (!key)
		return ckpt_error_set(CKPT_ERROR, "%s: '%.*s' is not a key of git's configuration",
				      variable, (int)len, name);
	add_entry(config, key, value, GITCONFIG_COMMAND);
	/* Other includes are relative to a file, or depend on it. */
	if (!strcmp(key, "include.path") && value && *value == '/')
		return add_file(config, value, GITCONFIG_COMMAND, 0);
	return 0;
}

/* 'key=value' as git wrote it before 2.31, 'key'='value' or 'key'= since; in between spaces. */
static int add_parameter_list(struct gitconfig *config, const char *text)
{
	static const char variable[] = "GIT_CONFIG_PARAMETERS";
	struct strbuf key = STRBUF_INIT, value = STRBUF_INIT;
	int err = 0;

	while (!err && *(text += strspn(text, " \t\n"))) {
		strbuf_reset(&key);
		strbuf_reset(&value);
		if (!quote_undo_shell(&key, &text))
			goto malformed;
		if (*text != '=') {
			const char *equals = strchr(key.buf, '=');

			err = add_parameter(config, key.buf,
					    equals ? (size_t)(equals - key.buf) : key.len,
					    equals ? equals + 1 : NULL, variable);
		} else if (*++text == '\'') {
			if (!quote_undo_shell(&value, &text))
				goto malformed;
			err = add_parameter(config, key.buf, key.len, value.buf, variable);
		} else {
			err = add_parameter(config, key.buf, key.len, NULL, variable);
		}
		if (!err && *text && !isspace((unsigned char)*text))
			goto malformed;
	}
	goto out;
malformed:
	err = ckpt_error_set(CKPT_ERROR, "the variable '%s' is malformed", variable);
out:
	strbuf_release(&key);
	strbuf_release(&value);
	return err;
}

static int add_counted(struct gitconfig *config, const char *text)
{
	uint64_t count;
	int err = 0;

	if (!*text)
		return 0;
	if (!units_parse_number(&count, text) || count > 1000000)
		return ckpt_error_set(CKPT_ERROR, "GIT_CONFIG_COUNT: '%s' is not a number", text);
	for (unsigned i = 0; i < count && !err; i++) {
		char *name = xstrfmt("GIT_CONFIG_KEY_%u", i);
		char *name_of_value = xstrfmt("GIT_CONFIG_VALUE_%u", i);
		const char *key = env_git(name), *value = env_git(name_of_value);

		if (!key || !value)
			err = ckpt_error_set(CKPT_ERROR, "the variable '%s' is not set",
					     key ? name_of_value : name);
		else
			err = add_parameter(config, key, strlen(key), value, name);
		free(name);
		free(name_of_value);
	}
	return err;
}

int gitconfig_open(struct gitconfig **out, const struct repo *repo)
{
	const char *count = env_git("GIT_CONFIG_COUNT");
	const char *parameters = env_git("GIT_CONFIG_PARAMETERS");
	struct gitconfig *config = xcalloc(1, sizeof(*config));
	int err;

	err = add_files(config, repo);
	if (!err && count)
		err = add_counted(config, count);
	if (!err && parameters)
		err = add_parameter_list(config, parameters);
	if (err) {
		gitconfig_close(config);
		return err;
	}
	*out = config;
	return 0;
}

const char *gitconfig_get(const struct gitconfig *config, const char *key,
			  enum gitconfig_level highest)
{
	return find_value(config, key, highest, GITCONFIG_SYSTEM);
}

bool gitconfig_bool(const struct gitconfig *config, const char *key, bool fallback)
{
	const char *value = gitconfig_get(config, key, GITCONFIG_COMMAND);
	bool result = fallback;

	if (value)
		gitconfig_parse_bool(&result, value);
	return result;
}

bool gitconfig_path(struct strbuf *out, const struct gitconfig *config, const char *key)
{
	const char *value = gitconfig_get(config, key, GITCONFIG_COMMAND);

	return value && *value && configcond_expand(out, value);
}

int gitconfig_each(const struct gitconfig *config, const char *prefix, gitconfig_fn fn,
		   void *payload)
{
	size_t len = strlen(prefix);
	int rc = 0;

	for (size_t i = 0; i < config->nr && !rc; i++) {
		const struct entry *entry = &config->entries[i];

		if (!strncmp(entry->key, prefix, len))
			rc = fn(entry->key, entry->value, entry->level, payload);
	}
	return rc;
}
