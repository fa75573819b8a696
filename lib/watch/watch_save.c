/* SPDX-License-Identifier: MIT */
#include "watch/watch_tree_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "record/record.h"

#include <math.h>

/* How a save may end. */
enum { SAVED = 0, SAVED_IN_PART = 3 };

static void set(char **text, char *value)
{
	free(*text);
	*text = value;
}

/*
 * A git command holds its lock for a moment. One that is older than watchMax, while nothing changes,
 * was left by a git that was killed.
 */
static char *lock_of_git(const struct watch_tree *tree)
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
static char *obstacle(const struct watch_tree *tree)
{
	struct strbuf quoted = STRBUF_INIT;
	char *lock;

	if (tree->store && journal_exists(tree->store))
		return xstrdup(journal_is_left(tree->store)
				       ? "a restore was interrupted; 'git checkpoint restore --continue' "
					 "finishes it, '--abort' goes back"
				       : "a restore is in progress");
	lock = lock_of_git(tree);
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

static bool has_changed(struct watch_tree *tree)
{
	return tree->store &&
	       watch_poll_look(&tree->poll, tree->root, tree->store->dirfd, tree->pace.quiet);
}

/* What people read in the list. */
static const char *reason(const struct watch_tree *tree, double now)
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
	const char *why = reason(tree, now);
	int fd;

	if (watch_tree_due(tree) > now)
		return;
	if (tree->poll.next <= now && has_changed(tree))
		watch_pace_changed(&tree->pace, now);
	if (watch_pace_due(&tree->pace) > now)
		return;
	set(&tree->held, obstacle(tree));
	if (tree->held) {
		watch_pace_hold(&tree->pace, now);
		return;
	}
	/* What is there now will be in it. */
	if (tree->trouble)
		(void)has_changed(tree);
	fd = open(tree->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && watch_child_start(&tree->child, fd, why)) {
		watch_pace_began(&tree->pace);
	} else {
		set(&tree->problem, xstrfmt("unable to start a save: %s", strerror(errno)));
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
	int status = watch_child_end(&answer, &tree->child);

	if (status == SAVED || status == SAVED_IN_PART) {
		tree->last_save = clock_now();
		if (json_is_true(json_object_get(answer, "checkpoint_created")))
			tree->last_change = tree->last_save;
		tree->pace.failures = 0;
		set(&tree->problem, NULL);
	} else {
		set(&tree->problem, what_went_wrong(answer, status));
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
