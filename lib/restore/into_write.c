/* SPDX-License-Identifier: MIT */
/*
 * Writing a copy. Invariants:
 *
 *  1. Every file is new (O_EXCL) in a directory that was opened without following
 *     a link; nothing that exists is written to or gets another mode. In an
 *     unfinished copy, what is not as it should be is removed and made new,
 *     unless somebody else wrote into it.
 *  2. Until it is complete a file can be read by its owner alone.
 *  3. Directories get their modes when everything is in them.
 */
#include "restore/into_internal.h"

#include "base/base.h"
#include "restore/restore.h"
#include "tree/tree.h"

#include <stdatomic.h>

/* Files of one directory that one thread writes. */
struct into_batch {
	const struct wt_dir *dir;
	size_t first, end;
};

enum { BATCH = 64 };

struct writer {
	struct into *into;
	struct tools {
		struct beneath_near near;
		struct strbuf data;
		struct digest *sha1;
	} *tools; /* one for each thread */
	atomic_size_t files, cloned;
	atomic_ullong bytes;
};

bool into_has(const struct into *into, const struct wt_dir *dir, const struct wt_entry *entry)
{
	char *path;
	bool has;

	if (!into->paths.nr)
		return true;
	path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
	has = plan_concerns(&into->paths, path);
	free(path);
	return has;
}

/* --- what there is to write --- */

static void add_batches(struct into *into, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i += BATCH) {
		ALLOC_GROW(into->batches, into->batches_nr + 1, into->batches_alloc);
		into->batches[into->batches_nr++] =
			(struct into_batch){ dir, i, i + BATCH < dir->nr ? i + BATCH : dir->nr };
	}
}

static int list_dir(struct into *into, struct wt_dir *dir)
{
	int err = snapshot_expand(into->tree, dir);

	if (!err)
		add_batches(into, dir);
	for (size_t i = 0; i < dir->nr && !err; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		if (!into_has(into, dir, entry))
			continue;
		if (entry->kind != WT_DIR) {
			into->out->files++;
			continue;
		}
		into->out->dirs++;
		ALLOC_GROW(into->dirs, into->dirs_nr + 1, into->dirs_alloc);
		into->dirs[into->dirs_nr++] = entry;
		err = list_dir(into, entry->dir);
	}
	return err;
}

int into_list(struct into *into)
{
	return list_dir(into, into->tree->root);
}

void into_write_release(struct into *into)
{
	free(into->dirs);
	free(into->batches);
}

/* --- directories --- */

/* One of an unfinished copy may have its mode already. */
static int open_up(struct into *into, struct beneath_near *near, const char *path)
{
	const char *name;
	int dirfd = beneath_open_parent_near(near, into->fd, path, &name), rc = -1;
	struct stat st;

	if (dirfd >= 0 && !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		errno = ENOTDIR;
		if (S_ISDIR(st.st_mode))
			rc = (st.st_mode & 07777) == 0700 ? 0 : beneath_set_mode(dirfd, name, 0700);
	}
	fs_close(dirfd);
	return rc;
}

static int make_dirs(struct into *into)
{
	struct beneath_near near = { 0 };
	int err = 0;

	for (size_t i = 0; i < into->dirs_nr && !err; i++) {
		const char *path = into->dirs[i]->dir->path;

		err = cancel_check();
		if (!err && beneath_mkdir(&near, into->fd, path, 0700) < 0 &&
		    (errno != EEXIST || !into->left || open_up(into, &near, path) < 0))
			err = ckpt_error_errno("unable to create the directory '%s'", path);
	}
	beneath_near_release(&near);
	return err;
}

/* From the innermost out: a directory that its owner may not write to is the last to be touched. */
static int finish_dirs(struct into *into)
{
	struct beneath_near near = { 0 };
	int err = 0;

	for (size_t i = into->dirs_nr; i-- && !err;) {
		const struct wt_entry *entry = into->dirs[i];

		if (entry->mode != 0700 &&
		    beneath_chmod_dir(&near, into->fd, entry->dir->path, entry->mode, false) < 0)
			err = ckpt_error_errno("unable to set the mode of the directory '%s'",
					       entry->dir->path);
	}
	beneath_near_release(&near);
	return err;
}

/* --- what an earlier process left --- */

static int check_names(struct into *into, const struct wt_dir *dir)
{
	struct strlist names = STRLIST_INIT;
	int fd = beneath_open(into->fd, dir->path, O_RDONLY | O_DIRECTORY), err = 0;

	/* One that is not there yet, or whose mode was set already: writing will tell. */
	if (fd < 0 || fs_names(&names, fd, ".", 0, NULL) < 0) {
		fs_close(fd);
		strlist_release(&names);
		return 0;
	}
	for (size_t i = 0; i < names.nr && !err; i++) {
		const struct wt_entry *entry = wt_child(dir, names.items[i], strlen(names.items[i]));

		if ((entry && into_has(into, dir, entry)) ||
		    (!*dir->path && into_is_own(into, names.items[i])))
			continue;
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s%s%s' in the unfinished copy '%s' is not part of it; move it away",
				     dir->path, *dir->path ? "/" : "", names.items[i],
				     into->out->path);
	}
	fs_close(fd);
	strlist_release(&names);
	return err;
}

int into_check_left(struct into *into)
{
	int err = into->left ? check_names(into, into->tree->root) : 0;

	for (size_t i = 0; i < into->dirs_nr && into->left && !err; i++)
		err = check_names(into, into->dirs[i]->dir);
	return err;
}

/* Whether the file has the contents; of one with other names the mode must stay. */
static bool has_contents(int fd, struct digest *sha1, const struct oid *oid)
{
	unsigned char *buf;
	struct stat st;
	struct oid found = { { 0 } };
	char header[64];
	ssize_t n;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		return false;
	buf = xmalloc(FS_CHUNK);
	hash_begin(sha1);
	hash_update(sha1, header,
		    hash_object_header(header, "blob", (unsigned long long)st.st_size));
	while ((n = fs_read_full(fd, buf, FS_CHUNK)) > 0)
		hash_update(sha1, buf, (size_t)n);
	hash_end(sha1, found.id);
	free(buf);
	return !n && oid_equal(&found, oid);
}

static bool keep_file(int dirfd, const struct wt_entry *entry, struct digest *sha1)
{
	int fd = openat(dirfd, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool kept = fd >= 0 && has_contents(fd, sha1, &entry->oid) && !fchmod(fd, entry->mode);

	fs_close(fd);
	return kept;
}

struct remains {
	int fd;
	off_t at;
	bool foreign;
};

/* A process that was killed leaves the beginning, a power cut also zeros. */
static int compare_piece(const void *data, size_t len, void *payload)
{
	struct remains *remains = payload;
	const unsigned char *expected = data;
	unsigned char buf[8192];

	for (size_t done = 0; done < len && !remains->foreign;) {
		size_t want = len - done < sizeof(buf) ? len - done : sizeof(buf);
		ssize_t n = fs_pread_full(remains->fd, buf, want, remains->at);

		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			remains->foreign |= buf[i] && buf[i] != expected[done + (size_t)i];
		done += (size_t)n;
		remains->at += n;
	}
	return 0;
}

/* What has another name, too, or cannot be read, is not lost, or was not written to by anybody. */
static int refuse_foreign(struct store *store, int dirfd, const struct wt_entry *entry)
{
	struct remains remains = {
		.fd = openat(dirfd, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
	};
	struct stat st;
	uint64_t size;
	int err = 0;

	if (remains.fd >= 0 && !fstat(remains.fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1) {
		err = objects_size(&size, store, &entry->oid);
		remains.foreign = !err && (entry->kind != WT_FILE || (uint64_t)st.st_size > size);
		if (!err && !remains.foreign)
			err = objects_stream(store, &entry->oid, compare_piece, &remains);
	}
	fs_close(remains.fd);
	return !err && remains.foreign
		       ? ckpt_error_set(CKPT_EREFUSED,
					"it was changed in the unfinished copy; move it away")
		       : err;
}

/* --- files and links --- */

static int write_piece(const void *data, size_t len, void *payload)
{
	return sparse_write(payload, data, len) < 0 ? ckpt_error_errno("unable to write it") : 0;
}

static int write_contents(uint64_t *size, struct writer *writer, struct tools *tools, int fd,
			  const struct wt_entry *entry)
{
	struct store *store = writer->into->session->store;
	struct sparse file = SPARSE_INIT(fd);
	int err = objects_size(size, store, &entry->oid);

	if (!err && *size > FS_WHOLE_MAX) {
		err = objects_stream(store, &entry->oid, write_piece, &file);
	} else if (!err) {
		strbuf_reset(&tools->data);
		err = objects_read(&tools->data, store, &entry->oid, OBJECT_BLOB);
		if (!err)
			err = write_piece(tools->data.buf, tools->data.len, &file);
	}
	if (!err && sparse_finish(&file) < 0)
		err = ckpt_error_errno("unable to write it");
	return err;
}

static int write_file(struct writer *writer, struct tools *tools, int dirfd,
		      const struct wt_entry *entry)
{
	uint64_t size = 0;
	int fd, err = 0;

	fd = openat(dirfd, entry->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ckpt_error_errno("unable to create it");
	if (into_clone(&writer->into->clones, fd, &entry->oid, &size))
		atomic_fetch_add(&writer->cloned, 1);
	else
		err = write_contents(&size, writer, tools, fd, entry);
	if (!err && fchmod(fd, entry->mode) < 0)
		err = ckpt_error_errno("unable to set its mode");
	atomic_fetch_add(&writer->bytes, (unsigned long long)size);
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to write it");
	return err;
}

static int write_link(struct writer *writer, struct tools *tools, int dirfd,
		      const struct wt_entry *entry)
{
	struct strbuf *target = &tools->data;
	int err;

	strbuf_reset(target);
	err = objects_read(target, writer->into->session->store, &entry->oid, OBJECT_BLOB);
	if (!err && (!target->len || strlen(target->buf) != target->len))
		err = ckpt_error_set(CKPT_ECORRUPT, "the target of the link is malformed");
	if (!err && symlinkat(target->buf, dirfd, entry->name) < 0)
		err = ckpt_error_errno("unable to create the link");
	return err;
}

static int write_entry(struct writer *writer, struct tools *tools, int dirfd,
		       const struct wt_dir *dir, const struct wt_entry *entry)
{
	int err = cancel_check();

	if (err)
		return err;
	if (writer->into->left) {
		struct stat st;

		if (entry->kind == WT_FILE && keep_file(dirfd, entry, tools->sha1)) {
			if (!fstatat(dirfd, entry->name, &st, AT_SYMLINK_NOFOLLOW))
				atomic_fetch_add(&writer->bytes, (unsigned long long)st.st_size);
			return 0;
		}
		/* What this process wrote itself may come from a live file that changed. */
		if (!writer->into->no_clones)
			err = refuse_foreign(writer->into->session->store, dirfd, entry);
		if (!err && unlinkat(dirfd, entry->name, 0) < 0 && errno != ENOENT)
			err = ckpt_error_errno("unable to replace it");
	}
	if (!err)
		err = entry->kind == WT_LINK ? write_link(writer, tools, dirfd, entry)
					     : write_file(writer, tools, dirfd, entry);
	if (err && err != CKPT_ECANCELLED)
		err = ckpt_error_prefix(err, "'%s%s%s'", dir->path, *dir->path ? "/" : "",
					entry->name);
	return err;
}

static int write_batch(size_t index, unsigned worker, void *payload)
{
	struct writer *writer = payload;
	struct into *into = writer->into;
	const struct into_batch *batch = &into->batches[index];
	struct tools *tools = &writer->tools[worker];
	int err = 0, fd = beneath_open_near(&tools->near, into->fd, batch->dir->path,
					    O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return ckpt_error_errno("unable to open the directory '%s'", batch->dir->path);
	for (size_t i = batch->first; i < batch->end && !err; i++) {
		const struct wt_entry *entry = &wt_entries(batch->dir)[i];

		if (entry->kind == WT_DIR || !into_has(into, batch->dir, entry))
			continue;
		err = write_entry(writer, tools, fd, batch->dir, entry);
		atomic_fetch_add(&writer->files, 1);
	}
	close(fd);
	if (!worker && into->opts->progress)
		into->opts->progress("Writing", atomic_load(&writer->files), into->out->files,
				     NULL);
	return err;
}

static void writer_open(struct writer *writer, struct into *into)
{
	unsigned threads = into->session->threads ? into->session->threads : 1;

	memset(writer, 0, sizeof(*writer));
	writer->into = into;
	writer->tools = xcalloc(threads, sizeof(*writer->tools));
	for (unsigned i = 0; i < threads; i++) {
		strbuf_init(&writer->tools[i].data);
		writer->tools[i].sha1 = hash_new(HASH_SHA1);
	}
}

static void writer_close(struct writer *writer)
{
	unsigned threads = writer->into->session->threads;

	for (unsigned i = 0; i < (threads ? threads : 1); i++) {
		beneath_near_release(&writer->tools[i].near);
		strbuf_release(&writer->tools[i].data);
		hash_free(writer->tools[i].sha1);
	}
	free(writer->tools);
}

int into_write(struct into *into)
{
	struct writer writer;
	int err = make_dirs(into);

	if (err)
		return err;
	writer_open(&writer, into);
	if (!into->no_clones)
		into_clones_open(&into->clones, into);
	err = pool_for(into->session->threads, into->batches_nr, write_batch, &writer);
	into->out->bytes = atomic_load(&writer.bytes);
	into->out->cloned = atomic_load(&writer.cloned);
	writer_close(&writer);
	into_clones_close(&into->clones);
	return err ? err : finish_dirs(into);
}
