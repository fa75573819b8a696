/* SPDX-License-Identifier: MIT */
#include "store/shadow.h"

#include "store/health.h"
#include "store/keepers.h"
#include "store/layout.h"
#include "store/packs.h"
#include "store/refs_internal.h"
#include "store/state.h"

#include <sys/file.h>
#include <sys/statvfs.h>

int store_home(char **out)
{
	const char *own = env_git("GIT_CHECKPOINT_HOME");
	struct strbuf sb = STRBUF_INIT;
	char *dir;

	if (own && *own) {
		/* One that depends on where one stands would be another in each directory. */
		if (own[0] != '/')
			return ckpt_error_set(CKPT_ERROR, "GIT_CHECKPOINT_HOME is '%s', but must be an "
							  "absolute path", own);
		path_absolute(&sb, "/", own);
	} else if ((dir = env_user_dir("XDG_STATE_HOME", ".local/state"))) {
		strbuf_addf(&sb, "%s/git-checkpoint", dir);
		free(dir);
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
	oid_hex_encode(out, sha256, (STORE_KEY_SIZE - 1) / 2);
}

static char *store_path(const char *home, const char *worktree)
{
	char key[STORE_KEY_SIZE];

	store_key(key, worktree);
	return xstrfmt("%s/%s", home, key);
}

static bool any_entry(const char *path, const char *below, bool (*wanted)(const char *name))
{
	char *name = xstrfmt("%s/%s", path, below);
	struct strlist names = STRLIST_INIT;
	bool found;

	(void)fs_names(&names, AT_FDCWD, name, 0, wanted);
	found = names.nr;
	strlist_release(&names);
	free(name);
	return found;
}

static bool is_pack(const char *name)
{
	return !strncmp(name, "pack-", strlen("pack-"));
}

/* Live or archived. */
static bool is_flow(const char *name)
{
	return !strncmp(name, "flow", strlen("flow"));
}

bool store_exists(const char *home, const char *worktree)
{
	char *path = store_path(home, worktree), *packed = xstrfmt("%s/packed-refs", path);
	/*
	 * If refs were lost, the packs prove that there were checkpoints. A workflow that
	 * has just started has none yet.
	 */
	bool exists = any_entry(path, "refs/checkpoints", refs_valid_id) ||
		      !access(packed, F_OK) || any_entry(path, "objects/pack", is_pack) ||
		      any_entry(path, "checkpoint", is_flow);

	free(packed);
	free(path);
	return exists;
}

/* Nobody else may have prepared the place where secrets will be stored. */
static int check_owner(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return ckpt_error_errno("unable to look at '%s'", path);
	/*
	 * A user's own link, for example to a larger disk, is as good as the directory that it
	 * leads to.
	 */
	if (S_ISLNK(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid) && stat(path, &st) < 0)
		return ckpt_error_errno("unable to look at '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return ckpt_error_set(CKPT_ERROR, "'%s' is not a directory; move it away, or set GIT_CHECKPOINT_HOME to "
				      "another", path);
	if (st.st_uid != geteuid() && geteuid() != 0)
		return ckpt_error_set(CKPT_ERROR, "'%s' belongs to another user; set GIT_CHECKPOINT_HOME to a directory "
				      "of your own", path);
	return 0;
}

static struct store *new_store(char *path, const char *worktree)
{
	struct store *store = xcalloc(1, sizeof(*store));

	store->path = path;
	store->worktree = xstrdup(worktree);
	store->lockfd = -1;
	store->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return store;
}

static int open_failed(const char *path)
{
	int saved = errno;
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		return ckpt_error_set(CKPT_ECORRUPT, "the store '%s' is not a directory", path);
	errno = saved;
	return ckpt_error_errno("unable to open the store '%s'", path);
}

static int open_at(struct store **out, const char *path, const char *worktree)
{
	struct store *store = new_store(xstrdup(path), worktree);
	int err = store->dirfd < 0 ? open_failed(path) : check_owner(path);

	if (!err)
		err = health_check(&store->damage, store);
	if (err) {
		store_close(store);
		return err;
	}
	*out = store;
	return 0;
}

int store_open_aside(struct store **out, const char *path, const char *worktree)
{
	struct store *store = new_store(xstrdup(path), worktree);

	if (store->dirfd < 0) {
		int err = ckpt_error_errno("unable to open '%s'", path);

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
	if (lstat(path, &st) < 0 && errno == ENOENT)
		err = ckpt_error_set(CKPT_ENOTFOUND,
				     "no checkpoints of '%s' yet; 'git checkpoint save' takes one",
				     worktree);
	else
		err = open_at(out, path, worktree);
	if (err == CKPT_ECORRUPT)
		ckpt_error_set(err,
			       "%s; 'git checkpoint doctor --fix' moves it away and makes a new one",
			       ckpt_error_last());
	free(path);
	return err;
}

/* Alone in the home: it may not be a store that another process has just made. */
static int move_file_away(const char *home, const char *path)
{
	char *aside = xstrfmt("%s.damaged", path);
	int lockfd = layout_lock_home(home, true), err = 0;
	struct stat st;

	if (lockfd < 0)
		err = ckpt_error_errno("unable to lock '%s'", home);
	else if (!lstat(path, &st) && S_ISREG(st.st_mode))
		err = fs_rename(AT_FDCWD, path, aside, home, FS_DURABLE);
	fs_close(lockfd);
	free(aside);
	return err;
}

/* A directory that others use, too, is not ours to close to them. */
static int check_home(const char *home)
{
	struct stat st;
	int err = check_owner(home);

	if (!err && stat(home, &st) < 0)
		err = ckpt_error_errno("unable to look at '%s'", home);
	if (!err && st.st_mode & 022)
		err = ckpt_error_set(CKPT_ERROR,
				     "others may write in '%s', which checkpoints must be safe from; set "
				     "GIT_CHECKPOINT_HOME to a directory of your own, or make this one "
				     "yours alone",
				     home);
	return err;
}

int store_make_home(const char *home)
{
	int err = fs_mkdir_p(home, 0700);

	return err ? ckpt_error_prefix(err, "no place for checkpoints; GIT_CHECKPOINT_HOME can name "
					    "another")
		   : check_home(home);
}

int store_open_or_create(struct store **out, const char *worktree)
{
	char *home = NULL, *path;
	struct stat st;
	int err = store_home(&home);

	if (err)
		return err;
	path = store_path(home, worktree);
	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		err = move_file_away(home, path);
	if (!err && lstat(path, &st) < 0)
		err = store_make_home(home);
	if (!err && lstat(path, &st) < 0)
		err = layout_create(home, path, worktree);
	if (!err)
		err = open_at(out, path, worktree);
	free(path);
	free(home);
	return err;
}

int store_check_writable(const struct store *store)
{
	bool writable = !faccessat(store->dirfd, ".", W_OK, AT_EACCESS);
	struct statvfs fs;

	if (writable && (fstatvfs(store->dirfd, &fs) < 0 || (geteuid() ? fs.f_bavail : fs.f_bfree)))
		return 0;
	if (writable)
		errno = ENOSPC;
	return ckpt_error_errno("unable to take checkpoints in '%s'", store->path);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	packs_close(store->packs);
	refs_free_loose(store->loose);
	packed_refs_free(store->packed);
	keepers_free(store->keepers);
	state_release(store);
	if (store->git) {
		libgit2.odb_free(store->odb);
		libgit2.repository_free(store->git);
	}
	store->nested = 0;
	store_unlock(store);
	fs_close(store->dirfd);
	strlist_release(&store->damage);
	free(store->path);
	free(store->worktree);
	free(store);
}

static int say_busy(const struct store *store)
{
	char *holder = proc_lock_holder("/proc", store->lockfd);
	int err = ckpt_error_set(CKPT_ELOCKED,
				 "%s is using the checkpoints of '%s'; try again, or raise lockTimeout",
				 holder, store->worktree);

	free(holder);
	return err;
}

/*
 * In the kernel's queue, which is served in the order of coming: whoever only tries again now
 * and then is overtaken by those who come later and happen to try at the right moment.
 */
static int wait_for_lock(struct store *store, int64_t timeout)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	double deadline = clock_monotonic() + (double)timeout;
	bool queued = cancel_interrupt_after(timeout);
	int err = 0, rc;

	while ((rc = flock(store->lockfd, LOCK_EX | (queued ? 0 : LOCK_NB))) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			err = ckpt_error_errno("unable to lock '%s'", store->path);
		else
			err = cancel_check();
		if (err || clock_monotonic() >= deadline)
			break;
		if (!queued)
			nanosleep(&pause, NULL);
	}
	cancel_interrupt_end();
	return err || !rc ? err : say_busy(store);
}

static int open_lock(struct store *store)
{
	for (int tries = 0; tries < 2 && store->lockfd < 0; tries++) {
		if (tries)
			health_repair_lock(store);
		store->lockfd = openat(store->dirfd, LAYOUT_LOCK,
				       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (store->lockfd < 0 && errno != EISDIR && errno != ENOTDIR && errno != ENOENT &&
		    errno != ELOOP)
			break;
	}
	if (store->lockfd < 0)
		return ckpt_error_errno("unable to open the lock of '%s'", store->path);
	(void)fs_give_to_owner(store->lockfd, store->dirfd, "checkpoint");
	return 0;
}

int store_lock(struct store *store, int64_t timeout)
{
	struct stat here, there;
	int err;

	if (store->lockfd >= 0) {
		store->nested++;
		return 0;
	}
	err = open_lock(store);
	if (err)
		return err;
	err = flock(store->lockfd, LOCK_EX | LOCK_NB) < 0 ? wait_for_lock(store, timeout) : 0;
	if (err) {
		store_unlock(store);
		return err;
	}
	/*
	 * What is saved into a store that was adopted by another folder, or replaced, is never
	 * found.
	 */
	if (lstat(store->path, &there) < 0 || fstat(store->dirfd, &here) < 0 ||
	    there.st_ino != here.st_ino || there.st_dev != here.st_dev) {
		store_unlock(store);
		return ckpt_error_set(CKPT_ELOCKED, "the store '%s' was moved meanwhile; try again",
				      store->path);
	}
	if (store->damage.nr)
		health_repair(store);
	fs_sweep_temps(store->dirfd, ".");
	fs_sweep_temps(store->dirfd, "objects/pack");
	fs_sweep_temps(store->dirfd, "checkpoint");
	fs_sweep_temps(store->dirfd, LAYOUT_FLOW);
	fs_sweep_temps(store->dirfd, "info");
	return 0;
}

void store_unlock(struct store *store)
{
	if (store->nested) {
		store->nested--;
		return;
	}
	fs_close(store->lockfd);
	store->lockfd = -1;
}

int store_hold_still(const struct store *store)
{
	int fd = fs_open_regular(NULL, store->dirfd, LAYOUT_LOCK, O_NOFOLLOW);

	/* Without a lock nobody has it. */
	if (fd < 0)
		fd = openat(store->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}
