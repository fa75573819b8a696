/* SPDX-License-Identifier: MIT */
#include "hooks/hook_mark_internal.h"

#include "base/base.h"
#include "hooks/hook_rules.h"
#include "store/store.h"

#include <sys/file.h>

/*
 * "<what> <extent> <milliseconds> <process>": for which of the commands that
 * change files it was. A mark that only says "begun" was left by a killed
 * hook.
 */
enum { MARK_BEGUN = 'b', MARK_TAKEN = 't', MARK_FAILED = 'f' };

static void describe_actor(char *out, size_t size, const struct hook_decision *decision)
{
	const struct proc *actor = decision->actor;

	snprintf(out, size, "%ld-%llu", actor ? (long)actor->pid : 0,
		 actor ? (unsigned long long)actor->start : 0);
}

static void mark_write(const struct hook_mark *mark, char what,
		       const struct hook_decision *decision)
{
	double spent = mark->spent + clock_monotonic() - mark->start;
	char text[128], actor[64];
	int len;

	describe_actor(actor, sizeof(actor), decision);
	len = snprintf(text, sizeof(text), "%c %d %010ld %-41s\n", what, (int)decision->extent,
		       (long)(spent * 1000), actor);
	/* Losing it costs at most an extra checkpoint. */
	if (mark->fd >= 0)
		(void)fs_pwrite_all(mark->fd, text, (size_t)len, 0);
}

static void mark_read(struct hook_mark *mark, const struct hook_decision *decision)
{
	char text[128] = "", before[64], actor[64], what;
	long spent = 0;
	int extent = 0;

	if (fs_pread_full(mark->fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%c %d %ld %63s", &what, &extent, &spent, before) != 4)
		return;
	mark->spent = (double)spent / 1000;
	if (what != MARK_TAKEN || extent >= HOOK_TAKES_IGNORED) {
		mark->state = HOOK_MARK_DONE;
		return;
	}
	describe_actor(actor, sizeof(actor), decision);
	if (extent >= (int)decision->extent)
		mark->state = strcmp(actor, before) ? HOOK_MARK_OTHER : HOOK_MARK_DONE;
}

/* Marks of processes that are gone. */
static void sweep(int dirfd)
{
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, dirfd, ".", 0, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		unsigned long long start;
		long pid;

		if (sscanf(names.items[i], "%ld-%llu", &pid, &start) == 2 &&
		    !proc_alive("/proc", (pid_t)pid, start))
			unlinkat(dirfd, names.items[i], 0);
	}
	strlist_release(&names);
}

/* A directory that only this user can write to; -1 if there is none. */
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

/* In the store, or else where other files of the session are. */
static void mark_find(struct hook_mark *mark, const struct proc *top, const char *worktree, bool create)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	char key[STORE_KEY_SIZE], *name, *dirs[2];
	bool runtime_ok = runtime && runtime[0] == '/';

	store_key(key, worktree);
	dirs[0] = mark->home ? xstrfmt("%s/%s/checkpoint/hooks", mark->home, key) : NULL;
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
}

void hook_mark_init(struct hook_mark *mark)
{
	*mark = (struct hook_mark){ .fd = -1 };
	if (store_home(&mark->home))
		mark->home = NULL;
}

static void mark_close(struct hook_mark *mark)
{
	fs_close(mark->fd);
	mark->fd = -1;
}

void hook_mark_release(struct hook_mark *mark)
{
	mark_close(mark);
	free(mark->home);
	mark->home = NULL;
}

void hook_mark_enter(struct hook_mark *mark, const struct hook_decision *decision,
		     const char *worktree)
{
	struct timespec pause = { .tv_nsec = 5000000 };

	mark->state = HOOK_MARK_NONE;
	mark->spent = 0;
	mark->start = clock_monotonic();
	if (!decision->top)
		return;
	mark_find(mark, decision->top, worktree, true);
	if (mark->fd < 0)
		return;
	while (flock(mark->fd, LOCK_EX | LOCK_NB) < 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || cancel_check()) {
			/*
			 * Another hook of the same command is working on it, and reports the
			 * result.
			 */
			mark->state = HOOK_MARK_DONE;
			return;
		}
		nanosleep(&pause, NULL);
	}
	mark_read(mark, decision);
	if (mark->state != HOOK_MARK_DONE)
		mark_write(mark, MARK_BEGUN, decision);
}

void hook_mark_leave(const struct hook_mark *mark, const struct hook_decision *decision, bool taken)
{
	if (mark->state != HOOK_MARK_DONE)
		mark_write(mark, taken ? MARK_TAKEN : MARK_FAILED, decision);
}

bool hook_mark_settled(struct hook_mark *mark, const struct hook_decision *decision)
{
	char *cwd = decision->top ? path_real(".") : NULL;

	if (cwd)
		mark_find(mark, decision->top, cwd, false);
	if (mark->fd >= 0 && !flock(mark->fd, LOCK_EX | LOCK_NB))
		mark_read(mark, decision);
	mark_close(mark);
	free(cwd);
	return mark->state == HOOK_MARK_DONE;
}
