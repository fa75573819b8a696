/* SPDX-License-Identifier: MIT */
#include "gitstate/gitread.h"

#include "gitstate/gitstate_internal.h"

/* When the questions of a thread must have been answered; 0: each has GITSTATE_PATIENCE. */
static _Thread_local double ask_until;

/* How often a repository that is being changed is read. */
enum { TRIES = 3 };

struct gitstate_entry *gitstate_add_entry(struct gitstate *state, const char *path, unsigned mode,
					  const char *oid, unsigned stage, unsigned flags)
{
	struct gitstate_entry *entry;

	entry = ALLOC_NEXT(state->entries, state->entries_nr, state->entries_alloc);
	*entry = (struct gitstate_entry){
		.path = xstrdup(path), .mode = mode, .stage = stage, .flags = flags
	};
	snprintf(entry->oid, sizeof(entry->oid), "%s", oid);
	return entry;
}

static int compare_entries(const void *a_, const void *b_)
{
	const struct gitstate_entry *a = a_, *b = b_;
	int order = strcmp(a->path, b->path);

	return order ? order : (int)a->stage - (int)b->stage;
}

void gitstate_sort_entries(struct gitstate *state)
{
	if (state->entries_nr)
		qsort(state->entries, state->entries_nr, sizeof(*state->entries), compare_entries);
}

static struct gitstate_ref new_ref(const char *name, const char *oid, const char *note)
{
	return (struct gitstate_ref){
		.name = xstrdup(name), .oid = xstrdup(oid), .note = note ? xstrdup(note) : NULL
	};
}

void gitstate_add_branch(struct gitstate *state, const char *name, const char *oid)
{
	*ALLOC_NEXT(state->branches, state->branches_nr, state->branches_alloc) =
		new_ref(name, oid, NULL);
}

void gitstate_add_stash(struct gitstate *state, const char *oid, const char *note)
{
	char name[40];

	snprintf(name, sizeof(name), "stash@{%zu}", state->stashes_nr);
	*ALLOC_NEXT(state->stashes, state->stashes_nr, state->stashes_alloc) =
		new_ref(name, oid, note);
}

void gitstate_add_private_ref(struct gitstate *state, const char *name, const char *oid)
{
	*ALLOC_NEXT(state->private_refs, state->private_refs_nr, state->private_refs_alloc) =
		new_ref(name, oid, NULL);
}

void gitstate_add_file(struct gitstate *state, const char *path, const void *data, size_t len)
{
	*ALLOC_NEXT(state->files, state->files_nr, state->files_alloc) = (struct gitstate_file){
		.path = xstrdup(path), .data = xmemdupz(data, len), .len = len
	};
}

static void release_refs(struct gitstate_ref *refs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(refs[i].name);
		free(refs[i].oid);
		free(refs[i].note);
	}
	free(refs);
}

void gitstate_release(struct gitstate *state)
{
	free(state->head);
	free(state->ref);
	free(state->head_tree);
	for (size_t i = 0; i < state->entries_nr; i++)
		free(state->entries[i].path);
	free(state->entries);
	release_refs(state->branches, state->branches_nr);
	release_refs(state->stashes, state->stashes_nr);
	release_refs(state->private_refs, state->private_refs_nr);
	for (size_t i = 0; i < state->files_nr; i++) {
		free(state->files[i].path);
		free(state->files[i].data);
	}
	free(state->files);
	strlist_release(&state->branch_config);
	free(state->operation);
	free(state->autostash);
	memset(state, 0, sizeof(*state));
}

int gitstate_ask(struct strbuf *out, const struct repo *repo, const char *const args[])
{
	double left = ask_until > 0 ? ask_until - clock_monotonic() : GITSTATE_PATIENCE;
	const struct gitrun how = { .gitdir = repo->gitdir,
				    .worktree = repo->worktree,
				    /* A moment is always left: nothing would mean for ever. */
				    .patience = left > 0.1 ? left : 0.1 };
	int err = askgit(out, &how, args);

	if (err == CKPT_ELOCKED)
		err = ckpt_error_set(err, "'git %s' did not answer in time", args[0]);
	return err;
}

/* --- how one sees that it may have changed --- */

/*
 * The stat data of all files and directories that it is read from. git never changes one of these in
 * place; it writes a lock beside it and renames that, so that the directory changes, too.
 */

/* Deeper than any name of a branch. */
enum { DEPTH_MAX = 200 };

struct noting {
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
static void add_stat_line(struct strbuf *out, struct stat *st, const struct repo *repo, char where,
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

static void note_path(struct noting *noting, char where, const char *path, int depth);

/* A link to a directory is not followed, as when the files are read. */
static bool gone_or_link(int error)
{
	return error == ENOENT || error == ELOOP || error == ENOTDIR;
}

static void note_below(struct noting *noting, char where, const char *path, int depth)
{
	char *full = xstrfmt("%s/%s", base_of(noting->repo, where), path);
	struct strlist names = STRLIST_INIT;

	if (fs_names(&names, AT_FDCWD, full, O_NOFOLLOW, NULL) < 0 && !gone_or_link(errno) &&
	    !noting->err)
		noting->err = ckpt_error_errno("unable to read '%s'", full);
	strlist_sort_unique(&names);
	for (size_t i = 0; i < names.nr && !noting->err; i++) {
		char *below = xstrfmt("%s/%s", path, names.items[i]);

		note_path(noting, where, below, depth + 1);
		free(below);
	}
	strlist_release(&names);
	free(full);
}

static void note_path(struct noting *noting, char where, const char *path, int depth)
{
	struct stat st;

	if (noting->err)
		return;
	add_stat_line(noting->out, &st, noting->repo, where, path);
	if (!st.st_mode)
		return;
	if (clock_ns(&st.st_mtim) > noting->newest)
		noting->newest = clock_ns(&st.st_mtim);
	if (clock_ns(&st.st_ctim) > noting->newest)
		noting->newest = clock_ns(&st.st_ctim);
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		note_below(noting, where, path, depth);
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))
		noting->err = ckpt_error_set(CKPT_ERROR, "'%s/%s' is not a regular file",
					     base_of(noting->repo, where), path);
}

static void note_all(struct noting *noting, const char *const names[])
{
	for (size_t i = 0; names[i]; i++)
		note_path(noting, 'g', names[i], 0);
}

/*
 * `newest_out` is the latest time in it, in nanoseconds: if the clock of files was not past it before
 * the call, the text cannot be relied on later. Fails at what git would wait for, such as a FIFO.
 */
static int note_stat(struct strbuf *out, int64_t *newest_out, const struct repo *repo)
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
	struct noting noting = { .out = out, .repo = repo };

	note_all(&noting, own);
	note_all(&noting, gitstate_root_refs);
	note_all(&noting, gitstate_op_files);
	note_all(&noting, gitstate_op_dirs);
	for (size_t i = 0; shared[i]; i++)
		note_path(&noting, 'c', shared[i], 0);
	*newest_out = noting.newest;
	return noting.err;
}

bool gitstate_is_same(const char *text, size_t len, const struct repo *repo)
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
		add_stat_line(&line, &st, repo, *p, path);
		same = !strcmp(line.buf, p);
	}
	strbuf_release(&line);
	return same;
}

/* --- reading it --- */

static int read_once(struct gitstate *out, const struct repo *repo)
{
	struct gitstate state = GITSTATE_INIT;
	int err = gitstate_read_refs(&state, repo);

	if (!err)
		err = gitstate_read_index(&state, repo);
	if (!err)
		err = gitstate_read_operation(&state, repo);
	if (!err)
		err = gitstate_check(&state);
	if (err)
		gitstate_release(&state);
	*out = state;
	return err;
}

/* Again if another process changed something meanwhile: its parts must fit together. */
int gitstate_read_noted(struct gitstate *out, struct strbuf *stat, const struct repo *repo,
			double until)
{
	double latest = clock_monotonic() + GITSTATE_PATIENCE;
	struct strbuf before = STRBUF_INIT;
	int err = 0;

	ask_until = until > 0 && until < latest ? until : latest;

	for (int tries = 0; tries < TRIES; tries++) {
		int64_t start = clock_file_ns(), newest = 0;

		strbuf_reset(&before);
		err = note_stat(&before, &newest, repo);
		memset(out, 0, sizeof(*out));
		if (!err)
			err = read_once(out, repo);
		if (gitstate_is_same(before.buf, before.len, repo)) {
			if (!err && newest < start) {
				strbuf_add(stat, before.buf, before.len);
				gitstate_refs_known(repo, &before);
			}
			break;
		}
		gitstate_release(out);
		if (!err)
			err = ckpt_error_set(CKPT_ELOCKED,
					     "another process goes on changing the "
					     "repository '%s'",
					     repo->gitdir);
	}
	strbuf_release(&before);
	ask_until = 0;
	return err;
}

int gitstate_read(struct gitstate *out, const struct repo *repo)
{
	struct strbuf stat = STRBUF_INIT;
	int err = gitstate_read_noted(out, &stat, repo, 0);

	strbuf_release(&stat);
	return err;
}
