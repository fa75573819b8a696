/* SPDX-License-Identifier: MIT */
#include "store/ingest.h"

#include "base/base.h"
#include "store/ingest_file_internal.h"
#include "store/objects.h"

enum {
	BATCH_FILES = 64, /* one item of work, all from one directory */
	BATCH_BYTES = 1 << 20,
};

struct ingest_batch {
	struct wt_dir *dir;
	size_t first, end;
};

/* --- is there time? --- */

/* A file costs as much as this many bytes. */
static double work(uint64_t files, uint64_t bytes)
{
	enum { FILE_COSTS = 8192 };

	return (double)files * FILE_COSTS + (double)bytes;
}

/* Extrapolated once there is enough data; reading back and syncing are added. */
static int time_check(struct ingest *ingest)
{
	static const double early = 0.4, after = 0.5;
	double limit = ingest->opts->until - ingest->start, spent, done;

	if (ingest->opts->until <= 0)
		return 0;
	spent = clock_monotonic() - ingest->start;
	if (spent < early * limit)
		return 0;
	done = work(atomic_load(&ingest->files), atomic_load(&ingest->bytes)) /
	       work(ingest->total, ingest->total_bytes);
	if (spent * (1 + after) <= done * limit)
		return 0;
	atomic_store(&ingest->late, true);
	return ckpt_error_set(CKPT_ECANCELLED, "there is not enough time to read everything");
}

int ingest_go_on(struct ingest *ingest)
{
	int err = cancel_check();

	return err ? err : time_check(ingest);
}

/* --- all files --- */

static int read_batch(struct ingest *ingest, const struct ingest_batch *batch, unsigned worker, bool large)
{
	struct wt_dir *dir = batch->dir;
	int dirfd = beneath_open_near(&ingest->readers[worker].near, ingest->opts->scan->rootfd,
				      dir->path, O_PATH | O_DIRECTORY);
	int open_errno = errno, err = 0;

	for (size_t i = batch->first; i < batch->end && !err; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_DIR || entry->flags & WT_KNOWN || ingest_is_large(entry) != large)
			continue;
		err = ingest_go_on(ingest);
		if (err)
			break;
		if (dirfd < 0 && fs_is_lack(open_errno)) {
			errno = open_errno;
			err = ckpt_error_errno("unable to open the directory '%s'",
					       *dir->path ? dir->path : ".");
		} else if (dirfd < 0) {
			bool gone = open_errno == ENOENT || open_errno == ENOTDIR ||
				    open_errno == ELOOP || open_errno == EXDEV;

			ingest_skip(ingest, dir, entry, gone ? SKIP_VANISHED : SKIP_UNREADABLE);
		} else {
			err = ingest_entry(ingest, worker, dirfd, dir, entry, large);
		}
		if (large)
			ingest->large_done += entry->st.size;
	}
	fs_close(dirfd);
	return err;
}

static int read_item(size_t index, unsigned worker, void *payload)
{
	struct ingest *ingest = payload;
	int err = read_batch(ingest, &ingest->batches[index], worker, false);

	if (!err && !worker && ingest->opts->progress)
		ingest->opts->progress(ingest->opts->pack ? "Storing" : "Reading",
				       atomic_load(&ingest->files), ingest->total, NULL);
	return err;
}

static void add_batch(struct ingest *ingest, struct wt_dir *dir, size_t first, size_t end)
{
	ALLOC_GROW(ingest->batches, ingest->nr + 1, ingest->alloc);
	ingest->batches[ingest->nr++] = (struct ingest_batch){ dir, first, end };
}

static void collect(struct ingest *ingest, struct wt_dir *dir)
{
	size_t first = 0, files = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_DIR) {
			if (!entry->dir->known)
				collect(ingest, entry->dir);
			continue;
		}
		if (entry->flags & WT_KNOWN && !ingest->opts->objects_there && ingest->opts->pack &&
		    !objects_exist(ingest->opts->store, &entry->oid))
			entry->flags &= (uint8_t)~WT_KNOWN;
		if (entry->flags & WT_KNOWN)
			continue;
		ingest->total++;
		ingest->total_bytes += entry->st.size;
		files++;
		if (ingest_is_large(entry))
			ingest->large_total += entry->st.size;
		else
			bytes += entry->st.size;
		if (files >= BATCH_FILES || bytes >= BATCH_BYTES) {
			add_batch(ingest, dir, first, i + 1);
			first = i + 1;
			files = 0;
			bytes = 0;
		}
	}
	if (files)
		add_batch(ingest, dir, first, dir->nr);
}

int ingest_run(struct ingest_result *out, const struct ingest_opts *opts)
{
	struct ingest ingest = { .opts = opts, .lock = PTHREAD_MUTEX_INITIALIZER,
				 .start = clock_monotonic() };
	unsigned threads = opts->threads ? opts->threads : 1;
	int err;

	collect(&ingest, opts->scan->root);
	ingest.readers = xcalloc(threads, sizeof(*ingest.readers));
	for (unsigned i = 0; i < threads; i++) {
		ingest.readers[i].sha1 = hash_new(HASH_SHA1);
		ingest.readers[i].sha256 = hash_new(HASH_SHA256);
	}
	err = pool_for(threads, ingest.nr, read_item, &ingest);
	/* Large files one after the other: only one at a time can be appended to the pack. */
	for (size_t i = 0; i < ingest.nr && !err; i++)
		err = read_batch(&ingest, &ingest.batches[i], 0, true);

	for (unsigned i = 0; i < threads; i++) {
		hash_free(ingest.readers[i].sha1);
		hash_free(ingest.readers[i].sha256);
		free(ingest.readers[i].buf);
		beneath_near_release(&ingest.readers[i].near);
	}
	free(ingest.readers);
	free(ingest.batches);
	*out = (struct ingest_result){ .files = atomic_load(&ingest.files),
				       .racy = atomic_load(&ingest.racy),
				       .bytes = atomic_load(&ingest.bytes),
				       .late = atomic_load(&ingest.late) };
	if (out->late)
		out->percent = (unsigned)(100 * work(out->files, out->bytes) /
					  work(ingest.total, ingest.total_bytes));
	if (err)
		return err;
	if (ingest.skipped) {
		wt_compact(opts->scan->root);
		skip_list_sort(&opts->scan->skips);
	}
	return 0;
}
