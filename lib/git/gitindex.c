/* SPDX-License-Identifier: MIT */
#include "git/gitindex.h"

#include "base/base.h"
#include "git/askgit.h"
#include "git/indexfile_internal.h"

/* `more` ends with a NULL. */
static int ask_git(struct strbuf *out, const char *worktree, const char *gitdir,
		   const char *const more[])
{
	const struct gitrun how = { .gitdir = gitdir, .worktree = worktree };
	int err = askgit(out, &how, more);

	if (err)
		err = ckpt_error_prefix(err == CKPT_ENOTFOUND ? CKPT_ERROR : CKPT_ECORRUPT,
					"unable to read the index in '%s'", gitdir);
	return err;
}

/* The files of a directory that a sparse index has as one entry. */
static int add_tree(struct gitindex *index, const char *worktree, const char *gitdir,
		    const char *dir, char *hash)
{
	const char *const more[] = { "ls-tree", "-r", "-z", "--full-tree", hash, NULL };
	size_t dir_len = strlen(dir);
	struct strbuf out = STRBUF_INIT, path = STRBUF_INIT;
	int err;

	hash[strcspn(hash, " ")] = '\0';
	err = ask_git(&out, worktree, gitdir, more);
	for (size_t i = 0; !err && i < out.len; i += strlen(out.buf + i) + 1) {
		const char *tab = strchr(out.buf + i, '\t');

		if (!tab)
			continue;
		strbuf_reset(&path);
		strbuf_addf(&path, "%.*s%s", (int)dir_len, dir, tab + 1);
		indexfile_add(index, arena_memdupz(&index->names, path.buf, path.len),
			      (unsigned)strtoul(out.buf + i, NULL, 8));
	}
	strbuf_release(&path);
	strbuf_release(&out);
	return err;
}

/*
 * Asked for the files of a sparse index as a whole, git builds the trees of
 * all directories and writes those that the repository does not have yet. So
 * it is asked for the entries as they are, and for each tree separately.
 */
static int read_with_git(struct gitindex *index, const char *worktree, const char *gitdir)
{
	static const char *const more[] = { "ls-files", "-z", "--stage", "--sparse", NULL };
	struct strbuf out = STRBUF_INIT;
	int err = ask_git(&out, worktree, gitdir, more);
	size_t len = out.len;
	char *line;

	if (err) {
		strbuf_release(&out);
		return err;
	}
	line = index->data[0] = strbuf_detach(&out, NULL);
	/* "<mode> <hash> <stage>\t<name>" */
	for (char *end = line + len; !err && line < end; line += strlen(line) + 1) {
		char *tab = strchr(line, '\t');
		unsigned mode = (unsigned)strtoul(line, NULL, 8);

		if (!tab) {
			err = ckpt_error_set(CKPT_ECORRUPT, "unable to read the index in '%s': "
					     "'git ls-files' said '%s'", gitdir, line);
		} else if (mode == 040000) {
			char *hash = xmemdupz(line + 7, (size_t)(tab - line) - 7);

			err = add_tree(index, worktree, gitdir, tab + 1, hash);
			free(hash);
		} else {
			indexfile_add(index, tab + 1, mode);
		}
	}
	return err;
}

/* Lookups rely on the order, so it is checked; the stages of a conflict become one entry. */
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

/* The first entry that is not less than `path` + `suffix`, or the number of all. */
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

static int reread_with_git(struct gitindex *index, const char *worktree, const char *gitdir,
			   const char *file)
{
	int err;

	clear(index);
	index->names = (struct arena)ARENA_INIT;
	err = read_with_git(index, worktree, gitdir);
	return err ? err : check_order(index, file);
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
		err = reread_with_git(index, worktree, gitdir, file);
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
