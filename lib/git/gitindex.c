/* SPDX-License-Identifier: MIT */
#include "git/gitindex.h"

#include "base/base.h"
#include "git/gitstate.h"
#include "git/indexfile_internal.h"
#include "git/indexload_internal.h"

static bool is_submodule(const struct index_entry *entry)
{
	return (indexfile_mode(entry) & 0170000) == 0160000;
}

static bool has_stages(const struct gitindex *index)
{
	for (size_t i = 0; i < index->nr; i++)
		if (indexfile_stage(index, &index->entries[i]))
			return true;
	return false;
}

/* The stages of a conflict become one entry, in a list of our own. */
static void drop_stages(struct gitindex *index)
{
	const struct index_entry *all = index->entries;
	size_t kept = 0;

	index->entries = xcalloc(index->nr, sizeof(*all));
	memcpy(index->entries, all, index->nr * sizeof(*all));
	for (size_t i = 0; i < index->nr; i++) {
		struct index_entry *entry = &index->entries[i];
		struct index_entry *prev = kept ? &index->entries[kept - 1] : NULL;

		if (!prev || strcmp(prev->name, entry->name))
			index->entries[kept++] = *entry;
		else if (is_submodule(entry))
			*prev = *entry;
	}
	index->nr = kept;
}

/* Compare `name` with `path` + `suffix`. */
static int order(const char *name, const char *path, size_t len, const char *suffix)
{
	int cmp = strncmp(name, path, len);

	return cmp ? cmp : strcmp(name + len, suffix);
}

/* The first entry that is not less than `path` + `suffix`, or the number of all. */
static size_t lower_bound(const struct gitindex *index, const char *path, size_t len,
			  const char *suffix)
{
	size_t at;

	LOWER_BOUND(at, index->nr, order(index->entries[at].name, path, len, suffix) < 0);
	return at;
}

static bool has_below(const struct gitindex *index, const char *path, size_t len)
{
	size_t i = lower_bound(index, path, len, "/");

	return i < index->nr && !strncmp(index->entries[i].name, path, len) &&
	       index->entries[i].name[len] == '/';
}

int gitindex_open(struct gitindex **out, const char *worktree, const char *gitdir, bool sha256)
{
	const struct gitindex *all;
	struct gitindex *index;
	int err = indexload(&all, worktree, gitdir, sha256);

	if (err)
		return err;
	index = xcalloc(1, sizeof(*index));
	*index = *all;
	index->of = all;
	if (has_stages(index))
		drop_stages(index);
	*out = index;
	return 0;
}

void gitindex_close(struct gitindex *index)
{
	if (!index)
		return;
	if (index->entries != index->of->entries)
		free(index->entries);
	indexload_release(index->of);
	free(index);
}

static const struct index_entry *find(const struct gitindex *index, const char *path)
{
	size_t i = lower_bound(index, path, strlen(path), "");

	return i < index->nr && !strcmp(index->entries[i].name, path) ? &index->entries[i] : NULL;
}

bool gitindex_has(const struct gitindex *index, const char *path)
{
	return find(index, path) != NULL;
}

bool gitindex_has_below(const struct gitindex *index, const char *path)
{
	const struct index_entry *entry;

	if (!*path)
		return index->nr > 0;
	if (has_below(index, path, strlen(path)))
		return true;
	entry = find(index, path);
	return entry && is_submodule(entry);
}

size_t gitindex_count(const struct gitindex *index)
{
	return index->nr;
}
