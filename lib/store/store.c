/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/hash.h"
#include "base/path.h"
#include "store/layout.h"
#include "store/packs.h"
#include "store/refs.h"

#include <git2.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int store_home(char **out)
{
	const char *own = env_git("GIT_CHECKPOINT_HOME"), *xdg = getenv("XDG_STATE_HOME"),
		   *home = getenv("HOME");
	struct strbuf sb = STRBUF_INIT;

	if (own && *own) {
		char *cwd = path_real(".");

		path_absolute(&sb, cwd ? cwd : "/", own);
		free(cwd);
	} else if (xdg && xdg[0] == '/') {
		/* A relative one is invalid and to be ignored, says its specification. */
		strbuf_addf(&sb, "%s/git-checkpoint", xdg);
	} else if (home && home[0] == '/') {
		strbuf_addf(&sb, "%s/.local/state/git-checkpoint", home);
	} else {
		return ckpt_error_set(CKPT_ERROR, "no place for checkpoints: set HOME or "
						  "GIT_CHECKPOINT_HOME");
	}
	*out = strbuf_detach(&sb, NULL);
	return 0;
}

void store_key(char out[STORE_KEY_SIZE], const char *worktree)
{
	unsigned char sha256[SHA256_SIZE];

	hash_buffer(HASH_SHA256, sha256, worktree, strlen(worktree));
	hex_encode(out, sha256, (STORE_KEY_SIZE - 1) / 2);
}

static char *store_path(const char *home, const char *worktree)
{
	char key[STORE_KEY_SIZE];

	store_key(key, worktree);
	return xstrfmt("%s/%s", home, key);
}

bool store_exists(const char *home, const char *worktree)
{
	char *path = store_path(home, worktree), *refs = xstrfmt("%s/refs/checkpoints", path),
	     *packed = xstrfmt("%s/packed-refs", path);
	DIR *dir = opendir(refs);
	bool exists = !access(packed, F_OK);
	struct dirent *ent;

	while (dir && !exists && (ent = readdir(dir)))
		exists = refs_valid_id(ent->d_name);
	if (dir)
		closedir(dir);
	free(packed);
	free(refs);
	free(path);
	return exists;
}

/* Nobody else may have prepared the place where secrets will lie. */
static int check_owner(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return ckpt_error_errno("unable to look at '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return ckpt_error_set(CKPT_ERROR, "'%s' is not a directory", path);
	if (st.st_uid != geteuid() && geteuid() != 0)
		return ckpt_error_set(CKPT_ERROR, "'%s' belongs to another user", path);
	if (st.st_mode & 077 && chmod(path, 0700) < 0)
		return ckpt_error_errno("unable to make '%s' private", path);
	return 0;
}

static int open_at(struct store **out, char *path, const char *worktree)
{
	struct store *store = xcalloc(1, sizeof(*store));
	int err;

	store->path = path;
	store->worktree = xstrdup(worktree);
	store->lockfd = -1;
	store->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (store->dirfd < 0) {
		err = ckpt_error_errno("unable to open the store '%s'", path);
	} else {
		err = check_owner(path);
		if (!err)
			err = layout_check(store->dirfd, path, worktree);
	}
	if (err) {
		store_close(store);
		return err;
	}
	*out = store;
	return 0;
}

int store_open(struct store **out, const char *worktree)
{
	char *home = NULL, *path;
	struct stat st;
	int err = store_home(&home);

	if (err)
		return err;
	path = store_path(home, worktree);
	free(home);
	if (lstat(path, &st) < 0 && errno == ENOENT) {
		free(path);
		return ckpt_error_set(CKPT_ENOTFOUND, "no checkpoints of '%s' yet; 'git checkpoint save' takes one",
				      worktree);
	}
	return open_at(out, path, worktree);
}

int store_open_or_create(struct store **out, const char *worktree)
{
	char *home = NULL, *path;
	struct stat st;
	int err = store_home(&home);

	if (err)
		return err;
	path = store_path(home, worktree);
	if (lstat(path, &st) < 0) {
		err = fs_mkdir_p(home, 0700);
		if (!err)
			err = check_owner(home);
		if (!err)
			err = layout_create(home, path, worktree);
	}
	free(home);
	if (err) {
		free(path);
		return err;
	}
	return open_at(out, path, worktree);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	packs_close(store->packs);
	if (store->git) {
		git_odb_free(store->odb);
		git_repository_free(store->git);
	}
	store_unlock(store);
	if (store->dirfd >= 0)
		close(store->dirfd);
	free(store->path);
	free(store->worktree);
	free(store);
}

int store_lock(struct store *store, int64_t timeout)
{
	double deadline = clock_monotonic() + (double)timeout;
	struct timespec pause = { .tv_nsec = 2000000 };
	int err;

	store->lockfd = openat(store->dirfd, "checkpoint/lock",
			       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (store->lockfd < 0)
		return ckpt_error_errno("unable to open the lock of '%s'", store->path);
	while (flock(store->lockfd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			err = ckpt_error_errno("unable to lock '%s'", store->path);
		else if (clock_monotonic() >= deadline)
			err = ckpt_error_set(CKPT_ELOCKED,
					     "another process is using the checkpoints of '%s'; "
					     "try again, or raise lockTimeout",
					     store->worktree);
		else
			err = cancel_check();
		if (err) {
			store_unlock(store);
			return err;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 50000000)
			pause.tv_nsec += pause.tv_nsec / 2;
	}
	fs_sweep_temps(store->dirfd, ".");
	fs_sweep_temps(store->dirfd, "objects/pack");
	fs_sweep_temps(store->dirfd, "checkpoint");
	return 0;
}

void store_unlock(struct store *store)
{
	if (store->lockfd >= 0)
		close(store->lockfd);
	store->lockfd = -1;
}
