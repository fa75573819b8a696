/* SPDX-License-Identifier: MIT */
#include "store/packing.h"
#include "store/repack.h"

#include "base/base.h"
#include "git/git.h"
#include "store/litter.h"
#include "store/pack.h"
#include "store/shadow.h"

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
	return packing_must_yield(store) || cancel_signal();
}

static int verify_tight(struct store *store, const char *name)
{
	struct strbuf answer = STRBUF_INIT;
	char *file = xstrfmt("%s/" REPACK_DIR "/%s.pack", store->path, name);
	/* What verify-pack runs, but without a child that would outlive it if it must be stopped. */
	const char *const args[] = { LITTLE_MEMORY, "index-pack", "--verify", file, NULL };
	const struct gitrun how = { .gitdir = store->path, .stop = must_stop, .payload = store };
	int err = askgit(&answer, &how, args);

	free(file);
	strbuf_release(&answer);
	return err == CKPT_ERROR ? ckpt_error_prefix(err, "the new pack does not verify") : err;
}

static int sync_file(struct store *store, const char *name, const char *ending)
{
	char *path = xstrfmt(REPACK_DIR "/%s%s", name, ending);
	int fd = fs_open_regular(NULL, store->dirfd, path, O_NOFOLLOW);
	int err = fd < 0 || fs_give_to_owner(fd, store->dirfd, "objects/pack") < 0 || fsync(fd) < 0
			  ? ckpt_error_errno("unable to sync '%s'", path)
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
		err = verify_tight(store, *name_out);
	}
	if (!err)
		err = sync_file(store, *name_out, ".pack");
	if (!err)
		err = sync_file(store, *name_out, ".idx");
	if (err == CKPT_ELOCKED)
		ckpt_error_set(err, "another command needed the space");
	free(jobs);
	free(base);
	strbuf_release(&answer);
	return err;
}

int repack_adopt(struct store *store, const char *name)
{
	/* A pack is found by its index: that comes last. */
	static const char *const endings[] = { ".pack", ".idx" };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(endings) && !err; i++) {
		char *from = xstrfmt(REPACK_DIR "/%s%s", name, endings[i]);
		char *to = xstrfmt("objects/pack/%s%s", name, endings[i]);

		if (fchmodat(store->dirfd, from, 0400, 0) < 0)
			err = ckpt_error_errno("unable to set the mode of '%s'", from);
		if (!err)
			err = fs_rename(store->dirfd, from, to, "objects/pack", FS_DURABLE);
		free(from);
		free(to);
	}
	return err;
}
