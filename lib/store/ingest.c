/* SPDX-License-Identifier: MIT */
#include "store/ingest.h"

#include "store/objects.h"
#include "store/pack.h"

#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
	BATCH_FILES = 64, /* one item of work, all from one directory */
	BATCH_BYTES = 1 << 20,
	TRIES = 5,
	HASH_BATCH = 4 << 20, /* what the threads hash at a time of a large file */
};

/* What a thread needs to read files. */
struct reader {
	struct digest *sha1, *sha256;
	unsigned char *buf;
	size_t alloc;
	struct beneath_near near;
	int lack; /* errno if something could not be opened or read for lack of descriptors or memory */
};

struct ingest_batch {
	struct wt_dir *dir;
	size_t first, end;
};

struct ingest {
	const struct ingest_opts *opts;
	struct ingest_batch *batches;
	size_t nr, alloc;
	size_t total; /* files to be read */
	uint64_t large_total, large_done; /* bytes of the large files, which one thread reads */
	struct reader *readers; /* one for each thread */
	pthread_mutex_t lock; /* protects the scan's skip list, and: */
	bool skipped;         /* some were, and are dead entries now */
	atomic_size_t files, racy;
	atomic_ullong bytes;
	uint64_t total_bytes;
	double start;
	atomic_bool late;
};

/* --- is there time? --- */

/* A file costs as much as this many bytes. */
static double work_of(uint64_t files, uint64_t bytes)
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
	done = work_of(atomic_load(&ingest->files), atomic_load(&ingest->bytes)) /
	       work_of(ingest->total, ingest->total_bytes);
	if (spent * (1 + after) <= done * limit)
		return 0;
	atomic_store(&ingest->late, true);
	return ckpt_error_set(CKPT_ECANCELLED, "there is not enough time to read everything");
}

static int may_go_on(struct ingest *ingest)
{
	int err = cancel_check();

	return err ? err : time_check(ingest);
}

/* --- one file --- */

enum outcome { READ_DONE, READ_AGAIN, READ_LATER, READ_SKIP, READ_LACKING };

/*
 * A file that changes while it is read is read again, with pauses, until it is twice the same. Then
 * only as much of it is read as the first time, so a log that just grows is the same, too. After the
 * last try it is kept as it was read last, and named.
 */
struct attempt {
	enum outcome outcome;
	enum skip_why why; /* it was not read */
	bool last;
	bool changed;	   /* while it was read */
	struct oid before; /* what was read the time before; zero: nothing */
	uint64_t size;	   /* of that */
};

static bool is_large(const struct wt_entry *entry)
{
	return entry->kind == WT_FILE && entry->st.size > FS_WHOLE_MAX;
}

static void give_up(struct attempt *attempt, struct reader *reader, int err)
{
	if (fs_is_lack(err)) {
		reader->lack = err;
		attempt->outcome = READ_LACKING;
		return;
	}
	attempt->why = err == ENOENT ? SKIP_VANISHED : SKIP_UNREADABLE;
	/* A link or a directory in place of a file: it changed, check again. */
	attempt->outcome = err == ENOENT || err == ELOOP || err == EISDIR || err == ENXIO ||
					   err == EINTR
				   ? READ_AGAIN
				   : READ_SKIP;
}

static void try_again(struct attempt *attempt)
{
	attempt->outcome = READ_AGAIN;
	attempt->why = SKIP_CHANGING;
}

static void name_small(struct reader *reader, struct wt_entry *entry, size_t len)
{
	hash_object(reader->sha1, &entry->oid, "blob", reader->buf, len);
	hash_update(reader->sha256, reader->buf, len);
	hash_end(reader->sha256, entry->sha256);
}

/* What pack_add_stream() reads from. */
struct file_stream {
	struct ingest *ingest;
	struct reader *reader;
	int fd;
	uint64_t size, bytes; /* to read, and read */
	uint32_t crc;
	const uint32_t *must_be; /* the checksum when it was hashed; NULL if it was not */
	bool at_end, differs;
	int failed; /* errno of a read */
};

/* By their contents: a few large files take as long as many small ones. */
static void tell_large(const struct file_stream *stream)
{
	enum { MB = 1000 * 1000 };
	const struct ingest *ingest = stream->ingest;

	if (ingest->opts->progress)
		ingest->opts->progress(ingest->opts->pack ? "Storing large files, in MB" :
							    "Reading large files, in MB",
				       (size_t)((ingest->large_done + stream->bytes) / MB),
				       (size_t)(ingest->large_total / MB), NULL);
}

static int read_stream(void *buf, size_t size, void *payload)
{
	struct file_stream *stream = payload;
	uint64_t left = stream->size - stream->bytes;
	int err = may_go_on(stream->ingest);
	ssize_t n = err ? 0 : fs_read_full(stream->fd, buf, size < left ? size : (size_t)left);

	if (err)
		return err;
	if (n < 0) {
		stream->failed = errno;
		return ckpt_error_errno("unable to read a file");
	}
	stream->bytes += (uint64_t)n;
	stream->crc = hash_crc(stream->crc, buf, (size_t)n);
	stream->at_end = !n;
	stream->differs = !n && stream->must_be && *stream->must_be != stream->crc;
	if (stream->differs)
		return ckpt_error_set(CKPT_ERROR, "a file changed while it was read");
	tell_large(stream);
	return (int)n;
}

struct hashing {
	struct digest *digests[2];
	const unsigned char *data;
	size_t len;
};

static int hash_item(size_t index, unsigned worker UNUSED, void *payload)
{
	struct hashing *hashing = payload;

	hash_update(hashing->digests[index], hashing->data, hashing->len);
	return 0;
}

/* Hash a large file without storing it. */
static int name_stream(struct file_stream *stream, struct wt_entry *entry)
{
	struct reader *reader = stream->reader;
	struct hashing hashing = { .digests = { reader->sha1, reader->sha256 } };
	char header[64];
	int n, err = 0;

	ALLOC_GROW(reader->buf, HASH_BATCH, reader->alloc);
	hash_begin(reader->sha256);
	hash_update(reader->sha1, header, hash_object_header(header, "blob", entry->st.size));
	while (!err && (n = read_stream(reader->buf, HASH_BATCH, stream))) {
		hashing.data = reader->buf;
		hashing.len = (size_t)n;
		err = n < 0 ? n : pool_for(stream->ingest->opts->threads, 2, hash_item, &hashing);
	}
	hash_end(reader->sha1, entry->oid.id);
	hash_end(reader->sha256, entry->sha256);
	if (!err && stream->bytes != entry->st.size)
		return ckpt_error_set(CKPT_ERROR, "a file changed while it was read");
	return err;
}

/* Hash and store a file that is probably new. */
static int store_stream(struct file_stream *stream, struct wt_entry *entry)
{
	struct pack_source source = { .size = entry->st.size, .read = read_stream, .payload = stream,
				      .sha256 = stream->reader->sha256 };
	int err;

	hash_begin(source.sha256);
	err = pack_add_stream(stream->ingest->opts->pack, &entry->oid, &source);
	hash_end(source.sha256, entry->sha256);
	return err;
}

/*
 * Compressing costs ten times as much as hashing, so find out first whether contents that are
 * probably unchanged are. If not, they need not be hashed again: a checksum shows whether what is
 * stored now is what was hashed, and the pack is read back in any case.
 */
static int store_if_new(struct file_stream *stream, struct wt_entry *entry)
{
	struct ingest *ingest = stream->ingest;
	struct pack_source source = { .size = entry->st.size, .read = read_stream, .payload = stream,
				      .name = &entry->oid };
	int err = name_stream(stream, entry);
	uint32_t hashed = stream->crc;
	struct oid oid;

	if (err || objects_exist(ingest->opts->store, &entry->oid))
		return err;
	if (lseek(stream->fd, 0, SEEK_SET) < 0)
		return ckpt_error_errno("unable to read a file again");
	stream->bytes = 0;
	stream->crc = 0;
	stream->must_be = &hashed;
	err = pack_add_stream(ingest->opts->pack, &oid, &source);
	stream->must_be = NULL;
	return err;
}

/* A failure of the store ends the save; a failure of the file concerns only that file. */
static int read_large(struct attempt *attempt, struct ingest *ingest, struct reader *reader,
		      struct wt_entry *entry, int fd)
{
	struct file_stream stream = {
		.ingest = ingest, .reader = reader, .fd = fd, .size = entry->st.size
	};
	int err = !ingest->opts->pack ? name_stream(&stream, entry) :
		  entry->flags & WT_TOUCHED && !attempt->last ? store_if_new(&stream, entry) :
								store_stream(&stream, entry);

	if (!err)
		return 0;
	if (err == CKPT_ECANCELLED)
		return err;
	if (stream.failed) {
		give_up(attempt, reader, stream.failed);
		return 0;
	}
	if (stream.differs || (stream.at_end && stream.bytes != stream.size)) {
		try_again(attempt);
		return 0;
	}
	return err;
}

static void read_small(struct attempt *attempt, struct reader *reader, struct wt_entry *entry, int fd)
{
	size_t size = (size_t)entry->st.size;
	ssize_t n;

	ALLOC_GROW(reader->buf, size + 1, reader->alloc);
	n = fs_read_full(fd, reader->buf, size);
	if (n < 0) {
		give_up(attempt, reader, errno);
		return;
	}
	attempt->changed = (size_t)n != size;
	entry->st.size = (uint64_t)n;
	name_small(reader, entry, (size_t)n);
}

/* What is read now; whatever was known about other contents is void. */
static void take_stat(struct wt_entry *entry, const struct stat *st)
{
	struct wt_stat now;

	wt_stat_from(&now, st);
	if (!wt_stat_equal(&now, &entry->st))
		entry->flags &= (uint8_t)~(WT_EARLIER | WT_SETTLED);
	entry->st = now;
	if (entry->kind == WT_FILE)
		entry->mode = st->st_mode & 07777;
}

/*
 * On an overlay nobody tells whether a file is mapped (see fs_has_writer()). A store into a mapped page
 * changes the times only if the page was written to disk since the store before. The kernel does that
 * half a minute after the first of them, so until then, with a margin, the times prove nothing.
 */
static int64_t proven_until(const struct ingest *ingest, int64_t read_ns)
{
	static const int64_t writeback_ns = 60000000000;

	return ingest->opts->scan->origin.fstype == OVERLAYFS_SUPER_MAGIC ? read_ns - writeback_ns
									   : read_ns;
}

/* Read to the end: what its times prove from now on, see statcache.h. */
static void mark_read(struct wt_entry *entry, int64_t read_ns, bool has_writer)
{
	entry->flags &= (uint8_t)~WT_RACY;
	if (has_writer || wt_stat_racy(&entry->st, read_ns))
		entry->flags |= WT_RACY;
	else if (entry->flags & WT_EARLIER)
		entry->flags |= WT_SETTLED;
}

/* Was it the same from beginning to end? `writing`: perhaps not, though its times are the same. */
static void judge_reading(struct attempt *attempt, struct wt_entry *entry, int fd,
			  const struct stat *before, bool writing)
{
	bool is_same = oid_equal(&attempt->before, &entry->oid);
	struct wt_stat then, now;
	struct stat st;

	wt_stat_from(&then, before);
	if (fstat(fd, &st) < 0)
		st = (struct stat){ 0 };
	wt_stat_from(&now, &st);
	attempt->changed |= writing || !wt_stat_equal(&then, &now) || st.st_mode != before->st_mode;
	if (!attempt->changed)
		return;
	entry->flags |= WT_RACY;
	attempt->before = entry->oid;
	attempt->size = then.size;
	if (is_same)
		attempt->changed = false;
	else if (!attempt->last)
		try_again(attempt);
}

/* Its contents, and what else is known of it; also as much of a growing one as was read before. */
static int read_open(struct attempt *attempt, struct ingest *ingest, unsigned worker,
		     struct wt_entry *entry, int fd, const struct stat *st)
{
	struct reader *reader = &ingest->readers[worker];
	int64_t read_ns = clock_file_ns();
	bool large, has_writer;
	int err = 0;

	if (attempt->size && entry->st.size > attempt->size)
		entry->st.size = attempt->size;
	large = entry->st.size > FS_WHOLE_MAX;
	/*
	 * Through an existing mapping it can be written again without a change of its times.
	 * Checked before it is read: a later mapping changes them with the first write.
	 */
	has_writer = entry->st.size && !ingest->opts->once && fs_has_writer(fd);
	attempt->outcome = READ_DONE;
	attempt->changed = false;
	if (large)
		err = read_large(attempt, ingest, reader, entry, fd);
	else
		read_small(attempt, reader, entry, fd);
	if (err || attempt->outcome != READ_DONE)
		return err;
	mark_read(entry, proven_until(ingest, read_ns), has_writer);
	/* What is written within a tick of the clock does not change them. */
	judge_reading(attempt, entry, fd, st,
		      wt_stat_racy(&entry->st, read_ns) && !ingest->opts->once &&
			      (has_writer || fs_has_writer(fd)));
	if (large || attempt->outcome != READ_DONE || !ingest->opts->pack)
		return 0;
	return pack_add(ingest->opts->pack, worker, OBJECT_BLOB, &entry->oid, reader->buf,
			(size_t)entry->st.size);
}

static int read_regular(struct attempt *attempt, struct ingest *ingest, unsigned worker, int dirfd,
			struct wt_entry *entry, bool large)
{
	int fd = openat(dirfd, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0) {
		give_up(attempt, &ingest->readers[worker], errno);
		return 0;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		try_again(attempt);
		goto out;
	}
	take_stat(entry, &st);
	if (ingest->opts->max_file_size && entry->st.size > ingest->opts->max_file_size) {
		attempt->outcome = READ_SKIP;
		attempt->why = SKIP_OVERSIZE;
	} else if (entry->st.size > FS_WHOLE_MAX && !large) {
		/* Has grown since the scan; only the serial part may stream. */
		attempt->outcome = READ_LATER;
	} else {
		err = read_open(attempt, ingest, worker, entry, fd, &st);
	}
out:
	close(fd);
	return err;
}

static int read_link(struct attempt *attempt, struct ingest *ingest, unsigned worker, int dirfd,
		     struct wt_entry *entry)
{
	struct reader *reader = &ingest->readers[worker];
	int64_t read_ns = clock_file_ns();
	struct wt_stat after;
	struct stat st;
	ssize_t n;

	ALLOC_GROW(reader->buf, 65536, reader->alloc);
	n = readlinkat(dirfd, entry->name, (char *)reader->buf, 65536);
	if (n < 0) {
		if (errno == EINVAL) /* no longer a link */
			try_again(attempt);
		else
			give_up(attempt, reader, errno);
		return 0;
	}
	if (fstatat(dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		give_up(attempt, reader, errno);
		return 0;
	}
	wt_stat_from(&after, &st);
	if (!wt_stat_equal(&after, &entry->st)) {
		take_stat(entry, &st);
		try_again(attempt);
		return 0;
	}
	name_small(reader, entry, (size_t)n);
	mark_read(entry, read_ns, false);
	attempt->outcome = READ_DONE;
	return ingest->opts->pack ? pack_add(ingest->opts->pack, worker, OBJECT_BLOB, &entry->oid,
					     reader->buf, (size_t)n) :
				    0;
}

static void note_skip(struct ingest *ingest, struct wt_dir *dir, const struct wt_entry *entry,
		      enum skip_why why)
{
	char *path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);

	pthread_mutex_lock(&ingest->lock);
	ingest->skipped = true;
	scan_skip_later(ingest->opts->scan, dir, path, why);
	if (why == SKIP_VANISHED)
		ingest->opts->scan->moved = true;
	pthread_mutex_unlock(&ingest->lock);
	free(path);
}

static void skip_entry(struct ingest *ingest, struct wt_dir *dir, struct wt_entry *entry,
		       enum skip_why why)
{
	entry->flags |= WT_DEAD;
	note_skip(ingest, dir, entry, why);
}

static int read_entry(struct ingest *ingest, unsigned worker, int dirfd, struct wt_dir *dir,
		 struct wt_entry *entry, bool large)
{
	struct attempt attempt = { .outcome = READ_AGAIN, .why = SKIP_CHANGING };
	int err = 0;

	for (int i = 0; i < TRIES && attempt.outcome == READ_AGAIN && !err; i++) {
		attempt.last = i + 1 == TRIES;
		if (i) {
			struct timespec pause = { .tv_nsec = 2000000L << i };

			nanosleep(&pause, NULL);
		}
		if (entry->kind == WT_LINK)
			err = read_link(&attempt, ingest, worker, dirfd, entry);
		else
			err = read_regular(&attempt, ingest, worker, dirfd, entry, large);
	}
	if (err || attempt.outcome == READ_LATER)
		return err;
	if (attempt.outcome == READ_LACKING) {
		errno = ingest->readers[worker].lack;
		return ckpt_error_errno("unable to read '%s%s%s'", dir->path, *dir->path ? "/" : "",
					entry->name);
	}
	if (attempt.outcome != READ_DONE) {
		skip_entry(ingest, dir, entry, attempt.why);
		return 0;
	}
	if (attempt.changed)
		note_skip(ingest, dir, entry, SKIP_CHANGING);
	entry->flags |= WT_KNOWN;
	atomic_fetch_add(&ingest->files, 1);
	atomic_fetch_add(&ingest->racy, (entry->flags & WT_RACY) != 0);
	atomic_fetch_add(&ingest->bytes, entry->st.size);
	return 0;
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

		if (entry->kind == WT_DIR || entry->flags & WT_KNOWN || is_large(entry) != large)
			continue;
		err = may_go_on(ingest);
		if (err)
			break;
		if (dirfd < 0 && fs_is_lack(open_errno)) {
			errno = open_errno;
			err = ckpt_error_errno("unable to open the directory '%s'",
					       *dir->path ? dir->path : ".");
		} else if (dirfd < 0) {
			bool gone = open_errno == ENOENT || open_errno == ENOTDIR ||
				    open_errno == ELOOP || open_errno == EXDEV;

			skip_entry(ingest, dir, entry, gone ? SKIP_VANISHED : SKIP_UNREADABLE);
		} else {
			err = read_entry(ingest, worker, dirfd, dir, entry, large);
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
	*ALLOC_NEXT(ingest->batches, ingest->nr, ingest->alloc) =
		(struct ingest_batch){ dir, first, end };
}

static void collect_files(struct ingest *ingest, struct wt_dir *dir)
{
	size_t first = 0, files = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_DIR) {
			if (!entry->dir->known)
				collect_files(ingest, entry->dir);
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
		if (is_large(entry))
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

	collect_files(&ingest, opts->scan->root);
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
		out->percent = (unsigned)(100 * work_of(out->files, out->bytes) /
					  work_of(ingest.total, ingest.total_bytes));
	if (err)
		return err;
	if (ingest.skipped) {
		wt_compact(opts->scan->root);
		skip_list_sort(&opts->scan->skips);
	}
	return 0;
}
