/* SPDX-License-Identifier: MIT */
#include "base/env.h"

#include "base/strlist.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct strlist taken = STRLIST_INIT;

void env_scrub(void)
{
	for (char **var = environ; *var; var++)
		if (!strncmp(*var, "GIT_", 4) && strchr(*var, '='))
			strlist_add(&taken, *var);
	for (size_t i = 0; i < taken.nr; i++) {
		char *equals = strchr(taken.items[i], '=');

		*equals = '\0';
		unsetenv(taken.items[i]);
		*equals = '=';
	}
}

const char *env_git(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < taken.nr; i++)
		if (!strncmp(taken.items[i], name, len) && taken.items[i][len] == '=')
			return taken.items[i] + len + 1;
	return NULL;
}

void env_unscrub(const char *name)
{
	const char *value = env_git(name);

	if (value)
		setenv(name, value, 1);
}
