/* SPDX-License-Identifier: MIT */
#include "git/gitstat.h"

#include "base/base.h"
#include "git/gitstate_internal.h"
#include "git/repo.h"

/* Deeper than any name of a branch. */
enum { DEPTH_MAX = 200 };

struct taking {
	struct strbuf *out;
	const struct repo *repo;
	int64_t newest;
	int err;
};

static const char *base_of(const struct repo *repo, char where)
{
	return where == 'g' ? repo->gitdir : repo->commondir;
}

/*
 * "<g or c> <kind> <dev> <ino> <size> <mtime> <ctime> <path>", or "- <path>" in place
 * of the numbers. Of a link, what it leads to counts. The size of a directory is
 * what the file system likes.
 */
static void add_line(struct strbuf *out, struct stat *st, const struct repo *repo, char where,
		     const char *path)
{
	struct strbuf full = STRBUF_INIT;

	strbuf_addf(&full, "%s/%s", base_of(repo, where), path);
	if (!stat(full.buf, st) || !lstat(full.buf, st)) {
		strbuf_addf(out,
			    "%c %o %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s",
			    where, (unsigned)(st->st_mode & S_IFMT), (uint64_t)st->st_dev,
			    (uint64_t)st->st_ino, S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size,
			    (uint64_t)clock_ns(&st->st_mtim), (uint64_t)clock_ns(&st->st_ctim), path);
	} else {
		memset(st, 0, sizeof(*st));
		strbuf_addf(out, "%c - %s", where, path);
	}
	strbuf_addch(out, '\0');
	strbuf_release(&full);
}

static void take(struct taking *taking, char where, const char *path, int depth);

/* A link to a directory is not followed, as when the files are read. */
static bool gone_or_link(int error)
{
	return error == ENOENT || error == ELOOP || error == ENOTDIR;
}

static void take_below(struct taking *taking, char where, const char *path, int depth)
{
	char *full = xstrfmt("%s/%s", base_of(taking->repo, where), path);
	struct strlist names = STRLIST_INIT;

	if (fs_names(&names, AT_FDCWD, full, O_NOFOLLOW, NULL) < 0 && !gone_or_link(errno) &&
	    !taking->err)
		taking->err = ckpt_error_errno("unable to read '%s'", full);
	strlist_sort_unique(&names);
	for (size_t i = 0; i < names.nr && !taking->err; i++) {
		char *below = xstrfmt("%s/%s", path, names.items[i]);

		take(taking, where, below, depth + 1);
		free(below);
	}
	strlist_release(&names);
	free(full);
}

static void take(struct taking *taking, char where, const char *path, int depth)
{
	struct stat st;

	if (taking->err)
		return;
	add_line(taking->out, &st, taking->repo, where, path);
	if (!st.st_mode)
		return;
	if (clock_ns(&st.st_mtim) > taking->newest)
		taking->newest = clock_ns(&st.st_mtim);
	if (clock_ns(&st.st_ctim) > taking->newest)
		taking->newest = clock_ns(&st.st_ctim);
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		take_below(taking, where, path, depth);
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))
		taking->err = ckpt_error_set(CKPT_ERROR, "'%s/%s' is not a regular file",
					     base_of(taking->repo, where), path);
}

static void take_all(struct taking *taking, const char *const names[])
{
	for (size_t i = 0; names[i]; i++)
		take(taking, 'g', names[i], 0);
}

int gitstat_take(struct strbuf *out, int64_t *newest_out, const struct repo *repo)
{
	static const char *const own[] = { "HEAD",
					   "index",
					   "refs/bisect",
					   "refs/rewritten",
					   "refs/worktree",
					   "reftable/tables.list",
					   NULL };
	static const char *const shared[] = {
		"config",	   "packed-refs",	   "refs/heads", "refs/stash",
		"logs/refs/stash", "reftable/tables.list", NULL
	};
	struct taking taking = { .out = out, .repo = repo };

	take_all(&taking, own);
	take_all(&taking, gitstate_root_refs);
	take_all(&taking, gitstate_op_files);
	take_all(&taking, gitstate_op_dirs);
	for (size_t i = 0; shared[i]; i++)
		take(&taking, 'c', shared[i], 0);
	*newest_out = taking.newest;
	return taking.err;
}

bool gitstat_same(const char *text, size_t len, const struct repo *repo)
{
	struct strbuf line = STRBUF_INIT;
	bool same = len > 0;

	for (const char *p = text, *end = text + len; p < end && same; p += strlen(p) + 1) {
		const char *path = p;
		struct stat st;

		if (!memchr(p, '\0', (size_t)(end - p)) || (*p != 'g' && *p != 'c'))
			same = false;
		/* After the second blank, or the seventh. */
		for (int blanks = same && !strncmp(p + 1, " - ", 3) ? 2 : 7; blanks && same;
		     blanks--) {
			path = strchr(path, ' ');
			same = path != NULL;
			path += same;
		}
		if (!same || *path == '/' || strstr(path, "..")) {
			same = false;
			break;
		}
		strbuf_reset(&line);
		add_line(&line, &st, repo, *p, path);
		same = !strcmp(line.buf, p);
	}
	strbuf_release(&line);
	return same;
}
