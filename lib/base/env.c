/* SPDX-License-Identifier: MIT */
#include "base/env.h"

#include "base/alloc.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/strlist.h"

static struct strlist taken = STRLIST_INIT, assumed = STRLIST_INIT;
static char **given;
static mode_t given_umask;

mode_t env_umask(void)
{
	mode_t mask = given_umask;

	/* It cannot be read without setting it, which other threads would see. */
	if (!given)
		umask(mask = umask(0));
	return mask & ~(mode_t)0700;
}

void env_restore_umask(void)
{
	if (given)
		umask(given_umask);
}

static void limit_path(void)
{
	const char *path = getenv("PATH");
	struct strbuf limited = STRBUF_INIT;

	if (!path)
		return; /* then the C library knows where to look, and not here */
	while (*path) {
		size_t len = strcspn(path, ":");

		if (*path == '/') {
			if (limited.len)
				strbuf_addch(&limited, ':');
			strbuf_add(&limited, path, len);
		}
		path += len;
		path += *path == ':';
	}
	/* An empty entry would be the current directory. */
	setenv("PATH", limited.len ? limited.buf : "/usr/local/bin:/usr/bin:/bin", 1);
	strbuf_release(&limited);
}

void env_restore_path(void)
{
	for (char **var = given; var && *var; var++)
		if (!strncmp(*var, "PATH=", 5))
			setenv("PATH", *var + 5, 1);
}

void env_scrub(void)
{
	size_t nr = 0;

	given_umask = umask(0);
	umask(given_umask & ~(mode_t)0700);
	while (environ[nr])
		nr++;
	given = xcalloc(nr + 1, sizeof(*given));
	memcpy(given, environ, nr * sizeof(*given));
	for (char **var = environ; *var; var++)
		if (!strncmp(*var, "GIT_", 4) && strchr(*var, '='))
			strlist_add(&taken, *var);
	for (size_t i = 0; i < taken.nr; i++) {
		char *equals = strchr(taken.items[i], '=');

		*equals = '\0';
		unsetenv(taken.items[i]);
		*equals = '=';
	}
	limit_path();
}

static const char *find_variable(const struct strlist *list, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < list->nr; i++)
		if (!strncmp(list->items[i], name, len) && list->items[i][len] == '=')
			return list->items[i] + len + 1;
	return NULL;
}

const char *env_git(const char *name)
{
	const char *value = find_variable(&taken, name);

	return value ? value : find_variable(&assumed, name);
}

void env_assume(const char *name, const char *value)
{
	strlist_addf(&assumed, "%s=%s", name, value);
}

void env_forget(const char *name)
{
	size_t len = strlen(name), kept = 0;

	for (size_t i = 0; i < taken.nr; i++)
		if (!strncmp(taken.items[i], name, len) && taken.items[i][len] == '=')
			free(taken.items[i]);
		else
			taken.items[kept++] = taken.items[i];
	taken.nr = kept;
}

void env_restore(void)
{
	for (size_t i = 0; i < taken.nr; i++)
		putenv(taken.items[i]);
	env_restore_umask();
}

char **env_given(void)
{
	return given ? given : environ;
}

/* Whether both set the same variable. */
static bool same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return len == strcspn(b, "=") && !strncmp(a, b, len);
}

char **env_given_for_directory(const char *extra)
{
	static const char *const left_out[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR" };
	char **from = env_given(), **out;
	size_t nr = 0, kept = 0;

	while (from[nr])
		nr++;
	out = xcalloc(nr + 2, sizeof(*out));
	for (size_t i = 0; i < nr; i++) {
		bool keep = !extra || !same_name(from[i], extra);

		for (size_t k = 0; k < ARRAY_SIZE(left_out); k++)
			keep = keep && !same_name(from[i], left_out[k]);
		if (keep)
			out[kept++] = from[i];
	}
	out[kept] = (char *)extra;
	return out;
}

char *env_user_dir(const char *variable, const char *below_home)
{
	const char *named = getenv(variable), *home = getenv("HOME");
	struct strbuf out = STRBUF_INIT;

	if (named && *named == '/') {
		strbuf_addstr(&out, named);
	} else if (home && *home == '/') {
		strbuf_addstr(&out, home);
		path_append(&out, below_home);
	}
	return out.len ? strbuf_detach(&out, NULL) : NULL;
}
