/* SPDX-License-Identifier: MIT */
#include "store/repack.h"

#include "git/git.h"
#include "store/health.h"
#include "store/layout.h"
#include "store/pack.h"
#include "store/shadow.h"

#include <sys/file.h>

/* --- who packs --- */

#define YIELD_FILE "checkpoint/gc.yield"

enum { WAY_SECONDS = 20 }; /* time for it to make way; it takes a fraction of a second */

int repack_lock(int *fd_out, struct store *store)
{
	char *holder;

	*fd_out = openat(store->dirfd, LAYOUT_GC_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			 0600);
	if (*fd_out < 0)
		return ckpt_error_errno("unable to open the lock of '%s'", store->path);
	(void)fs_give_to_owner(*fd_out, store->dirfd, "checkpoint");
	if (!flock(*fd_out, LOCK_EX | LOCK_NB))
		return 0;
	holder = proc_lock_holder("/proc", *fd_out);
	close(*fd_out);
	*fd_out = -1;
	(void)ckpt_error_set(CKPT_ELOCKED,
			     "%s is packing the checkpoints of '%s'; try again when it is done", holder,
			     store->worktree);
	free(holder);
	return CKPT_ELOCKED;
}

static void ask_to_yield(struct store *store)
{
	/* O_NONBLOCK: whatever kind of file it is. */
	int fd = openat(store->dirfd, YIELD_FILE,
			O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	fs_close(fd);
}

void repack_forget(struct store *store)
{
	unlinkat(store->dirfd, YIELD_FILE, 0);
}

bool repack_must_yield(struct store *store)
{
	return !faccessat(store->dirfd, YIELD_FILE, F_OK, AT_SYMLINK_NOFOLLOW);
}

int repack_make_way(struct store *store)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	double deadline = clock_monotonic() + WAY_SECONDS;
	int lock = -1, err = repack_lock(&lock, store);

	if (err == CKPT_ELOCKED)
		ask_to_yield(store);
	while (err == CKPT_ELOCKED && clock_monotonic() < deadline) {
		nanosleep(&pause, NULL);
		err = cancel_check();
		if (!err)
			err = repack_lock(&lock, store);
	}
	repack_forget(store);
	fs_close(lock);
	return err;
}

/* --- removing --- */

bool repack_is_kept(struct store *store, const char *name)
{
	char *path = xstrfmt("objects/pack/%s.keep", name);
	bool kept = !faccessat(store->dirfd, path, F_OK, AT_SYMLINK_NOFOLLOW);

	free(path);
	return kept;
}

/* What stock git derives from packs, and would trust. */
static void forget_derived(struct store *store)
{
	unlinkat(store->dirfd, "objects/pack/multi-pack-index", 0);
	unlinkat(store->dirfd, "objects/info/commit-graph", 0);
	unlinkat(store->dirfd, "objects/info/commit-graphs/commit-graph-chain", 0);
}

int repack_remove(struct store *store, const char *name)
{
	/* An index without its pack would promise what is gone. */
	static const char *const endings[] = { ".idx", ".rev", ".bitmap", ".mtimes", ".promisor",
					       ".pack" };
	int err = 0;

	forget_derived(store);
	for (size_t i = 0; i < ARRAY_SIZE(endings) && !err; i++) {
		char *path = xstrfmt("objects/pack/%s%s", name, endings[i]);

		if (unlinkat(store->dirfd, path, 0) < 0 && errno != ENOENT)
			err = ckpt_error_errno("unable to remove '%s/%s'", store->path, path);
		free(path);
	}
	return err;
}

void repack_sweep(struct store *store)
{
	(void)fs_remove_tree(store->dirfd, REPACK_DIR);
	(void)litter_sweep(store, false);
}

/* --- with deltas --- */

/*
 * Git would map whole packs and hold objects of up to 512 MB: as much memory as the user's
 * largest files take.
 */
#define LITTLE_MEMORY                                                                               \
	"-c", "core.bigFileThreshold=32m", "-c", "core.packedGitWindowSize=16m", "-c",              \
		"core.packedGitLimit=64m"

static bool must_stop(void *store)
{
	return repack_must_yield(store) || cancel_signal();
}

static int verify_tight(struct store *store, const char *name, bool show)
{
	struct strbuf answer = STRBUF_INIT;
	char *file = xstrfmt("%s/" REPACK_DIR "/%s.pack", store->path, name);
	/* What verify-pack runs, but without a child that would outlive it if it must be stopped. */
	const char *const args[] = { LITTLE_MEMORY, "index-pack", show ? "-v" : "--verify", "--verify",
				     file, NULL };
	const struct gitrun how = { .gitdir = store->path, .shown = show, .stop = must_stop, .payload = store };
	int err = askgit(&answer, &how, args);

	free(file);
	strbuf_release(&answer);
	return err == CKPT_ERROR ? ckpt_error_prefix(err, "the new pack does not verify") : err;
}

/* As it will be in place, but for its name. */
static int prepare_file(struct store *store, const char *dir, const char *name, const char *ending)
{
	char *path = xstrfmt("%s/%s%s", dir, name, ending);
	int fd = fs_open_regular(NULL, store->dirfd, path, O_NOFOLLOW);
	int err = fd < 0 || fchmod(fd, 0400) < 0 ||
				  fs_give_to_owner(fd, store->dirfd, "objects/pack") < 0 || fsync(fd) < 0
			  ? ckpt_error_errno("unable to prepare '%s'", path)
			  : 0;

	fs_close(fd);
	free(path);
	return err;
}

int repack_tight(char **name_out, struct store *store, const struct strbuf *list, unsigned flags,
		 unsigned threads)
{
	struct strbuf answer = STRBUF_INIT;
	char *jobs = xstrfmt("--threads=%u", threads);
	char *base = xstrfmt("%s/" REPACK_DIR "/pack", store->path);
	/*
	 * Whatever the user's configuration says: one pack, small, nothing left out. For two
	 * objects stored whole in the same pack git assumes that a delta is not worth it; ours have
	 * never been tried.
	 */
	const char *const args[] = {
		LITTLE_MEMORY, "-c", "pack.packSizeLimit=0", "-c",
		"pack.deltaCacheSize=64m", "-c", "pack.compression=-1", "pack-objects",
		flags & REPACK_SHOW ? "--progress" : "-q", "--index-version=2",
		"--delta-base-offset", flags & REPACK_SEARCH ? "--no-reuse-delta" : "--reuse-delta",
		"--window=10", "--depth=50", "--window-memory=64m", jobs, base, NULL
	};
	const struct gitrun how = {
		.gitdir = store->path,
		.input = list->buf,
		.input_len = list->len,
		.shown = flags & REPACK_SHOW,
		.stop = must_stop,
		.payload = store,
	};
	int err = 0;

	if (mkdirat(store->dirfd, REPACK_DIR, 0700) < 0 && errno != EEXIST)
		err = ckpt_error_errno("unable to create '%s/" REPACK_DIR "'", store->path);
	if (!err)
		err = askgit(&answer, &how, args);
	if (err == CKPT_ERROR)
		err = ckpt_error_set(err, "'git pack-objects' failed; 'git checkpoint verify --all' "
					  "tells whether something is damaged");
	strbuf_trim(&answer);
	if (!err && answer.len != OID_HEX)
		err = ckpt_error_set(CKPT_ERROR, "'git pack-objects' gave an unexpected answer");
	if (!err) {
		*name_out = xstrfmt("pack-%s", answer.buf);
		err = verify_tight(store, *name_out, flags & REPACK_SHOW);
	}
	if (!err)
		err = prepare_file(store, REPACK_DIR, *name_out, ".pack");
	if (!err)
		err = prepare_file(store, REPACK_DIR, *name_out, ".idx");
	if (err == CKPT_ELOCKED)
		ckpt_error_set(err, "another command needed the space");
	free(jobs);
	free(base);
	strbuf_release(&answer);
	return err;
}

int repack_adopt(struct store *store, const char *dir, const char *name)
{
	/* A pack is found by its index: that comes last. */
	static const char *const endings[] = { ".pack", ".idx" };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(endings) && !err; i++) {
		char *from = xstrfmt("%s/%s%s", dir, name, endings[i]);
		char *to = xstrfmt("objects/pack/%s%s", name, endings[i]);

		err = prepare_file(store, dir, name, endings[i]);
		if (!err)
			err = fs_rename(store->dirfd, from, to, "objects/pack", FS_DURABLE);
		free(from);
		free(to);
	}
	return err;
}
