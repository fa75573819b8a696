/* SPDX-License-Identifier: MIT */
#include "hooks/hook_internal.h"

#include "base/base.h"
#include "store/store.h"

#include <sys/file.h>

/*
 * "<what> <extent> <milliseconds> <process>": for which of the commands that
 * change files it was. One that only says "begun" was left by a killed
 * hook.
 */
enum { ONCE_BEGUN = 'b', ONCE_TAKEN = 't', ONCE_FAILED = 'f' };

static void describe_actor(char *out, size_t size, const struct hook_decision *decision)
{
	const struct proc *actor = decision->actor;

	snprintf(out, size, "%ld-%llu", actor ? (long)actor->pid : 0,
		 actor ? (unsigned long long)actor->start : 0);
}

static void note_state(const struct hook_once *once, char what,
		       const struct hook_decision *decision)
{
	double spent = once->spent + clock_monotonic() - once->start;
	char text[128], actor[64];
	int len;

	describe_actor(actor, sizeof(actor), decision);
	len = snprintf(text, sizeof(text), "%c %d %010ld %-41s\n", what, (int)decision->extent,
		       (long)(spent * 1000), actor);
	/* Losing it costs at most an extra checkpoint. */
	if (once->fd >= 0)
		(void)fs_pwrite_all(once->fd, text, (size_t)len, 0);
}

/* The extents that are not everything. */
static enum hook_reach reach_of(int extent)
{
	return extent == HOOK_TAKES_SOME ? HOOK_REACHES_SOME : HOOK_REACHES_UNTRACKED;
}

static void read_state(struct hook_once *once, const struct hook_decision *decision)
{
	char text[128] = "", before[64], actor[64], what;
	long spent = 0;
	int extent = 0;

	if (fs_pread_full(once->fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%c %d %ld %63s", &what, &extent, &spent, before) != 4)
		return;
	once->spent = (double)spent / 1000;
	if (what != ONCE_TAKEN || extent >= HOOK_TAKES_IGNORED) {
		once->state = HOOK_ONCE_DONE;
		once->answer = (struct hook_answer){ decision->top, HOOK_REACHES_ALL };
		return;
	}
	describe_actor(actor, sizeof(actor), decision);
	if (extent >= (int)decision->extent)
		once->state = strcmp(actor, before) ? HOOK_ONCE_OTHER : HOOK_ONCE_DONE;
	if (once->state == HOOK_ONCE_DONE)
		once->answer = (struct hook_answer){ decision->actor, reach_of(extent) };
}

/* Those of processes that are gone. */
static void remove_stale(int dirfd)
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
static int open_private(const char *path, bool create)
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

static int open_in(const char *dir, const char *name, int flags)
{
	int dirfd = open_private(dir, flags & O_CREAT), fd;

	if (dirfd < 0)
		return -1;
	fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	if (fd >= 0 && flags & O_CREAT)
		remove_stale(dirfd);
	close(dirfd);
	return fd;
}

/* In the store, or else where other files of the session are. */
static void open_file(struct hook_once *once, const struct proc *top, const char *worktree, bool create)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	char key[STORE_KEY_SIZE], *name, *dirs[2];
	bool runtime_ok = runtime && runtime[0] == '/';

	store_key(key, worktree);
	dirs[0] = once->home ? xstrfmt("%s/%s/checkpoint/hooks", once->home, key) : NULL;
	dirs[1] = runtime_ok ? xstrfmt("%s/git-checkpoint-hooks", runtime) :
			       xstrfmt("%s/git-checkpoint-hooks-%ld", tmp && *tmp ? tmp : "/tmp",
				       (long)geteuid());
	name = xstrfmt("%ld-%llu-%s", (long)top->pid, (unsigned long long)top->start, key);
	for (int i = 0; i < (create ? 4 : 2) && once->fd < 0; i++)
		if (dirs[i % 2])
			once->fd = open_in(dirs[i % 2], name, i < 2 ? 0 : O_CREAT);
	free(name);
	free(dirs[0]);
	free(dirs[1]);
}

void hook_once_init(struct hook_once *once)
{
	*once = (struct hook_once){ .fd = -1 };
	if (store_home(&once->home))
		once->home = NULL;
}

static void close_file(struct hook_once *once)
{
	fs_close(once->fd);
	once->fd = -1;
}

void hook_once_release(struct hook_once *once)
{
	close_file(once);
	free(once->home);
	once->home = NULL;
}

void hook_once_enter(struct hook_once *once, const struct hook_decision *decision,
		     const char *worktree)
{
	struct timespec pause = { .tv_nsec = 5000000 };

	once->state = HOOK_ONCE_NONE;
	once->spent = 0;
	once->start = clock_monotonic();
	if (!decision->top)
		return;
	open_file(once, decision->top, worktree, true);
	if (once->fd < 0)
		return;
	while (flock(once->fd, LOCK_EX | LOCK_NB) < 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || cancel_check()) {
			/*
			 * Another hook of the same command is working on it, and reports the
			 * result.
			 */
			once->state = HOOK_ONCE_DONE;
			return;
		}
		nanosleep(&pause, NULL);
	}
	read_state(once, decision);
	if (once->state != HOOK_ONCE_DONE)
		note_state(once, ONCE_BEGUN, decision);
}

void hook_once_leave(struct hook_once *once, const struct hook_decision *decision, bool taken)
{
	bool all = !taken || decision->extent >= HOOK_TAKES_IGNORED;

	if (once->state == HOOK_ONCE_DONE)
		return;
	note_state(once, taken ? ONCE_TAKEN : ONCE_FAILED, decision);
	once->answer = all ? (struct hook_answer){ decision->top, HOOK_REACHES_ALL } :
			     (struct hook_answer){ decision->actor, reach_of((int)decision->extent) };
}

bool hook_once_settled(struct hook_once *once, const struct hook_decision *decision)
{
	char *cwd = decision->top ? path_real(".") : NULL;

	if (cwd)
		open_file(once, decision->top, cwd, false);
	if (once->fd >= 0 && !flock(once->fd, LOCK_EX | LOCK_NB))
		read_state(once, decision);
	close_file(once);
	free(cwd);
	return once->state == HOOK_ONCE_DONE;
}

void hook_answer_write(const char *file, const struct hook_answer *answer)
{
	static const char *const reaches[] = { "self", "some", "untracked", "all" };
	char *cwd = answer->who ? path_real(".") : NULL, *line;

	if (!cwd)
		return;
	line = xstrfmt("%ld %llu %s %s\n", (long)answer->who->pid,
		       (unsigned long long)answer->who->start, reaches[answer->reach], cwd);
	/* Losing it costs a start. It must be readable later, whatever the umask is. */
	(void)fs_write_file(AT_FDCWD, file, line, strlen(line), 0644, FS_FAST);
	free(line);
	free(cwd);
}
