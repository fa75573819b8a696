/* SPDX-License-Identifier: MIT */
#include "git/indexload_internal.h"

#include "base/base.h"
#include "git/askgit.h"
#include "git/indexfile_internal.h"

#include <pthread.h>

/* `args` ends with a NULL. */
static int ask(struct strbuf *out, const char *worktree, const char *gitdir,
	       const char *const args[])
{
	const struct gitrun how = { .gitdir = gitdir, .worktree = worktree };
	int err = askgit(out, &how, args);

	if (err)
		err = ckpt_error_prefix(err == CKPT_ENOTFOUND ? CKPT_ERROR : CKPT_ECORRUPT,
					"unable to read the index in '%s'", gitdir);
	return err;
}

/* An extension that we do not know may change what the entries mean. */
static int read_with_git(struct gitindex *index, const char *worktree, const char *gitdir)
{
	static const char *const more[] = { "ls-files", "-z", "--stage", "--sparse", NULL };
	struct strbuf out = STRBUF_INIT;
	int err = ask(&out, worktree, gitdir, more);
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

		if (!tab || (size_t)(tab - line) != 7 + 2 * index->hash_len + 2)
			err = ckpt_error_set(CKPT_ECORRUPT,
					     "unable to read the index in '%s': "
					     "'git ls-files' said '%s'",
					     gitdir, line);
		else
			indexfile_add(index, tab + 1, mode, line + 7,
				      (unsigned)(tab[-1] - '0') & INDEXFILE_ADD_STAGE);
		index->sparse |= mode == 040000;
	}
	return err;
}

/* The files of a directory that a sparse index has as one entry. */
static int add_tree(struct gitindex *index, const char *worktree, const char *gitdir,
		    const struct index_entry *dir)
{
	char hex[SHA256_HEX + 1];
	const char *const args[] = { "ls-tree", "-r", "-z", "--full-tree", hex, NULL };
	struct strbuf out = STRBUF_INIT, path = STRBUF_INIT;
	int err;

	oid_hex_encode(hex, dir->raw + INDEXFILE_OID, index->hash_len);
	err = ask(&out, worktree, gitdir, args);
	/* "<mode> <type> <hash>\t<name>" */
	for (size_t i = 0; !err && i < out.len; i += strlen(out.buf + i) + 1) {
		const char *line = out.buf + i, *tab = strchr(line, '\t');

		if (!tab || (size_t)(tab - line) < 2 * index->hash_len)
			continue;
		strbuf_reset(&path);
		strbuf_addf(&path, "%s%s", dir->name, tab + 1);
		indexfile_add(index, arena_memdupz(&index->names, path.buf, path.len),
			      (unsigned)strtoul(line, NULL, 8), tab - 2 * index->hash_len,
			      INDEXFILE_ADD_SKIPPED);
	}
	strbuf_release(&path);
	strbuf_release(&out);
	return err;
}

/*
 * Asked for the files of a sparse index as a whole, git builds the trees of
 * all directories and writes those that the repository does not have yet. So
 * it is asked for each tree separately.
 */
static int expand(struct gitindex *index, const char *worktree, const char *gitdir)
{
	struct index_entry *old = index->entries;
	size_t nr = index->nr;
	int err = 0;

	index->entries = NULL;
	index->nr = index->alloc = 0;
	for (size_t i = 0; i < nr && !err; i++) {
		if (indexfile_mode(&old[i]) == 040000) {
			err = add_tree(index, worktree, gitdir, &old[i]);
		} else {
			ALLOC_GROW(index->entries, index->nr + 1, index->alloc);
			index->entries[index->nr++] = old[i];
		}
	}
	free(old);
	return err;
}

/* Whoever looks something up relies on the order. */
static int check_order(const struct gitindex *index, const char *file)
{
	for (size_t i = 0; i < index->nr; i++) {
		if (!*index->entries[i].name)
			return indexfile_corrupt(file, "an entry has no name");
		if (i && strcmp(index->entries[i - 1].name, index->entries[i].name) > 0)
			return indexfile_corrupt(file, "its entries are not in order");
	}
	return 0;
}

static int load(struct gitindex *index, const char *file, const char *worktree,
		const char *gitdir, bool sha256)
{
	bool needs_git = false;
	int err;

	*index = (struct gitindex){ .hash_len = sha256 ? 32 : 20, .names = ARENA_INIT };
	err = indexfile_read(index, &needs_git, file, gitdir);
	if (err == CKPT_ENOTFOUND)
		err = 0;
	if (!err && needs_git) {
		indexfile_release(index);
		err = read_with_git(index, worktree, gitdir);
	}
	if (!err && index->sparse)
		err = expand(index, worktree, gitdir);
	return err ? err : check_order(index, file);
}

/* --- sharing --- */

/* The one that was read last. It is used itself, until another takes its place. */
static struct {
	pthread_mutex_t lock;
	char *file;
	struct stat st; /* from before it was read */
	bool settled;	/* they show whether it has changed since */
	struct gitindex *index;
} last = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void drop(struct gitindex *index)
{
	if (!index || --index->uses)
		return;
	indexfile_release(index);
	free(index);
}

static int replace_last(const char *file, const struct stat *st, const char *worktree,
			const char *gitdir, bool sha256)
{
	struct gitindex *index = xcalloc(1, sizeof(*index));
	int64_t now = clock_file_ns();
	int err = load(index, file, worktree, gitdir, sha256);

	index->uses = 1;
	if (err) {
		drop(index);
		return err;
	}
	drop(last.index);
	free(last.file);
	last.index = index;
	last.file = xstrdup(file);
	last.st = *st;
	last.settled = st->st_ino && fs_is_settled(st, now);
	return 0;
}

int indexload(const struct gitindex **out, const char *worktree, const char *gitdir, bool sha256)
{
	char *file = xstrfmt("%s/index", gitdir);
	struct stat st;
	int err = 0;

	if (stat(file, &st) < 0)
		memset(&st, 0, sizeof(st));
	pthread_mutex_lock(&last.lock);
	if (!last.index || !last.settled || strcmp(last.file, file) != 0 ||
	    !fs_same_file(&last.st, &st) || last.index->hash_len != (sha256 ? 32 : 20))
		err = replace_last(file, &st, worktree, gitdir, sha256);
	if (!err) {
		last.index->uses++;
		*out = last.index;
	}
	pthread_mutex_unlock(&last.lock);
	free(file);
	return err;
}

void indexload_release(const struct gitindex *index)
{
	pthread_mutex_lock(&last.lock);
	drop((struct gitindex *)index);
	pthread_mutex_unlock(&last.lock);
}
