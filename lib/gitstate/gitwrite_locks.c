/* SPDX-License-Identifier: MIT */
#include "gitstate/gitwrite.h"

#include "gitstate/gitstate_internal.h"
#include "gitstate/gitwrite_internal.h"
#include "git/git.h"

/* A git whose parent died removes its locks and ends, which takes a moment. */
enum { WAIT_STEPS = 100, WAIT_STEP_MS = 10 };

const char *gitwrite_holder(const struct repo *repo, const char *ref)
{
	bool shared = !strncmp(ref, "refs/", 5) && strncmp(ref, "refs/bisect/", 12) != 0 &&
		      strncmp(ref, "refs/worktree/", 14) != 0 &&
		      strncmp(ref, "refs/rewritten/", 15) != 0;

	return shared ? repo->commondir : repo->gitdir;
}

/* All locks that git takes for this. */
static void list_locks(struct strlist *out, const struct repo *repo,
		       const struct gitwrite_refs *refs, bool config)
{
	strlist_addf(out, "%s/index.lock", repo->gitdir);
	if (refs) {
		strlist_addf(out, "%s/HEAD.lock", repo->gitdir);
		strlist_addf(out, "%s/packed-refs.lock", repo->commondir);
		strlist_addf(out, "%s/reftable/tables.list.lock", repo->commondir);
		if (strcmp(repo->gitdir, repo->commondir) != 0)
			strlist_addf(out, "%s/reftable/tables.list.lock", repo->gitdir);
	}
	for (size_t i = 0; refs && i < refs->nr; i++)
		strlist_addf(out, "%s/%s.lock", gitwrite_holder(repo, refs->items[i].name),
			     refs->items[i].name);
	if (config)
		strlist_addf(out, "%s/config.lock", repo->commondir);
}

char *gitwrite_find_lock(const struct repo *repo, const struct gitwrite_refs *refs, bool config)
{
	struct strlist locks = STRLIST_INIT;
	char *found = NULL;
	struct stat st;

	list_locks(&locks, repo, refs, config);
	for (size_t i = 0; i < locks.nr && !found; i++)
		if (!lstat(locks.items[i], &st))
			found = xstrdup(locks.items[i]);
	strlist_release(&locks);
	return found;
}

/* --- links --- */

/* Among these, HEAD was a link in old repositories, and is replaced as one. */
static bool is_replaced(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return !strcmp(name, "HEAD") || !strcmp(name, "index");
}

/* Whether `path`, or a directory below the repository's that leads to it, leads elsewhere; it ends there. */
static bool leads_away(const struct repo *repo, char *path, bool log)
{
	const char *below = path_below(path, repo->gitdir);
	char *slash = (char *)(below ? below : path_below(path, repo->commondir));
	struct stat st;

	while ((slash = strchr(slash, '/'))) {
		*slash = '\0';
		if (!lstat(path, &st) && S_ISLNK(st.st_mode))
			return true;
		*slash++ = '/';
	}
	if (lstat(path, &st) < 0 || S_ISDIR(st.st_mode))
		return false;
	return log ? !S_ISREG(st.st_mode) || st.st_nlink > 1
		   : S_ISLNK(st.st_mode) && !is_replaced(path);
}

char *gitwrite_find_link(const struct repo *repo, const struct gitwrite_refs *refs, bool config)
{
	struct strlist paths = STRLIST_INIT;
	size_t logs;
	char *found = NULL;

	list_locks(&paths, repo, refs, config);
	for (size_t i = 0; i < paths.nr; i++)
		*strrchr(paths.items[i], '.') = '\0';
	logs = paths.nr;
	strlist_addf(&paths, "%s/logs/HEAD", repo->gitdir);
	for (size_t i = 0; i < refs->nr; i++)
		strlist_addf(&paths, "%s/logs/%s", gitwrite_holder(repo, refs->items[i].name),
			     refs->items[i].name);
	for (size_t i = 0; i < paths.nr && !found; i++)
		if (leads_away(repo, paths.items[i], i >= logs))
			found = xstrdup(paths.items[i]);
	strlist_release(&paths);
	return found;
}

/* --- after an interruption --- */

/* Where a file cannot have two names; the copy may not have been finished. */
static bool is_copy(const char *lock, const char *own)
{
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
	bool copy = !fs_read_file(&a, AT_FDCWD, lock) && !fs_read_file(&b, AT_FDCWD, own) &&
		    a.len && a.len <= b.len && !memcmp(a.buf, b.buf, a.len);

	strbuf_release(&a);
	strbuf_release(&b);
	return copy;
}

bool gitwrite_owns_index_lock(const struct repo *repo)
{
	char *lock = xstrfmt("%s/index.lock", repo->gitdir);
	char *own = xstrfmt("%s/" GITWRITE_NEW_INDEX, repo->gitdir);
	struct stat a, b;
	bool owns = !lstat(lock, &a) && !lstat(own, &b) &&
		    ((a.st_ino == b.st_ino && a.st_dev == b.st_dev) || is_copy(lock, own));

	free(lock);
	free(own);
	return owns;
}

static void wait_a_moment(void)
{
	struct timespec step = { 0, WAIT_STEP_MS * 1000000L };

	(void)nanosleep(&step, NULL);
}

static bool lock_exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/*
 * When a lock was made that a git of ours left: while we held the lock of the
 * index, which is the last time of which we know that we were alive, or soon
 * after. Others that are not that old belong to somebody who is at work now.
 */
struct span {
	int64_t from, to;
};

enum { LEFT_WITHIN = 10 /* seconds */ };

static struct span find_span(const struct repo *repo, int64_t since)
{
	struct span span = { since, since };
	char *index = xstrfmt("%s/index.lock", repo->gitdir);
	struct stat st;

	if (gitwrite_owns_index_lock(repo) && !lstat(index, &st) && st.st_ctim.tv_sec > since)
		span.to = st.st_ctim.tv_sec;
	span.to += LEFT_WITHIN;
	free(index);
	return span;
}

/* The new value of a branch, or nothing yet. Other locks have nothing that we know beforehand. */
static bool has_our_value(const char *lock, const struct gitwrite_ref *ref)
{
	struct strbuf text = STRBUF_INIT;
	bool ours = !fs_read_text(&text, AT_FDCWD, lock);

	strbuf_trim(&text);
	ours = ours && (!text.len || !strcmp(text.buf, ref->old ? ref->old : "") ||
			!strcmp(text.buf, ref->new ? ref->new : ""));
	strbuf_release(&text);
	return ours;
}

/* Remove one if it is ours: true if it was. */
static bool remove_lock(const char *lock, const struct gitwrite_ref *ref, struct span span)
{
	struct stat st;

	if (lstat(lock, &st) < 0 || !S_ISREG(st.st_mode) || st.st_ctim.tv_sec < span.from ||
	    st.st_ctim.tv_sec > span.to || (ref && !has_our_value(lock, ref)))
		return false;
	for (int i = 0; i < WAIT_STEPS && lock_exists(lock); i++)
		wait_a_moment();
	return !lock_exists(lock) || !unlink(lock);
}

/* Locks of refs that belong to the worktree; which of them were to move is not noted. */
static void list_private_locks(struct strlist *out, const struct repo *repo)
{
	static const char *const dirs[] = { "refs/bisect", "refs/rewritten", "refs/worktree" };

	for (size_t i = 0; gitstate_root_refs[i]; i++)
		strlist_addf(out, "%s/%s.lock", repo->gitdir, gitstate_root_refs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		char *dir = xstrfmt("%s/%s", repo->gitdir, dirs[i]);
		struct strlist names = STRLIST_INIT;

		(void)fs_names(&names, AT_FDCWD, dir, O_NOFOLLOW, NULL);
		for (size_t n = 0; n < names.nr; n++) {
			const char *dot = strrchr(names.items[n], '.');

			if (dot && !strcmp(dot, ".lock"))
				strlist_addf(out, "%s/%s", dir, names.items[n]);
		}
		strlist_release(&names);
		free(dir);
	}
}

static void remove_ref_locks(const struct repo *repo, const struct gitwrite_refs *refs, bool config,
			     struct span span)
{
	static const struct gitwrite_refs none;
	char *index = xstrfmt("%s/index.lock", repo->gitdir);
	char *packed = xstrfmt("%s/packed-refs.lock", repo->commondir);
	struct strlist locks = STRLIST_INIT;

	for (size_t i = 0; i < refs->nr; i++) {
		char *lock = xstrfmt("%s/%s.lock", gitwrite_holder(repo, refs->items[i].name),
				     refs->items[i].name);

		(void)remove_lock(lock, &refs->items[i], span);
		free(lock);
	}
	list_locks(&locks, repo, &none, config);
	list_private_locks(&locks, repo);
	for (size_t i = 0; i < locks.nr; i++) {
		if (!strcmp(locks.items[i], index) || !remove_lock(locks.items[i], NULL, span))
			continue;
		/* git would not write over what is to become packed-refs. */
		if (!strcmp(locks.items[i], packed)) {
			char *beside = xstrfmt("%s/packed-refs.new", repo->commondir);

			(void)unlink(beside);
			free(beside);
		}
	}
	strlist_release(&locks);
	free(packed);
	free(index);
}

/* The lock of the index is the last to go: it tells when the others were made. */
void gitwrite_remove_own(const struct repo *repo, const struct gitwrite_refs *refs, bool config,
			 int64_t since)
{
	char *index = xstrfmt("%s/index.lock", repo->gitdir);
	struct strlist own = STRLIST_INIT;

	if (refs)
		remove_ref_locks(repo, refs, config, find_span(repo, since));
	if (gitwrite_owns_index_lock(repo))
		(void)unlink(index);
	strlist_addf(&own, "%s/" GITWRITE_NEW_INDEX, repo->gitdir);
	strlist_addf(&own, "%s/" GITWRITE_INDEX_COPY, repo->gitdir);
	/* Of the git that was to look at the files. */
	strlist_addf(&own, "%s/" GITWRITE_NEW_INDEX ".lock", repo->gitdir);
	strlist_addf(&own, "%s/" GITWRITE_NEW_INDEX ".files", repo->gitdir);
	for (size_t i = 0; i < own.nr; i++)
		(void)fs_remove_tree(AT_FDCWD, own.items[i]);
	strlist_release(&own);
	free(index);
}
