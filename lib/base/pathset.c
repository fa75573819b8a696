/* SPDX-License-Identifier: MIT */
#include "base/path.h"

/* Compare `item` with the first `len` bytes of `path` followed by a `last` byte. */
static int order(const char *item, const char *path, size_t len, char last)
{
	int cmp = strncmp(item, path, len);

	return cmp ? cmp : (unsigned char)item[len] - (unsigned char)last;
}

/* The first item that is not less than that. */
static const char *lower_bound(const struct strlist *paths, const char *path, size_t len, char last)
{
	size_t at;

	LOWER_BOUND(at, paths->nr, order(paths->items[at], path, len, last) < 0);
	return at < paths->nr ? paths->items[at] : NULL;
}

static bool has(const struct strlist *paths, const char *path, size_t len)
{
	const char *item = lower_bound(paths, path, len, '\0');

	return item && !order(item, path, len, '\0');
}

bool pathset_has(const struct strlist *paths, const char *path)
{
	return paths->nr && has(paths, path, strlen(path));
}

bool pathset_covers(const struct strlist *paths, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (has(paths, path, (size_t)(slash - path)))
			return true;
	return pathset_has(paths, path) || pathset_has(paths, "");
}

bool pathset_reaches(const struct strlist *paths, const char *path)
{
	size_t len = strlen(path);
	const char *item = lower_bound(paths, path, len, '/');

	return item && !order(item, path, len, '/');
}
