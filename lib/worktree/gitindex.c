/* SPDX-License-Identifier: MIT */
#include "worktree/gitindex.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/spawn.h"
#include "base/strbuf.h"
#include "worktree/indexfile.h"

#include <stdlib.h>
#include <string.h>

/*
 * `git ls-files` must not write (no optional lock), not fetch what a partial
 * clone lacks, and not run what the configuration of the repository names.
 */
static int ask_git(struct gitindex *index, const char *worktree, const char *gitdir)
{
	char *gitdir_arg = xstrfmt("--git-dir=%s", gitdir);
	char *worktree_arg = xstrfmt("--work-tree=%s", worktree);
	const char *const argv[] = {
		"env", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"-c", "safe.directory=*", gitdir_arg, worktree_arg, "ls-files", "-z", "--stage",
		NULL,
	};
	struct strbuf out = STRBUF_INIT;
	int err = spawn_capture(&out, worktree, argv);
	size_t len = out.len;
	char *line;

	if (err) {
		err = ckpt_error_set(err == CKPT_ENOTFOUND ? CKPT_ERROR : CKPT_ECORRUPT,
				     "unable to read the index in '%s': 'git ls-files' failed",
				     gitdir);
		goto out;
	}
	line = index->data[0] = strbuf_detach(&out, NULL);
	/* "<mode> <hash> <stage>\t<name>" */
	for (char *end = line + len; line < end; line += strlen(line) + 1) {
		char *tab = strchr(line, '\t');

		if (!tab) {
			err = ckpt_error_set(CKPT_ECORRUPT, "unable to read the index in '%s': "
					     "'git ls-files' said '%s'", gitdir, line);
			goto out;
		}
		indexfile_add(index, tab + 1, (unsigned)strtoul(line, NULL, 8));
	}
out:
	strbuf_release(&out);
	free(gitdir_arg);
	free(worktree_arg);
	return err;
}

/* Lookups rely on the order, so it is verified; the stages of a conflict become one entry. */
static int check_order(struct gitindex *index, const char *file)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->nr; i++) {
		struct index_entry *entry = &index->entries[i];
		struct index_entry *prev = kept ? &index->entries[kept - 1] : NULL;
		int order = prev ? strcmp(prev->name, entry->name) : -1;

		if (!*entry->name)
			return indexfile_corrupt(file, "an entry has no name");
		if (order > 0)
			return indexfile_corrupt(file, "its entries are not in order");
		if (order < 0) {
			index->entries[kept++] = *entry;
			continue;
		}
		prev->submodule |= entry->submodule;
	}
	index->nr = kept;
	return 0;
}

static void clear(struct gitindex *index)
{
	free(index->entries);
	free(index->data[0]);
	free(index->data[1]);
	arena_release(&index->names);
	memset(index, 0, sizeof(*index));
}

/* The first entry that is not before `path` + `suffix`, or the number of all. */
static size_t lower_bound(const struct gitindex *index, const char *path, size_t len,
			  const char *suffix)
{
	size_t low = 0, high = index->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const char *name = index->entries[mid].name;
		int order = strncmp(name, path, len);

		if (!order)
			order = strcmp(name + len, suffix);
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool has_below(const struct gitindex *index, const char *path, size_t len)
{
	size_t i = lower_bound(index, path, len, "/");

	return i < index->nr && !strncmp(index->entries[i].name, path, len) &&
	       index->entries[i].name[len] == '/';
}

/*
 * git expands the directories of a sparse index, but if it lacks a tree it
 * leaves the directory out and is content; then so much of what is tracked
 * would be unknown to us.
 */
static int ask_git_to_expand(struct gitindex *sparse, const char *worktree, const char *gitdir,
			     const char *file)
{
	struct gitindex full = { .names = ARENA_INIT };
	int err = ask_git(&full, worktree, gitdir);

	if (!err)
		err = check_order(&full, file);
	for (size_t i = 0; !err && i < sparse->nr; i++) {
		const char *name = sparse->entries[i].name;
		size_t len = strlen(name);

		if (len && name[len - 1] == '/' && !has_below(&full, name, len - 1))
			err = ckpt_error_set(CKPT_ECORRUPT, "unable to read the index in '%s': the "
					     "tree of the sparse directory '%s' is missing",
					     gitdir, name);
	}
	clear(sparse);
	*sparse = full;
	return err;
}

int gitindex_open(struct gitindex **out, const char *worktree, const char *gitdir, bool sha256)
{
	struct gitindex *index = xcalloc(1, sizeof(*index));
	char *file = xstrfmt("%s/index", gitdir);
	bool needs_git = false;
	int err = indexfile_read(index, &needs_git, file, gitdir, sha256 ? 32 : 20);

	if (err == CKPT_ENOTFOUND)
		err = 0;
	else if (!err && needs_git)
		err = ask_git_to_expand(index, worktree, gitdir, file);
	else if (!err)
		err = check_order(index, file);
	free(file);
	if (err)
		gitindex_close(index);
	else
		*out = index;
	return err;
}

void gitindex_close(struct gitindex *index)
{
	if (!index)
		return;
	clear(index);
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
	return entry && entry->submodule;
}

size_t gitindex_count(const struct gitindex *index)
{
	return index->nr;
}
