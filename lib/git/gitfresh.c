/* SPDX-License-Identifier: MIT */
#include "git/gitfresh.h"

#include "base/base.h"
#include "git/askgit.h"
#include "git/gitconfig.h"
#include "git/gitfile.h"
#include "git/repo.h"

static const char attributes_name[] = ".gitattributes";

/* Two writes within this time may have the same time, on file systems that keep more than seconds. */
enum { TICK_NS = 20000000 };

/* --- decisions --- */

bool gitfresh_bytes_differ(const char *attributes)
{
	static const char *const words[] = { "filter", "ident", "encoding" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(attributes, words[i]))
			return true;
	return false;
}

char *gitfresh_only_commit(bool *twice_out, const char *reflog)
{
	const char *first = NULL;
	size_t nr = 0;

	/* "<old> <new> <name> ...\n" */
	for (const char *line = reflog; *line;) {
		const char *end = strchr(line, '\n'), *now = line + OID_HEX + 1;

		if (!end || end - line < 2 * (OID_HEX + 1) || line[OID_HEX] != ' ' ||
		    now[OID_HEX] != ' ' || strspn(now, "0123456789abcdef") != OID_HEX)
			return NULL;
		if (!first)
			first = now;
		if (strncmp(first, now, OID_HEX))
			return NULL;
		line = end + 1;
		nr++;
	}
	*twice_out = nr == 2;
	return first && nr <= 2 ? xmemdupz(first, OID_HEX) : NULL;
}

/* --- attributes --- */

/* Its text is of no concern, and has not been another since `from_ns`. */
static bool harmless(const char *path, int64_t from_ns)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	bool fine;

	if (stat(path, &st) < 0) {
		const char *slash = strrchr(path, '/');
		char *dir = slash ? xmemdupz(path, (size_t)(slash - path)) : NULL;

		/* If it was removed since, its directory shows it. */
		fine = errno == ENOENT && dir &&
		       (stat(dir, &st) < 0 ? errno == ENOENT :
					     clock_ns(&st.st_ctim) + TICK_NS < from_ns);
		free(dir);
		return fine;
	}
	fine = S_ISREG(st.st_mode) && clock_ns(&st.st_ctim) + TICK_NS < from_ns &&
	       !fs_read_file(&text, AT_FDCWD, path) && strlen(text.buf) == text.len &&
	       !gitfresh_bytes_differ(text.buf);
	strbuf_release(&text);
	return fine;
}

/* Those for all repositories, of the user and of the system, wherever git was installed. */
static bool others_harmless(const struct repo *repo, const struct gitconfig *config, int64_t from_ns)
{
	char *info = xstrfmt("%s/info/attributes", repo->commondir);
	char *dir = env_user_dir("XDG_CONFIG_HOME", ".config");
	struct strbuf own = STRBUF_INIT, full = STRBUF_INIT;
	bool fine;

	if (!gitconfig_path(&own, config, "core.attributesfile") && dir)
		strbuf_addf(&own, "%s/git/attributes", dir);
	if (own.len)
		path_absolute(&full, repo->worktree, own.buf);
	fine = harmless(info, from_ns) && (!full.len || harmless(full.buf, from_ns)) &&
	       harmless("/etc/gitattributes", from_ns) &&
	       harmless("/usr/local/etc/gitattributes", from_ns) &&
	       !gitconfig_get(config, "attr.tree", GITCONFIG_COMMAND);
	strbuf_release(&full);
	strbuf_release(&own);
	free(dir);
	free(info);
	return fine;
}

struct look {
	const struct gitfresh *fresh;
	const struct repo *repo;
	int64_t newest_ns; /* of those that were looked at */
};

/* The file is what git wrote, so what it says is what applied. */
static bool tracked_harmless(const char *path, void *payload)
{
	struct look *look = payload;
	char *full = xstrfmt("%s/%s", look->repo->worktree, path);
	struct strbuf text = STRBUF_INIT;
	struct oid oid;
	struct stat st;
	bool fine = !lstat(full, &st) && gitfresh_wrote(&oid, look->fresh, path, &st) &&
		    !fs_read_file(&text, AT_FDCWD, full) && strlen(text.buf) == text.len &&
		    !gitfresh_bytes_differ(text.buf);

	if (fine && clock_ns(&st.st_ctim) > look->newest_ns)
		look->newest_ns = clock_ns(&st.st_ctim);
	strbuf_release(&text);
	free(full);
	return fine;
}

/* The index has the files with attributes that the commit has, none was removed or added. */
static bool index_has_all(const struct repo *repo, const char *commit)
{
	const char *const args[] = { "diff-index", "--cached", "--name-only", "-z", commit,
				     "--", ":(glob)**/.gitattributes", NULL };
	const struct gitrun how = { .gitdir = repo->gitdir, .worktree = repo->worktree };
	struct strbuf out = STRBUF_INIT;
	bool same = !askgit(&out, &how, args) && !out.len;

	strbuf_release(&out);
	return same;
}

/* --- all of it --- */

/* When it was written; 0 if it cannot be read. */
static int64_t written_ns(const char *dir, const char *name)
{
	char *path = xstrfmt("%s/%s", dir, name);
	struct stat st;
	int64_t ns = !stat(path, &st) && S_ISREG(st.st_mode) ? clock_ns(&st.st_mtim) : 0;

	free(path);
	return ns;
}

/*
 * When git was done, from what it wrote last: a line about the branch or, without a branch, only
 * where HEAD was. The commit that it wrote; NULL if there is any doubt.
 */
static char *find_end(struct gitfresh *fresh, const struct repo *repo)
{
	char *path = xstrfmt("%s/logs/HEAD", repo->gitdir), *commit = NULL, *was = NULL;
	struct strbuf text = STRBUF_INIT;
	bool twice = false;

	/* Before it is read: should it be written meanwhile, then less is certain, not more. */
	fresh->to_ns = written_ns(repo->gitdir, "logs/HEAD");
	if (!fs_read_file(&text, AT_FDCWD, path) && strlen(text.buf) == text.len)
		commit = gitfresh_only_commit(&twice, text.buf);
	if (commit && !twice) {
		fresh->to_ns = written_ns(repo->gitdir, "ORIG_HEAD");
		was = gitfile_read(repo->gitdir, "ORIG_HEAD");
	}
	if (commit && !twice && (!was || strcmp(was, commit))) {
		free(commit);
		commit = NULL;
	}
	free(was);
	strbuf_release(&text);
	free(path);
	return commit;
}

bool gitfresh_open(struct gitfresh *out, const struct repo *repo, const struct gitconfig *config,
		   int64_t after_ns)
{
	struct gitfresh fresh = { 0 };
	struct look look = { &fresh, repo, 0 };
	char *commit = NULL;
	bool sure;

	if (repo->sha256 || !strcmp(repo->gitdir, repo->commondir))
		return false;
	fresh.from_ns = written_ns(repo->gitdir, "commondir");
	fresh.index_ns = written_ns(repo->gitdir, "index");
	sure = fresh.from_ns > after_ns && fresh.index_ns && (commit = find_end(&fresh, repo)) &&
	       others_harmless(repo, config, fresh.from_ns) &&
	       !gitindex_open(&fresh.index, repo->worktree, repo->gitdir, false) &&
	       gitindex_each_named(fresh.index, attributes_name, tracked_harmless, &look) &&
	       index_has_all(repo, commit);
	free(commit);
	/* One that was changed and put back is newer than what was written in between. */
	if (look.newest_ns > fresh.from_ns)
		fresh.from_ns = look.newest_ns;
	if (sure)
		*out = fresh;
	else
		gitfresh_release(&fresh);
	return sure;
}

void gitfresh_release(struct gitfresh *fresh)
{
	gitindex_close(fresh->index);
	fresh->index = NULL;
}

bool gitfresh_wrote(struct oid *out, const struct gitfresh *fresh, const char *path,
		    const struct stat *st)
{
	int64_t mtime = clock_ns(&st->st_mtim), ctime = clock_ns(&st->st_ctim);
	struct gitindex_file file;

	if (!S_ISREG(st->st_mode) || !gitindex_file(&file, fresh->index, path) ||
	    file.mtime_ns != mtime || file.ctime_ns != ctime || file.ino != (uint32_t)st->st_ino ||
	    st->st_size > INT32_MAX || file.size != (uint32_t)st->st_size)
		return false;
	/* Whole seconds: a file system that may not keep more. */
	if (!(mtime % 1000000000) || !(ctime % 1000000000))
		return false;
	/* git's rule about files that changed when the index was written, with a margin. */
	if (mtime + TICK_NS >= fresh->index_ns || ctime + TICK_NS >= fresh->index_ns)
		return false;
	if (ctime < fresh->from_ns || ctime > fresh->to_ns || mtime < fresh->from_ns)
		return false;
	*out = file.oid;
	return true;
}
