/* SPDX-License-Identifier: MIT */
#include "store/ingest_file_internal.h"

#include "base/base.h"
#include "store/pack.h"

enum {
	TRIES = 5,
	BATCH = 4 << 20, /* what the threads hash at a time of a large file */
};

enum outcome { READ_DONE, READ_AGAIN, READ_LATER, READ_SKIP, READ_LACKING };

bool ingest_is_large(const struct wt_entry *entry)
{
	return entry->kind == WT_FILE && entry->st.size > FS_WHOLE_MAX;
}

static enum outcome give_up(struct ingest_reader *reader, enum skip_why *why, int err)
{
	if (fs_is_lack(err)) {
		reader->lack = err;
		return READ_LACKING;
	}
	*why = err == ENOENT ? SKIP_VANISHED : SKIP_UNREADABLE;
	/* A link or a directory in place of a file: it changed, check again. */
	if (err == ENOENT || err == ELOOP || err == EISDIR || err == ENXIO || err == EINTR)
		return READ_AGAIN;
	return READ_SKIP;
}

static void name_small(struct ingest_reader *reader, struct wt_entry *entry, size_t len)
{
	hash_object(reader->sha1, &entry->oid, "blob", reader->buf, len);
	hash_update(reader->sha256, reader->buf, len);
	hash_end(reader->sha256, entry->sha256);
}

/* What pack_add_stream() reads from. */
struct file_stream {
	struct ingest *ingest;
	struct ingest_reader *reader;
	int fd;
	uint64_t bytes;
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
	int err = ingest_go_on(stream->ingest);
	ssize_t n = err ? 0 : fs_read_full(stream->fd, buf, size);

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

static int hash_item(size_t index, unsigned worker, void *payload)
{
	struct hashing *hashing = payload;

	(void)worker;
	hash_update(hashing->digests[index], hashing->data, hashing->len);
	return 0;
}

/* Hash a large file without storing it. */
static int name_stream(struct file_stream *stream, struct wt_entry *entry)
{
	struct ingest_reader *reader = stream->reader;
	struct hashing hashing = { .digests = { reader->sha1, reader->sha256 } };
	char header[64];
	int n, err = 0;

	ALLOC_GROW(reader->buf, BATCH, reader->alloc);
	hash_begin(reader->sha256);
	hash_update(reader->sha1, header, hash_object_header(header, "blob", entry->st.size));
	while (!err && (n = read_stream(reader->buf, BATCH, stream))) {
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
static int read_large(enum outcome *outcome, enum skip_why *why, struct ingest *ingest,
		      struct ingest_reader *reader, struct wt_entry *entry, int fd)
{
	struct file_stream stream = { .ingest = ingest, .reader = reader, .fd = fd };
	int err = !ingest->opts->pack ? name_stream(&stream, entry) :
		  entry->flags & WT_TOUCHED ? store_if_new(&stream, entry) :
					      store_stream(&stream, entry);

	if (!err)
		return 0;
	if (err == CKPT_ECANCELLED)
		return err;
	if (stream.failed) {
		*outcome = give_up(reader, why, stream.failed);
		return 0;
	}
	if (stream.differs ||
	    (stream.at_end ? stream.bytes != entry->st.size : stream.bytes > entry->st.size)) {
		*outcome = READ_AGAIN;
		*why = SKIP_CHANGING;
		return 0;
	}
	return err;
}

static int read_small(enum outcome *outcome, enum skip_why *why, struct ingest *ingest,
		      unsigned worker, struct ingest_reader *reader, struct wt_entry *entry, int fd,
		      const struct stat *before)
{
	size_t size = (size_t)entry->st.size;
	struct wt_stat after;
	struct stat st;
	ssize_t n;

	/* One byte more than there should be: growing shows. */
	ALLOC_GROW(reader->buf, size + 1, reader->alloc);
	n = fs_read_full(fd, reader->buf, size + 1);
	if (n < 0) {
		*outcome = give_up(reader, why, errno);
		return 0;
	}
	if (fstat(fd, &st) < 0) {
		*outcome = give_up(reader, why, errno);
		return 0;
	}
	wt_stat_from(&after, &st);
	if ((size_t)n != size || !wt_stat_equal(&after, &entry->st) ||
	    st.st_mode != before->st_mode) {
		*outcome = READ_AGAIN;
		*why = SKIP_CHANGING;
		return 0;
	}
	name_small(reader, entry, size);
	if (!ingest->opts->pack)
		return 0;
	return pack_add(ingest->opts->pack, worker, OBJECT_BLOB, &entry->oid, reader->buf, size);
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

/* Read to the end: what its times prove from now on, see statcache.h. */
static void mark_read(struct wt_entry *entry, int64_t read_ns, bool has_writer)
{
	entry->flags &= (uint8_t)~WT_RACY;
	if (has_writer || wt_stat_racy(&entry->st, read_ns))
		entry->flags |= WT_RACY;
	else if (entry->flags & WT_EARLIER)
		entry->flags |= WT_SETTLED;
}

static int read_regular(enum outcome *outcome, enum skip_why *why, struct ingest *ingest,
			unsigned worker, int dirfd, struct wt_entry *entry, bool large)
{
	struct ingest_reader *reader = &ingest->readers[worker];
	int64_t read_ns = clock_file_ns();
	struct stat st;
	int fd = openat(dirfd, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool has_writer;
	int err = 0;

	if (fd < 0) {
		*outcome = give_up(reader, why, errno);
		return 0;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		*outcome = READ_AGAIN;
		*why = SKIP_CHANGING;
		goto out;
	}
	take_stat(entry, &st);
	if (ingest->opts->max_file_size && entry->st.size > ingest->opts->max_file_size) {
		*outcome = READ_SKIP;
		*why = SKIP_OVERSIZE;
		goto out;
	}
	if (entry->st.size > FS_WHOLE_MAX && !large) {
		/* Has grown since the scan; only the serial part may stream. */
		*outcome = READ_LATER;
		goto out;
	}
	/*
	 * Through an existing mapping it can be written again without a change of its times.
	 * Checked before it is read: a later mapping changes them with the first write.
	 */
	has_writer = entry->st.size && !ingest->opts->once && fs_has_writer(fd);
	*outcome = READ_DONE;
	if (entry->st.size > FS_WHOLE_MAX)
		err = read_large(outcome, why, ingest, reader, entry, fd);
	else
		err = read_small(outcome, why, ingest, worker, reader, entry, fd, &st);
	if (!err && *outcome == READ_DONE) {
		struct wt_stat after;

		/* For the streamed ones; cheap for the others. */
		if (entry->st.size > FS_WHOLE_MAX && !fstat(fd, &st)) {
			wt_stat_from(&after, &st);
			if (!wt_stat_equal(&after, &entry->st)) {
				*outcome = READ_AGAIN;
				*why = SKIP_CHANGING;
			}
		}
		mark_read(entry, read_ns, has_writer);
	}
out:
	close(fd);
	return err;
}

static int read_link(enum outcome *outcome, enum skip_why *why, struct ingest *ingest,
		     unsigned worker, int dirfd, struct wt_entry *entry)
{
	struct ingest_reader *reader = &ingest->readers[worker];
	int64_t read_ns = clock_file_ns();
	struct wt_stat after;
	struct stat st;
	ssize_t n;

	ALLOC_GROW(reader->buf, 65536, reader->alloc);
	n = readlinkat(dirfd, entry->name, (char *)reader->buf, 65536);
	if (n < 0) {
		/* EINVAL: no longer a link. */
		*outcome = errno == EINVAL ? READ_AGAIN : give_up(reader, why, errno);
		if (errno == EINVAL)
			*why = SKIP_CHANGING;
		return 0;
	}
	if (fstatat(dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		*outcome = give_up(reader, why, errno);
		return 0;
	}
	wt_stat_from(&after, &st);
	if (!wt_stat_equal(&after, &entry->st)) {
		take_stat(entry, &st);
		*outcome = READ_AGAIN;
		*why = SKIP_CHANGING;
		return 0;
	}
	name_small(reader, entry, (size_t)n);
	mark_read(entry, read_ns, false);
	*outcome = READ_DONE;
	return ingest->opts->pack ? pack_add(ingest->opts->pack, worker, OBJECT_BLOB, &entry->oid,
					     reader->buf, (size_t)n) :
				    0;
}

void ingest_skip(struct ingest *ingest, struct wt_dir *dir, struct wt_entry *entry,
		 enum skip_why why)
{
	char *path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);

	entry->flags |= WT_DEAD;
	pthread_mutex_lock(&ingest->lock);
	ingest->skipped = true;
	scan_skip_later(ingest->opts->scan, dir, path, why);
	if (why == SKIP_VANISHED)
		ingest->opts->scan->moved = true;
	pthread_mutex_unlock(&ingest->lock);
	free(path);
}

int ingest_entry(struct ingest *ingest, unsigned worker, int dirfd, struct wt_dir *dir,
		 struct wt_entry *entry, bool large)
{
	enum outcome outcome = READ_AGAIN;
	enum skip_why why = SKIP_CHANGING;
	int err = 0;

	for (int i = 0; i < TRIES && outcome == READ_AGAIN && !err; i++) {
		if (i) {
			struct timespec pause = { .tv_nsec = 2000000L << i };

			nanosleep(&pause, NULL);
		}
		if (entry->kind == WT_LINK)
			err = read_link(&outcome, &why, ingest, worker, dirfd, entry);
		else
			err = read_regular(&outcome, &why, ingest, worker, dirfd, entry, large);
	}
	if (err || outcome == READ_LATER)
		return err;
	if (outcome == READ_LACKING) {
		errno = ingest->readers[worker].lack;
		return ckpt_error_errno("unable to read '%s%s%s'", dir->path, *dir->path ? "/" : "",
					entry->name);
	}
	if (outcome != READ_DONE) {
		ingest_skip(ingest, dir, entry, why);
		return 0;
	}
	entry->flags |= WT_KNOWN;
	atomic_fetch_add(&ingest->files, 1);
	atomic_fetch_add(&ingest->racy, (entry->flags & WT_RACY) != 0);
	atomic_fetch_add(&ingest->bytes, entry->st.size);
	return 0;
}
