/* SPDX-License-Identifier: MIT */
/*
 * Where a copy may be. Everything is written relative to one descriptor of the
 * destination, and what is refused is decided from that descriptor: a link that
 * changes meanwhile leads nowhere else.
 */
#include "restore/into_internal.h"

#include <sys/file.h>

/* The file that marks an unfinished copy. */
#define MARKER ".git-checkpoint-into"
#define MARKER_BEGIN "This directory is an unfinished copy of the checkpoint "

enum { MARKER_MAX = 16 << 20 };

void into_result_release(struct into_result *result)
{
	free(result->path);
	free(result->head);
	strlist_release(&result->differing);
	strlist_release(&result->warnings);
	memset(result, 0, sizeof(*result));
}

static void init_into(struct into *into, struct into_result *out, struct session *session,
		      const struct into_opts *opts)
{
	memset(out, 0, sizeof(*out));
	memset(into, 0, sizeof(*into));
	into->session = session;
	into->opts = opts;
	into->out = out;
	into->fd = into->marker_fd = -1;
	into->hold = (struct keepers_hold)KEEPERS_HOLD_INIT;
	strlist_extend(&into->paths, opts->paths);
	/* The root, which is sorted before all others, covers them. */
	if (into->paths.nr && !*into->paths.items[0])
		strlist_release(&into->paths);
}

static void release_into(struct into *into)
{
	into_write_release(into);
	into_git_release(&into->git);
	snapshot_free(into->tree);
	keepers_let_go(&into->hold);
	fs_close(into->marker_fd);
	fs_close(into->fd);
	free(into->marker);
	strlist_release(&into->paths);
}

/* --- what is refused --- */

/* Directories in which there must be no copy, and how to call them. */
struct taboo {
	const char *path, *what;
};

enum { TABOOS = 5 };

static size_t list_taboos(struct taboo out[TABOOS], const struct session *session)
{
	size_t nr = 0;

	out[nr++] = (struct taboo){ session->worktree, "the worktree" };
	if (session->repo) {
		out[nr++] = (struct taboo){ session->repo->gitdir, "the repository" };
		out[nr++] = (struct taboo){ session->repo->commondir, "the repository" };
	}
	out[nr++] = (struct taboo){ session->home, "the home of the checkpoints" };
	out[nr++] = (struct taboo){ session->store->path, "the store" };
	return nr;
}

static int refuse_taboo(const char *dir, const struct taboo *taboo)
{
	return ckpt_error_set(
		CKPT_ERROR,
		"'%s' is in %s, '%s'; a copy has to be outside of that; nothing was touched", dir,
		taboo->what, taboo->path);
}

/* By the path alone, in which links are resolved. */
static int check_path(const struct into *into)
{
	static const struct taboo dotgit = { ".git", "a git directory" };
	struct taboo taboos[TABOOS];
	size_t nr = list_taboos(taboos, into->session);
	const char *path = into->out->path;

	for (size_t i = 0; i < nr; i++)
		if (path_below(path, taboos[i].path))
			return refuse_taboo(path, &taboos[i]);
	return path_has_dotgit(path) ? refuse_taboo(path, &dotgit) : 0;
}

/* A directory may be mounted in two places: from this one up to the root, none must be one of them. */
static int check_above(const struct into *into, int fd)
{
	struct taboo taboos[TABOOS];
	size_t nr = list_taboos(taboos, into->session);
	struct stat of[TABOOS], st, last = { 0 };
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 0), err = 0;

	for (size_t i = 0; i < nr; i++)
		if (stat(taboos[i].path, &of[i]) < 0)
			memset(&of[i], 0, sizeof(of[i]));
	while (at >= 0 && !err && !fstat(at, &st)) {
		int next;

		if (st.st_ino == last.st_ino && st.st_dev == last.st_dev)
			break;
		for (size_t i = 0; i < nr && !err; i++)
			if (of[i].st_ino == st.st_ino && of[i].st_dev == st.st_dev)
				err = refuse_taboo(into->out->path, &taboos[i]);
		last = st;
		next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	fs_close(at);
	return err;
}

/* --- the file that marks it --- */

/* Which copy it is, as it is asked for. */
static void add_request(struct strbuf *out, const struct into_opts *opts)
{
	strbuf_addf(out, "%s%s", opts->target->id, opts->worktree ? " --worktree" : "");
	if (opts->branch) {
		strbuf_addstr(out, " -b ");
		quote_shell(out, opts->branch);
	}
	strbuf_addstr(out, opts->paths->nr ? " --" : "");
	for (size_t i = 0; i < opts->paths->nr; i++) {
		strbuf_addch(out, ' ');
		quote_shell(out, *opts->paths->items[i] ? opts->paths->items[i] : ".");
	}
}

/* For people; and so much of it as is returned decides which copy it is, wherever that is now. */
static size_t add_marker_text(struct strbuf *out, const struct into *into)
{
	size_t decides;

	strbuf_addstr(out, MARKER_BEGIN);
	add_request(out, into->opts);
	strbuf_addstr(out, "\nThis command continues it:\n\n");
	decides = out->len;
	strbuf_addstr(out, "    git -C ");
	quote_shell(out, into->session->worktree);
	strbuf_addstr(out, " checkpoint restore --into ");
	quote_shell(out, into->out->path);
	strbuf_addch(out, ' ');
	add_request(out, into->opts);
	strbuf_addstr(out, "\n\nIf it is not needed, the directory can be removed.\n");
	return decides;
}

/* Who made the file may be somebody else: only what looks like an id is shown. */
static int refuse_other(const struct into *into, const char *text)
{
	size_t begin = strlen(MARKER_BEGIN);
	char *id = strncmp(text, MARKER_BEGIN, begin)
			   ? NULL
			   : xmemdupz(text + begin, strcspn(text + begin, " \n"));
	int err = ckpt_error_set(CKPT_EREFUSED,
				 "'%s' has an unfinished copy of %s%s; its file '%s' tells which command "
				 "continues it",
				 into->out->path,
				 id && refs_valid_id(id) ? id : "something else",
				 id && !strcmp(id, into->opts->target->id) ? " that was asked for in another way"
									   : "",
				 into->marker);

	free(id);
	return err;
}

/* 0 if it marks the same copy. `alone`: nothing else is in the directory. */
static int check_marker(const struct into *into, bool alone)
{
	struct strbuf text = STRBUF_INIT, expected = STRBUF_INIT;
	size_t decides = add_marker_text(&expected, into);
	struct stat st;
	ssize_t got = -1;
	int err = 0;

	if (!fstat(into->marker_fd, &st) && st.st_size <= MARKER_MAX) {
		strbuf_grow(&text, (size_t)st.st_size);
		got = fs_pread_full(into->marker_fd, text.buf, (size_t)st.st_size, 0);
		strbuf_setlen(&text, got < 0 ? 0 : (size_t)got);
	}
	if (got < 0)
		err = ckpt_error_set(CKPT_EREFUSED, "unable to read '%s/%s'", into->out->path,
				     into->marker);
	/* A process may have been killed while it wrote it; then there is nothing else yet. */
	else if (!(alone && text.len < expected.len && !memcmp(text.buf, expected.buf, text.len)) &&
		 (text.len < decides || memcmp(text.buf, expected.buf, decides) != 0))
		err = refuse_other(into, text.buf);
	strbuf_release(&text);
	strbuf_release(&expected);
	return err;
}

/* Whoever has it open is making this copy. */
static int lock_marker(struct into *into)
{
	if (!flock(into->marker_fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return ckpt_error_set(CKPT_ELOCKED, "another process is making the copy in '%s'",
				      into->out->path);
	return ckpt_error_errno("unable to lock '%s/%s'", into->out->path, into->marker);
}

/* Before anything else is in the directory; or again, if a process was killed meanwhile. */
static int write_marker(struct into *into)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	int err = 0;

	(void)add_marker_text(&text, into);
	if (into->marker_fd < 0) {
		into->marker_fd = openat(into->fd, into->marker,
					 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		err = into->marker_fd < 0 ? ckpt_error_errno("unable to create '%s/%s'",
							     into->out->path, into->marker)
					  : lock_marker(into);
		into->begun = !err;
	}
	if (!err && !fstat(into->marker_fd, &st) && (size_t)st.st_size < text.len &&
	    (fs_pwrite_all(into->marker_fd, text.buf, text.len, 0) < 0 ||
	     (!into->opts->passing && (fsync(into->marker_fd) < 0 || fsync(into->fd) < 0))))
		err = ckpt_error_errno("unable to write '%s/%s'", into->out->path, into->marker);
	strbuf_release(&text);
	return err;
}

char *into_aside_name(const struct into *into)
{
	return xstrfmt("%s.git", into->marker);
}

bool into_is_own(const struct into *into, const char *name)
{
	char *aside = into_aside_name(into);
	bool own = !strcmp(name, into->marker) || !strcmp(name, aside) ||
		   (into->opts->worktree && !strcmp(name, ".git"));

	free(aside);
	return own;
}

/* --- finding it --- */

static bool has_dotdot(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2)
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

/* Absolute, with all links resolved that exist. */
static int resolve_path(struct into *into)
{
	const char *typed = into->opts->dir;
	char *full = *typed == '/' ? xstrdup(typed) : xstrfmt("%s/%s", into->session->cwd, typed);
	char *real = path_resolve(full);
	struct strbuf clean = STRBUF_INIT;
	int err = 0;

	/* Whatever ".." leads to does not exist. */
	if (has_dotdot(real))
		err = ckpt_error_set(CKPT_ENOTFOUND, "the directory above '%s' does not exist", typed);
	else
		path_absolute(&clean, "/", real);
	into->out->path = strbuf_detach(&clean, NULL);
	free(full);
	free(real);
	return err;
}

/* The directory that is there, of those that lead to it. */
static int open_existing(int *fd_out, struct into *into)
{
	char *path = xstrdup(into->out->path);
	int err = 0;

	while ((*fd_out = open(*path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0 &&
	       errno == ENOENT) {
		into->made = strlen(path);
		*strrchr(path, '/') = '\0';
	}
	if (*fd_out < 0)
		err = ckpt_error_errno("unable to open '%s'", *path ? path : "/");
	free(path);
	return err;
}

/* What is in it: nothing, or an unfinished copy of the same. */
static int look_inside(struct into *into)
{
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (fs_names(&names, into->fd, ".", 0, NULL) < 0)
		err = ckpt_error_errno("unable to read the directory '%s'", into->out->path);
	if (!err && names.nr && !strlist_has(&names, into->marker))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' is not empty; name a directory that is new or empty",
				     into->out->path);
	if (!err && names.nr) {
		into->marker_fd = fs_open_regular(NULL, into->fd, into->marker, O_RDWR | O_NOFOLLOW);
		err = into->marker_fd < 0 ? fs_open_failed(into->marker) : lock_marker(into);
		if (!err)
			err = check_marker(into, names.nr == 1);
		into->begun = into->left = into->out->continued = !err;
	}
	strlist_release(&names);
	return err;
}

/* A name for the marker, and what is beside it, that the checkpoint has not got itself. */
static int name_marker(struct into *into)
{
	const struct wt_dir *root = into->tree->root;
	int err = snapshot_expand(into->tree, into->tree->root);
	bool taken;

	into->marker = xstrdup(MARKER);
	do {
		char *aside = into_aside_name(into), *next;

		taken = !err && (wt_child(root, into->marker, strlen(into->marker)) ||
				 wt_child(root, aside, strlen(aside)));
		next = taken ? xstrfmt("%s~", into->marker) : xstrdup(into->marker);
		free(aside);
		free(into->marker);
		into->marker = next;
	} while (taken);
	return err;
}

static int open_destination(struct into *into)
{
	struct stat st;
	int err;

	into->fd = open(into->out->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (into->fd < 0 || fstat(into->fd, &st) < 0)
		return ckpt_error_errno("unable to open the directory '%s'", into->out->path);
	err = check_above(into, into->fd);
	return err ? err : look_inside(into);
}

/* Find the destination, refuse a bad one, and open it if it exists. */
static int find_destination(struct into *into)
{
	int fd = -1, err = resolve_path(into);

	if (!err)
		err = check_path(into);
	if (!err)
		err = name_marker(into);
	if (!err)
		err = open_existing(&fd, into);
	if (!err)
		err = check_above(into, fd);
	if (!err && !into->made)
		err = open_destination(into);
	fs_close(fd);
	return err;
}

/* --- taking it --- */

/* No more open than the worktree: what is private there stays private. */
static mode_t mode_of_root(const struct into *into)
{
	struct stat st;

	return stat(into->session->worktree, &st) < 0 ? 0700 : (st.st_mode & 0777) | 0700;
}

/* From the innermost out, as far as nothing is in them. */
static void remove_dirs(const struct into *into, char *path)
{
	while (into->made && strlen(path) >= into->made && !rmdir(path))
		*strrchr(path, '/') = '\0';
}

static int make_dirs(struct into *into)
{
	char *path = xstrdup(into->out->path), *end = path + into->made;
	bool last = false;
	int err = 0;

	while (!last && !err) {
		last = !*end;
		*end = '\0';
		if (mkdir(path, last ? mode_of_root(into) : 0777) < 0) {
			err = ckpt_error_errno("unable to create the directory '%s'", path);
			*strrchr(path, '/') = '\0';
			remove_dirs(into, path);
			into->made = 0;
		} else if (!last) {
			*end = '/';
			end += 1 + strcspn(end + 1, "/");
		}
	}
	free(path);
	return err;
}

/* Make and mark it, unless it is there and marked. */
static int take_destination(struct into *into)
{
	int err = 0;

	if (!into->begun && into->made) {
		err = make_dirs(into);
		/* What it is now may not be what it was when it was refused or not. */
		if (!err)
			err = open_destination(into);
	}
	return err ? err : write_marker(into);
}

/* Make durable what was written. */
static int sync_copy(struct into *into)
{
	if (!into->opts->passing && syncfs(into->fd) < 0)
		return ckpt_error_errno("unable to sync '%s'", into->out->path);
	return 0;
}

/* Remove the marker: it is finished. */
static int finish_destination(struct into *into)
{
	if (unlinkat(into->fd, into->marker, 0) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to remove '%s/%s'", into->out->path, into->marker);
	into->begun = false;
	if (!into->opts->passing && fsync(into->fd) < 0)
		return ckpt_error_errno("unable to sync '%s'", into->out->path);
	return 0;
}

/* After a failure: remove what was made if nothing is in it. */
static void leave_destination(const struct into *into)
{
	char *path = xstrdup(into->out->path ? into->out->path : "");

	if (!into->begun)
		remove_dirs(into, path);
	free(path);
}

/* --- the order of events --- */

/* Read what is to be copied; the store is not locked, but this checkpoint stays while we do. */
static int open_target(struct into *into)
{
	struct store *store = into->session->store;
	const struct ckpt_record *target = into->opts->target;
	int err;

	if (target->state_only)
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' holds only state, no files",
				      target->id);
	err = objects_open(store);
	if (!err)
		err = keepers_hold(&into->hold, store, target->id);
	return err ? err : snapshot_open(&into->tree, store, target);
}

static int check_paths(struct into *into)
{
	for (size_t i = 0; i < into->paths.nr; i++) {
		struct wt_entry *entry = NULL;
		int err = snapshot_find(&entry, into->tree, into->paths.items[i]);

		if (err)
			return err;
		if (!entry)
			return ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not in checkpoint '%s'",
					      into->paths.items[i], into->opts->target->id);
	}
	return 0;
}

/* Everything up to the point where something is written. */
static int prepare_copy(struct into *into)
{
	int err = open_target(into);

	if (!err)
		err = check_paths(into);
	if (!err)
		err = find_destination(into);
	if (!err)
		err = into_list(into);
	if (!err)
		err = into_git_plan(into);
	if (!err)
		err = into_check_left(into);
	return err ? err : into_hash_target(into);
}

/* The disk is busy with the one while the processor is with the other. */
static int sync_or_verify(size_t index, unsigned worker UNUSED, void *payload)
{
	struct into *into = payload;

	if (index)
		return sync_copy(into);
	return into->opts->no_verify ? 0 : into_verify(into);
}

/*
 * A live file from which contents were taken may have been written to meanwhile;
 * the store has them, too.
 */
static int write_and_verify(struct into *into)
{
	int err = into_write(into);

	if (!err)
		err = pool_for(into->session->threads, 2, sync_or_verify, into);
	if (!err && into->out->verified && !into->out->match && into->out->cloned) {
		into->left = into->no_clones = true;
		err = into_write(into);
		if (!err)
			err = pool_for(into->session->threads, 2, sync_or_verify, into);
	}
	return err;
}

static int make_copy(struct into *into)
{
	int err = take_destination(into);

	if (!err)
		err = write_and_verify(into);
	/* What is not right stays marked as unfinished. */
	if (err || (into->out->verified && !into->out->match))
		return err;
	if (into->opts->worktree) {
		err = into_git_apply(into);
		if (!err)
			err = sync_copy(into);
	}
	return err ? err : finish_destination(into);
}

static void add_to_log(const struct into *into)
{
	struct session *session = into->session;
	char *where = xstrfmt("into %s", into->out->path);
	/* If somebody keeps the lock for long, a line that gets lost is the smaller evil. */
	bool locked = !store_lock(session->store, session->settings.lock_timeout);

	(void)audit_add_restore(session->store, "into", into->opts->target,
				into->opts->reason ? into->opts->reason : where,
				into->opts->source,
				into->out->verified ? into->out->post_hash : NULL, JOURNAL_FILES);
	if (locked)
		store_unlock(session->store);
	free(where);
}

static int explain_failure(const struct into *into, int err)
{
	if (err == CKPT_ECANCELLED)
		return ckpt_error_set(err, "interrupted; the same command continues the copy in '%s'",
				      into->out->path);
	return ckpt_error_prefix(err, "the copy in '%s' is unfinished, the same command continues it",
				 into->out->path);
}

int into_run(struct into_result *out, struct session *session, const struct into_opts *opts)
{
	struct into into;
	int err;

	init_into(&into, out, session, opts);
	err = prepare_copy(&into);
	if (!err)
		err = make_copy(&into);
	if (err) {
		char *kept = ckpt_error_keep();

		leave_destination(&into);
		err = ckpt_error_put_back(err, kept);
		if (into.begun && !opts->passing && err != CKPT_EREFUSED && err != CKPT_ELOCKED)
			err = explain_failure(&into, err);
	} else if (!opts->passing) {
		add_to_log(&into);
	}
	release_into(&into);
	if (err)
		into_result_release(out);
	return err;
}
