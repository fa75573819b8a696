/* SPDX-License-Identifier: MIT */
#include "ops/hook.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/path.h"
#include "base/procs.h"
#include "ops/autostash.h"
#include "ops/hookrules.h"
#include "ops/save.h"
#include "ops/session.h"
#include "store/store.h"
#include "worktree/repo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- the clock --- */

enum {
	DEFAULT_SECONDS = 10, /* until the settings are read */
	GRACE_SECONDS = 1,    /* to stop in good order */
};

struct watch {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	double deadline;
	bool running, over;
	atomic_bool expired;
	hook_give_up_fn give_up;
};

static void wait_until(struct watch *watch, double when)
{
	struct timespec ts = { .tv_sec = (time_t)when,
			       .tv_nsec = (long)((when - (double)(time_t)when) * 1e9) };

	pthread_cond_timedwait(&watch->changed, &watch->lock, &ts);
}

static void *watch_main(void *payload)
{
	struct watch *watch = payload;

	pthread_mutex_lock(&watch->lock);
	while (!watch->over && clock_monotonic() < watch->deadline)
		wait_until(watch, watch->deadline);
	if (!watch->over) {
		double end = clock_monotonic() + GRACE_SECONDS;

		/* As if somebody had asked to stop: all that takes long looks at this. */
		atomic_store(&watch->expired, true);
		kill(getpid(), SIGTERM);
		while (!watch->over && clock_monotonic() < end)
			wait_until(watch, end);
		if (!watch->over)
			watch->give_up("it takes longer than hookTimeout allows");
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static void watch_start(struct watch *watch, hook_give_up_fn give_up)
{
	pthread_condattr_t attr;

	memset(watch, 0, sizeof(*watch));
	watch->give_up = give_up;
	watch->deadline = clock_monotonic() + DEFAULT_SECONDS;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->changed, &attr);
	pthread_condattr_destroy(&attr);
	/* Without it the shim's own limit holds. */
	watch->running = !pthread_create(&watch->thread, NULL, watch_main, watch);
}

static void watch_set(struct watch *watch, double deadline)
{
	pthread_mutex_lock(&watch->lock);
	watch->deadline = deadline;
	pthread_cond_signal(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
}

static void watch_end(struct watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	watch->over = true;
	pthread_cond_signal(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	if (watch->running)
		pthread_join(watch->thread, NULL);
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
}

/* --- marks --- */

struct mark {
	int fd;         /* -1: none */
	bool done;      /* nothing is left to be done */
	double spent;   /* seconds, by hooks before this one */
	double start;
};

/* "<what> <with ignored files> <milliseconds>"; a mark that only began is one that was killed. */
enum { MARK_BEGUN = 'b', MARK_TAKEN = 't', MARK_FAILED = 'f' };

static void mark_write(const struct mark *mark, char what, bool ignored)
{
	double spent = mark->spent + clock_monotonic() - mark->start;
	char text[64];
	int len = snprintf(text, sizeof(text), "%c %d %010ld\n", what, ignored,
			   (long)(spent * 1000));

	/* Losing it costs at most a second checkpoint. */
	if (mark->fd >= 0)
		(void)fs_pwrite_all(mark->fd, text, (size_t)len, 0);
}

static void mark_read(struct mark *mark, bool want_ignored)
{
	char text[64] = "", what;
	long spent = 0;
	int ignored = 0;

	if (fs_pread_full(mark->fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%c %d %ld", &what, &ignored, &spent) != 3)
		return;
	mark->spent = (double)spent / 1000;
	mark->done = what != MARK_TAKEN || ignored || !want_ignored;
}

/* Marks of processes that are gone. */
static void sweep(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	while (dir && (ent = readdir(dir))) {
		unsigned long long start;
		long pid;

		if (sscanf(ent->d_name, "%ld-%llu", &pid, &start) == 2 &&
		    !proc_alive("/proc", (pid_t)pid, start))
			unlinkat(dirfd, ent->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* A directory that only this user can write to; -1 if it cannot be had. */
static int private_dir(const char *path, bool create)
{
	struct stat st;
	int fd;

	if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 077)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_mark(const char *dir, const char *name, int flags)
{
	int dirfd = private_dir(dir, flags & O_CREAT), fd;

	if (dirfd < 0)
		return -1;
	fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	if (fd >= 0 && flags & O_CREAT)
		sweep(dirfd);
	close(dirfd);
	return fd;
}

/* In the store, else beside everything else that does not outlive a session. */
static void mark_find(struct mark *mark, const struct proc *top, const char *worktree, bool create)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	char key[STORE_KEY_SIZE], *home = NULL, *name, *dirs[2];
	bool runtime_ok = runtime && runtime[0] == '/';

	store_key(key, worktree);
	dirs[0] = store_home(&home) ? NULL : xstrfmt("%s/%s/checkpoint/hooks", home, key);
	dirs[1] = runtime_ok ? xstrfmt("%s/git-checkpoint-hooks", runtime) :
			       xstrfmt("%s/git-checkpoint-hooks-%ld", tmp && *tmp ? tmp : "/tmp",
				       (long)geteuid());
	name = xstrfmt("%ld-%llu-%s", (long)top->pid, (unsigned long long)top->start, key);
	for (int i = 0; i < (create ? 4 : 2) && mark->fd < 0; i++)
		if (dirs[i % 2])
			mark->fd = open_mark(dirs[i % 2], name, i < 2 ? 0 : O_CREAT);
	free(name);
	free(dirs[0]);
	free(dirs[1]);
	free(home);
}

/* Find or make the mark and lock it. */
static void mark_enter(struct mark *mark, const struct hook_decision *decision,
		       const char *worktree)
{
	struct timespec pause = { .tv_nsec = 5000000 };

	*mark = (struct mark){ .fd = -1, .start = clock_monotonic() };
	if (!decision->top)
		return;
	mark_find(mark, decision->top, worktree, true);
	if (mark->fd < 0)
		return;
	while (flock(mark->fd, LOCK_EX | LOCK_NB) < 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || cancel_check()) {
			/* Another hook of the same command is at it, and says what comes of it. */
			mark->done = true;
			return;
		}
		nanosleep(&pause, NULL);
	}
	mark_read(mark, decision->include_ignored);
	if (!mark->done)
		mark_write(mark, MARK_BEGUN, decision->include_ignored);
}

static void mark_leave(struct mark *mark)
{
	if (mark->fd >= 0)
		close(mark->fd);
}

/* The usual case, a hundred times in a long rebase: all was done, and nothing has to be opened. */
static bool is_settled(const struct hook_decision *decision)
{
	struct mark mark = { .fd = -1 };
	char *cwd = decision->top ? path_real(".") : NULL;

	if (cwd)
		mark_find(&mark, decision->top, cwd, false);
	if (mark.fd >= 0 && !flock(mark.fd, LOCK_EX | LOCK_NB))
		mark_read(&mark, decision->include_ignored);
	mark_leave(&mark);
	free(cwd);
	return mark.done;
}

/* --- the place --- */

static bool has_component(const char *path, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = path; (p = strstr(p, name)); p += len)
		if ((p == path || p[-1] == '/') && (!p[len] || p[len] == '/'))
			return true;
	return false;
}

/*
 * git calls hooks at the top of the worktree; GIT_DIR alone then means that
 * this is it. In a bare repository, and for a push, it is the git directory.
 */
static bool find_place(void)
{
	const char *git_dir = env_git("GIT_DIR"), *work_tree = env_git("GIT_WORK_TREE");
	char *cwd = path_real("."), *real = git_dir && *git_dir ? path_real(git_dir) : NULL;
	bool good = cwd && !path_has_dotgit(cwd) && !has_component(cwd, ".git-rewrite");

	if (good && real && path_below(cwd, real))
		good = false;
	if (good && real && (!work_tree || !*work_tree))
		env_assume("GIT_WORK_TREE", ".");
	free(real);
	free(cwd);
	return good;
}

static bool is_unborn(const struct repo *repo)
{
	struct repo_state state = { 0 };
	bool unborn = !repo_read_state(&state, repo) && !state.head;

	repo_state_release(&state);
	return unborn;
}

/* --- the checkpoint --- */

/* Only where untracked files go: elsewhere it would be said each time. */
static void note_secrets(struct strlist *out, const struct session *session,
			 const struct hook_decision *decision, const struct skip_list *skips)
{
	bool removes = decision->include_ignored || !strcmp(decision->command, "clean");

	for (size_t i = 0; removes && i < skips->nr; i++) {
		char *path;

		if (skips->items[i].why != SKIP_SENSITIVE)
			continue;
		/* If nothing changed, they are those of the checkpoint that there is. */
		path = xstrfmt("%s/%s", session->worktree, skips->items[i].path);
		if (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
			strlist_add(out, skips->items[i].path);
		free(path);
	}
}

/* What is ignored is at times more than is allowed: the rest is saved without it then. */
static int save_what_is_allowed(struct save_result *result, char **no_ignored_out,
				struct session *session, struct save_opts *opts)
{
	int err = ckpt_save(result, session, opts);
	char *why;

	if ((err != CKPT_EREFUSED && !(err && result->no_room)) || !opts->include_ignored)
		return err;
	why = xstrdup(ckpt_error_last());
	save_result_release(result);
	opts->include_ignored = false;
	err = ckpt_save(result, session, opts);
	if (err)
		free(why);
	else
		*no_ignored_out = why;
	return err;
}

static int save(struct hook_result *out, const struct hook_decision *decision,
		struct session *session, struct autostash *stash)
{
	static const struct strlist everything = STRLIST_INIT;
	char *reason = xstrfmt("pre-%s", decision->command);
	struct save_opts opts = {
		.reason = reason,
		.source = "hook",
		.step = -1,
		.include_ignored = decision->include_ignored,
		.no_auto_captures = true, /* a dump may take longer than a git command may wait */
		.scope = &everything,
	};
	struct save_result result = { 0 };
	int err;

	if (stash) {
		opts.amend = autostash_amend;
		opts.amend_payload = stash;
		opts.notes = autostash_notes(stash);
	}
	err = save_what_is_allowed(&result, &out->no_ignored, session, &opts);
	if (session->store)
		strlist_extend(&out->mended, &session->store->mended);
	if (!err && result.outcome == SAVE_CREATED) {
		out->outcome = HOOK_SAVED;
		out->id = xstrdup(result.record.id);
		out->missing = result.record.missing;
	}
	if (!err)
		note_secrets(&out->secrets, session, decision, &result.skips);
	save_result_release(&result);
	free(reason);
	return err;
}

static int take(struct hook_result *out, const struct hook_decision *decision, struct watch *watch,
		const struct mark *mark)
{
	struct autostash *stash = NULL;
	struct session session;
	int64_t limit;
	int err = session_open(&session, SESSION_SAVE);

	if (err)
		return err;
	limit = session.settings.hook_timeout;
	out->quiet = session.settings.hook_quiet;
	if (limit > 0) {
		double deadline = mark->start + (double)limit - mark->spent;

		watch_set(watch, deadline);
		/* Who has the lock may have it for long. */
		if (session.settings.lock_timeout > limit)
			session.settings.lock_timeout = limit;
	}
	if (decision->autostash)
		err = autostash_open(&stash, session.repo);
	if (!err)
		err = save(out, decision, &session, stash);
	autostash_free(stash);
	session_close(&session);
	return err;
}

static void fail(struct hook_result *out, const struct watch *watch)
{
	out->outcome = HOOK_FAILED;
	if (atomic_load(&watch->expired))
		out->why = xstrdup("it takes longer than hookTimeout allows");
	else if (cancel_signal())
		/* The user stops git; it will not do anything either. */
		out->outcome = HOOK_NOTHING;
	else
		out->why = xstrdup(ckpt_error_last());
}

void hook_take(struct hook_result *out, const struct hook_decision *decision,
	       hook_give_up_fn give_up)
{
	struct repo *repo = NULL;
	struct watch watch;
	struct mark mark;
	int err;

	memset(out, 0, sizeof(*out));
	if (is_settled(decision) || !find_place())
		return;
	watch_start(&watch, give_up);
	err = repo_discover(&repo);
	if (err) {
		/* Nothing to be saved here, unless somebody said that there is. */
		if (err != CKPT_ENOTFOUND && env_git("GIT_DIR"))
			fail(out, &watch);
		watch_end(&watch);
		return;
	}
	if (!decision->only_unborn || is_unborn(repo)) {
		mark_enter(&mark, decision, repo->worktree);
		if (!mark.done) {
			err = take(out, decision, &watch, &mark);
			if (err)
				fail(out, &watch);
			mark_write(&mark, err ? MARK_FAILED : MARK_TAKEN,
				   decision->include_ignored);
		}
		mark_leave(&mark);
	}
	watch_end(&watch);
	repo_free(repo);
}

void hook_result_release(struct hook_result *result)
{
	free(result->id);
	free(result->no_ignored);
	free(result->why);
	strlist_release(&result->mended);
	strlist_release(&result->secrets);
	memset(result, 0, sizeof(*result));
}
