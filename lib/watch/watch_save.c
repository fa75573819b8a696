/* SPDX-License-Identifier: MIT */
#include "watch/watch_tree_internal.h"

#include "gitstate/gitstate.h"
#include "record/record.h"

#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>

/* --- a save in another process --- */

/* This very program, even if another version was installed in its place meanwhile. */
#define PROGRAM "/proc/self/exe"
#define NAME "git-checkpoint"

enum { ANSWER_MAX = 16 << 20 };

static void exec_save(const struct watch_child *child, int dirfd, const char *reason, char **environment)
{
	const char *const argv[] = { NAME,    "save", "--automatic", "--json", "--source",
				     "watch", "-m",   reason,	     NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(child->out, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || fchdir(dirfd) < 0)
		_exit(126);
	env_restore_umask();
	execve(PROGRAM, (char *const *)argv, environment);
	_exit(127);
}

/* False if it could not be started. */
static bool start_child(struct watch_child *out, int dirfd, const char *reason)
{
	char **environment = env_given_for_directory(NULL);

	*out = (struct watch_child){ .pidfd = -1, .out = memfd_create("answer", MFD_CLOEXEC) };
	if (out->out >= 0)
		out->pid = fork();
	if (out->out >= 0 && !out->pid)
		exec_save(out, dirfd, reason, environment);
	free(environment);
	if (out->pid > 0) {
		out->pidfd = pidfd_open(out->pid, 0);
		if (out->pidfd >= 0)
			return true;
		watch_save_stop(out);
		return false;
	}
	fs_close(out->out);
	*out = (struct watch_child){ .pid = 0, .pidfd = -1, .out = -1 };
	return false;
}

/* Its exit status, and what it answered, which the caller frees; NULL if that is not an object. */
static int end_child(json_t **answer, struct watch_child *child)
{
	off_t size = lseek(child->out, 0, SEEK_END);
	struct strbuf text = STRBUF_INIT;
	int status = spawn_wait(child->pid);

	*answer = NULL;
	if (size > 0 && size < ANSWER_MAX) {
		strbuf_grow(&text, (size_t)size + 1);
		if (fs_pread_full(child->out, text.buf, (size_t)size, 0) == size)
			*answer = json_loadb(text.buf, (size_t)size, 0, NULL);
	}
	strbuf_release(&text);
	fs_close(child->out);
	fs_close(child->pidfd);
	*child = (struct watch_child){ .pid = 0, .pidfd = -1, .out = -1 };
	return status;
}

void watch_save_stop(struct watch_child *child)
{
	json_t *answer;

	if (!child->pid)
		return;
	kill(child->pid, SIGTERM);
	(void)end_child(&answer, child);
	json_decref(answer);
}

/* --- looking at directories that cannot be watched --- */

/* A pause is at least this many times as long as the look before it. */
#define REST 50.0

enum { DEPTH_MAX = 1000 }; /* what is deeper is left to saves */

struct look {
	const struct statcache *cache;
	int rootfd;
	struct beneath_near near;
	struct strbuf path;
	unsigned depth;
	uint64_t sum;
};

/* A directory that is gone, or is something else by now, counts as one without times. */
static void add_times(struct look *look)
{
	int fd = beneath_open_near(&look->near, look->rootfd, look->path.buf, O_PATH | O_DIRECTORY);
	struct wt_stat times = { 0 };
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		wt_stat_from(&times, &st);
	fs_close(fd);
	look->sum = hash_mix(look->sum, &times, sizeof(times));
}

static void add_dir(struct look *look, const struct statcache_dir *dir)
{
	size_t len = look->path.len;

	add_times(look);
	if (!dir || look->depth >= DEPTH_MAX)
		return;
	look->depth++;
	for (uint32_t i = 0; i < dir->nr; i++) {
		const struct statcache_entry *entry = &statcache_entries(dir)[i];

		if (entry->kind != WT_DIR)
			continue;
		path_append(&look->path, statcache_name(dir, entry));
		add_dir(look, statcache_child(look->cache, entry));
		strbuf_setlen(&look->path, len);
	}
	look->depth--;
}

/* Of all directories that the last save captured; never 0. */
static uint64_t sum_dirs(const char *root, int storefd)
{
	struct look look = { .path = STRBUF_INIT, .sum = HASH_MIX_START };
	struct statcache *cache = statcache_open(storefd, LAYOUT_STATCACHE);

	look.cache = cache;
	look.rootfd = open(root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (look.rootfd >= 0)
		add_dir(&look, cache ? statcache_root(cache) : NULL);
	fs_close(look.rootfd);
	beneath_near_release(&look.near);
	strbuf_release(&look.path);
	statcache_close(cache);
	return look.sum ? look.sum : 1;
}

/*
 * Whether the directories that the last save captured have changed since the last look; not at the
 * first one. The next one is `pause` seconds later, or more in a large tree, so that looking takes
 * little of a processor.
 */
static bool look_at_dirs(struct watch_poll *poll, const char *root, int storefd, double pause)
{
	double began = clock_monotonic(), ended;
	uint64_t sum = sum_dirs(root, storefd);
	bool differs = poll->seen && poll->seen != sum;

	ended = clock_monotonic();
	if (pause < REST * (ended - began))
		pause = REST * (ended - began);
	poll->seen = sum;
	poll->next = ended + pause;
	return differs;
}

/* --- saving when it is due --- */

/* How a save may end. */
enum { SAVED = 0, SAVED_IN_PART = 3 };

static void set_text(char **text, char *value)
{
	free(*text);
	*text = value;
}

/*
 * A git command holds its lock for a moment. One that is older than watchMax, while nothing changes,
 * was left by a git that was killed.
 */
static char *find_git_lock(const struct watch_tree *tree)
{
	static const struct gitwrite_refs none;
	struct repo *repo = NULL;
	struct stat st;
	char *lock;

	if (repo_open_at(&repo, tree->root))
		return NULL;
	lock = gitwrite_find_lock(repo, &none, false);
	if (lock && !lstat(lock, &st) && clock_now() - st.st_mtime > (int64_t)tree->pace.max &&
	    !watch_pace_is_busy(&tree->pace, clock_monotonic())) {
		free(lock);
		lock = NULL;
	}
	repo_free(repo);
	return lock;
}

/* A sentence, or NULL. */
static char *find_obstacle(const struct watch_tree *tree)
{
	struct strbuf quoted = STRBUF_INIT;
	char *lock;

	if (tree->store && journal_exists(tree->store))
		return xstrdup(journal_is_left(tree->store)
				       ? "a restore was interrupted; 'git checkpoint restore --continue' "
					 "finishes it, '--abort' goes back"
				       : "a restore is in progress");
	lock = find_git_lock(tree);
	if (!lock)
		return NULL;
	quote_path(&quoted, lock);
	free(lock);
	lock = xstrfmt("a git command is at work: '%s' exists", quoted.buf);
	strbuf_release(&quoted);
	return lock;
}

double watch_tree_due(const struct watch_tree *tree)
{
	double save = watch_pace_due(&tree->pace);

	if (tree->child.pid || tree->trouble == WATCH_GONE)
		return INFINITY;
	return tree->poll.next < save ? tree->poll.next : save;
}

static bool look_for_changes(struct watch_tree *tree)
{
	return tree->store &&
	       look_at_dirs(&tree->poll, tree->root, tree->store->dirfd, tree->pace.quiet);
}

/* What people read in the list. */
static const char *find_reason(const struct watch_tree *tree, double now)
{
	if (!tree->store)
		return "watching begins";
	if (isinf(tree->pace.last))
		return "regularly";
	return watch_pace_is_busy(&tree->pace, now) ? "while files change" : "after changes";
}

void watch_tree_save(struct watch_tree *tree)
{
	double now = clock_monotonic();
	const char *why = find_reason(tree, now);
	int fd;

	if (watch_tree_due(tree) > now)
		return;
	if (tree->poll.next <= now && look_for_changes(tree))
		watch_pace_changed(&tree->pace, now);
	if (watch_pace_due(&tree->pace) > now)
		return;
	set_text(&tree->held, find_obstacle(tree));
	if (tree->held) {
		watch_pace_hold(&tree->pace, now);
		return;
	}
	/* What is there now will be in it. */
	if (tree->trouble)
		(void)look_for_changes(tree);
	fd = open(tree->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && start_child(&tree->child, fd, why)) {
		watch_pace_began(&tree->pace);
	} else {
		set_text(&tree->problem, xstrfmt("unable to start a save: %s", strerror(errno)));
		watch_pace_failed(&tree->pace, now);
	}
	fs_close(fd);
}

/* Its sentence, if it failed. */
static char *what_went_wrong(const json_t *answer, int status)
{
	const char *message =
		json_string_value(json_object_get(json_object_get(answer, "error"), "message"));

	return message ? xstrdup(message) : xstrfmt("the save ended with status %d", status);
}

void watch_tree_saved(struct watch_tree *tree)
{
	json_t *answer = NULL;
	int status = end_child(&answer, &tree->child);

	if (status == SAVED || status == SAVED_IN_PART) {
		tree->last_save = clock_now();
		if (json_is_true(json_object_get(answer, "checkpoint_created")))
			tree->last_change = tree->last_save;
		tree->pace.failures = 0;
		set_text(&tree->problem, NULL);
	} else {
		set_text(&tree->problem, what_went_wrong(answer, status));
		watch_pace_failed(&tree->pace, clock_monotonic());
	}
	json_decref(answer);
	/* There may be a store now, and directories that need watches. */
	watch_tree_open(tree);
}

static const char *state_name(const struct watch_tree *tree)
{
	if (tree->trouble == WATCH_GONE)
		return "missing";
	if (tree->trouble)
		return "polled";
	return tree->cover.root ? "watched" : "starting";
}

/* What is wrong with watching it, or NULL. */
static const char *trouble_text(const struct watch_tree *tree)
{
	switch (tree->trouble) {
	case WATCH_GONE:
		return "the directory is not there; 'git checkpoint stores' shows how to bring it back";
	case WATCH_NO_WATCHES:
		return "not enough watches: files that are written in place are noticed only every "
		       "watchMax; raise fs.inotify.max_user_watches";
	case WATCH_NO_INSTANCES:
		return "too many worktrees: files that are written in place are noticed only every "
		       "watchMax; raise fs.inotify.max_user_instances";
	case WATCH_NONE:
		break;
	}
	return tree->cover.root && tree->cover.blind
		       ? "something is mounted in it, or its file system does not report all changes: "
			 "every save looks at all files"
		       : NULL;
}

json_t *watch_tree_status(const struct watch_tree *tree)
{
	const char *trouble = trouble_text(tree);
	json_t *object = json_object();

	json_object_set_new(object, "path", json_path(tree->root));
	json_object_set_new(object, "state", json_string(state_name(tree)));
	json_object_set_new(object, "linked", json_boolean(tree->linked));
	json_object_set_new(object, "directories",
			    json_integer((json_int_t)(tree->cover.root ? tree->cover.nodes.nr : 0)));
	json_object_set_new(object, "hints",
			    json_boolean(tree->listener >= 0 && !tree->cover.blind));
	json_object_set_new(object, "changed", json_boolean(tree->pace.first > 0));
	json_object_set_new(object, "saving", json_boolean(tree->child.pid > 0));
	json_object_set_new(object, "last_save", json_time(tree->last_save));
	json_object_set_new(object, "last_checkpoint", json_time(tree->last_change));
	json_object_set_new(object, "problem",
			    json_text(tree->problem ? tree->problem
				      : tree->held  ? tree->held
						    : trouble));
	return object;
}
