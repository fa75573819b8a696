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

#include "restore/restore_hash_internal.h"
#include "restore/stage_internal.h"

#include <linux/fs.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

/* Files of one directory that one thread writes. */
struct into_batch {
	const struct wt_dir *dir;
	size_t first, end;
};

enum { BATCH = 64 };

/* True if this entry of a directory of the target is part of the copy. */
static bool has_entry(const struct into *into, const char *dir, const struct wt_entry *entry)
{
	char *path;
	bool has;

	if (!into->paths.nr)
		return true;
	path = xstrfmt("%s%s%s", dir, *dir ? "/" : "", entry->name);
	has = plan_concerns(&into->paths, path);
	free(path);
	return has;
}

/* --- what there is to write --- */

static void add_batches(struct into *into, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i += BATCH)
		*ALLOC_NEXT(into->batches, into->batches_nr, into->batches_alloc) =
			(struct into_batch){ dir, i, i + BATCH < dir->nr ? i + BATCH : dir->nr };
}

static int list_dir(struct into *into, struct wt_dir *dir)
{
	int err = snapshot_expand(into->tree, dir);

	if (!err)
		add_batches(into, dir);
	for (size_t i = 0; i < dir->nr && !err; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		if (!has_entry(into, dir->path, entry))
			continue;
		if (entry->kind != WT_DIR) {
			into->out->files++;
			continue;
		}
		into->out->dirs++;
		*ALLOC_NEXT(into->dirs, into->dirs_nr, into->dirs_alloc) = entry;
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

		if ((entry && has_entry(into, dir->path, entry)) ||
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

/* If it has the contents; of one with other names the mode must stay. */
static bool keep_file(int dirfd, const struct wt_entry *entry, struct stat *st)
{
	int fd = fs_open_regular(st, dirfd, entry->name, O_NOFOLLOW);
	struct oid found;
	bool kept = fd >= 0 && st->st_nlink == 1 &&
		    displaced_name_file(&found, dirfd, entry->name) &&
		    oid_equal(&found, &entry->oid) && !fchmod(fd, entry->mode);

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

/* --- contents of live files --- */

/*
 * Contents from live files, where the file system lets two files share them
 * (FICLONE). Which live file has which contents is known from the stat cache; its
 * stat data must be the same before and after. What a process writes through a
 * mapping meanwhile shows in none of them: the copy is read and compared at the
 * end in any case.
 */
enum {
	SAME_MAX = 4,	  /* of so many files with the same contents one will be unchanged */
	REFUSALS_MAX = 16, /* after so many, and no success, it is not tried any more */
};

/* A file of the present worktree whose contents are known. */
struct live_file {
	struct oid oid;
	const char *path;
	struct wt_stat st;
};

struct clones {
	int rootfd;		/* -1: there are none */
	struct live_file *items; /* by name of their contents */
	size_t nr, alloc;
	struct arena paths;
	atomic_uint refusals, successes;
};

static int by_oid(const void *a, const void *b)
{
	const struct live_file *x = a, *y = b;

	return memcmp(x->oid.id, y->oid.id, OID_SIZE);
}

static bool is_trusted(const struct statcache_entry *entry, enum origin_relation relation)
{
	return entry->kind == WT_FILE && entry->st.size && !(entry->flags & WT_RACY) &&
	       (relation == ORIGIN_SAME || entry->flags & WT_SETTLED);
}

static void gather_live(struct clones *clones, const struct statcache *cache,
		   const struct statcache_dir *dir, struct strbuf *path,
		   enum origin_relation relation)
{
	const struct statcache_entry *entries = dir ? statcache_entries(dir) : NULL;
	size_t len = path->len;

	for (uint32_t i = 0; dir && i < dir->nr; i++) {
		strbuf_setlen(path, len);
		if (len)
			strbuf_addch(path, '/');
		strbuf_add(path, statcache_name(dir, &entries[i]), entries[i].name_len);
		if (entries[i].kind == WT_DIR)
			gather_live(clones, cache, statcache_child(cache, &entries[i]), path, relation);
		if (!is_trusted(&entries[i], relation))
			continue;
		*ALLOC_NEXT(clones->items, clones->nr, clones->alloc) = (struct live_file){
			.oid = entries[i].oid,
			.path = arena_memdupz(&clones->paths, path->buf, path->len),
			.st = entries[i].st,
		};
	}
	strbuf_setlen(path, len);
}

/* No file system shares anything with one of another kind. */
static bool may_share(int a, int b)
{
	struct statfs of_a, of_b;

	return !fstatfs(a, &of_a) && !fstatfs(b, &of_b) && of_a.f_type == of_b.f_type;
}

static void open_clones(struct clones *out, const struct into *into)
{
	const struct session *session = into->session;
	struct statcache *cache;
	struct strbuf path = STRBUF_INIT;
	struct origin now;

	out->rootfd = open(session->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->rootfd < 0 || !may_share(out->rootfd, into->fd))
		return;
	cache = statcache_open(session->store->dirfd, LAYOUT_STATCACHE);
	if (cache) {
		origin_now(&now, out->rootfd);
		gather_live(out, cache, statcache_root(cache), &path,
		       origin_compare(&statcache_head(cache)->origin, &now));
		statcache_close(cache);
	}
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_oid);
	strbuf_release(&path);
}

static void close_clones(struct clones *clones)
{
	fs_close(clones->rootfd);
	free(clones->items);
	arena_release(&clones->paths);
}

static bool is_unchanged(int fd, const struct live_file *live)
{
	struct wt_stat now;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	wt_stat_from(&now, &st);
	return wt_stat_equal(&now, &live->st);
}

static bool clone_one(struct clones *clones, int fd, const struct live_file *live)
{
	int from = beneath_open(clones->rootfd, live->path, O_RDONLY | O_NONBLOCK);
	bool done = false;

	if (from >= 0 && is_unchanged(from, live)) {
		done = !ioctl(fd, FICLONE, from);
		atomic_fetch_add(done ? &clones->successes : &clones->refusals, 1);
		if (done && !is_unchanged(from, live)) {
			/* It is a new file, so this cannot lose anything. */
			(void)!ftruncate(fd, 0);
			done = false;
		}
	}
	fs_close(from);
	return done;
}

/* Make the new, empty file `fd` share the contents of a live file; false if that is not possible. */
static bool clone_file(struct clones *clones, int fd, const struct oid *oid, uint64_t *size_out)
{
	size_t low = 0, high = clones->nr;

	if (atomic_load(&clones->refusals) >= REFUSALS_MAX && !atomic_load(&clones->successes))
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(clones->items[middle].oid.id, oid->id, OID_SIZE) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < clones->nr && i < low + SAME_MAX; i++) {
		const struct live_file *live = &clones->items[i];

		if (!oid_equal(&live->oid, oid))
			return false;
		if (clone_one(clones, fd, live)) {
			*size_out = live->st.size;
			return true;
		}
	}
	return false;
}

/* --- files and links --- */

struct writer {
	struct into *into;
	unsigned threads;
	struct beneath_near *near; /* one for each thread */
	struct clones clones;
	atomic_size_t files, cloned;
	atomic_ullong bytes;
};

static int write_file(struct writer *writer, int dirfd, const struct wt_entry *entry)
{
	uint64_t size = 0;
	int fd, err = 0;

	fd = openat(dirfd, entry->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ckpt_error_errno("unable to create it");
	if (clone_file(&writer->clones, fd, &entry->oid, &size))
		atomic_fetch_add(&writer->cloned, 1);
	else
		err = stage_write_contents(&size, fd, writer->into->session->store, &entry->oid);
	if (!err && fchmod(fd, entry->mode) < 0)
		err = ckpt_error_errno("unable to set its mode");
	atomic_fetch_add(&writer->bytes, (unsigned long long)size);
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to write it");
	return err;
}

static int write_link(struct writer *writer, int dirfd, const struct wt_entry *entry)
{
	struct strbuf target = STRBUF_INIT;
	int err = stage_read_link(&target, writer->into->session->store, &entry->oid);

	if (!err && symlinkat(target.buf, dirfd, entry->name) < 0)
		err = ckpt_error_errno("unable to create the link");
	strbuf_release(&target);
	return err;
}

static int write_entry(struct writer *writer, int dirfd, const struct wt_dir *dir,
		       const struct wt_entry *entry)
{
	int err = cancel_check();

	if (err)
		return err;
	if (writer->into->left) {
		struct stat st;

		if (entry->kind == WT_FILE && keep_file(dirfd, entry, &st)) {
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
		err = entry->kind == WT_LINK ? write_link(writer, dirfd, entry)
					     : write_file(writer, dirfd, entry);
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
	int err = 0, fd = beneath_open_near(&writer->near[worker], into->fd, batch->dir->path,
					    O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return ckpt_error_errno("unable to open the directory '%s'", batch->dir->path);
	for (size_t i = batch->first; i < batch->end && !err; i++) {
		const struct wt_entry *entry = &wt_entries(batch->dir)[i];

		if (entry->kind == WT_DIR || !has_entry(into, batch->dir->path, entry))
			continue;
		err = write_entry(writer, fd, batch->dir, entry);
		atomic_fetch_add(&writer->files, 1);
	}
	close(fd);
	if (!worker && into->opts->progress)
		into->opts->progress("Writing", atomic_load(&writer->files), into->out->files,
				     NULL);
	return err;
}

static void open_writer(struct writer *writer, struct into *into)
{
	memset(writer, 0, sizeof(*writer));
	writer->into = into;
	writer->clones.rootfd = -1;
	writer->threads = into->session->threads ? into->session->threads : 1;
	writer->near = xcalloc(writer->threads, sizeof(*writer->near));
	if (!into->no_clones)
		open_clones(&writer->clones, into);
}

static void close_writer(struct writer *writer)
{
	for (unsigned i = 0; i < writer->threads; i++)
		beneath_near_release(&writer->near[i]);
	free(writer->near);
	close_clones(&writer->clones);
}

int into_write(struct into *into)
{
	struct writer writer;
	int err = make_dirs(into);

	if (err)
		return err;
	open_writer(&writer, into);
	err = pool_for(into->session->threads, into->batches_nr, write_batch, &writer);
	into->out->bytes = atomic_load(&writer.bytes);
	into->out->cloned = atomic_load(&writer.cloned);
	close_writer(&writer);
	return err ? err : finish_dirs(into);
}

/* --- whether it is right --- */

/*
 * Whether a copy is right: it is scanned and read as a worktree would be, with no
 * rule that leaves anything out. Nothing that was remembered from writing it counts.
 */
static const struct plan nothing_kept;

static struct restore_hash init_hash(const struct into *into)
{
	return (struct restore_hash){
		.target = into->tree,
		.record = into->opts->target,
		.paths = &into->paths,
		.plan = &nothing_kept,
		.threads = into->session->threads,
	};
}

int into_hash_target(struct into *into)
{
	struct restore_hash check = init_hash(into);

	return restore_hash_target(into->out->target_hash, &check);
}

static int read_copy(struct scan **out, struct into *into)
{
	struct rules_texts texts;
	struct rules_opts rules = { .config = into->session->gitconfig,
				    .texts = &texts,
				    .no_tracked = true,
				    .include_ignored = true,
				    .include_sensitive = true };
	struct scan_opts opts = { .threads = into->session->threads };
	struct ingest_opts ingest = { .store = into->session->store,
				      .once = true,
				      .threads = into->session->threads,
				      .progress = into->opts->progress };
	struct ingest_result read;
	char root[64];
	int err;

	/* Not by its name, which may mean something else by now. */
	snprintf(root, sizeof(root), "/proc/self/fd/%d", into->fd);
	opts.root = access(root, F_OK) ? into->out->path : root;
	rules.root = opts.root;
	rules_texts_init(&texts);
	err = rules_open(&opts.rules, &rules);
	if (!err)
		err = scan_run(out, &opts);
	if (!err) {
		ingest.scan = *out;
		err = ingest_run(&read, &ingest);
		if (err)
			scan_free(*out);
	}
	rules_close(opts.rules);
	rules_texts_release(&texts);
	return err;
}

static void drop_own(struct into *into, struct wt_dir *root)
{
	for (size_t i = 0; i < root->nr; i++)
		if (into_is_own(into, wt_entries(root)[i].name))
			wt_entries(root)[i].flags |= WT_DEAD;
	wt_compact(root);
}

static bool is_same(const struct wt_entry *a, const struct wt_entry *b)
{
	return a->kind == b->kind && (a->kind == WT_LINK || a->mode == b->mode) &&
	       (a->kind == WT_DIR || oid_equal(&a->oid, &b->oid));
}

static int note_differing(struct compare_walk *walk, const char *dir, const struct wt_entry *target,
			  const struct wt_entry *copy)
{
	struct into *into = walk->payload;
	const struct wt_entry *named = target ? target : copy;
	bool dirs = target && copy && target->kind == WT_DIR && copy->kind == WT_DIR;

	if (!copy && !has_entry(into, dir, target))
		return 0;
	if (!target || !copy || !is_same(target, copy))
		strlist_addf(&into->out->differing, "%s%s%s", dir, *dir ? "/" : "", named->name);
	return dirs ? compare_walk_into(walk, target->dir, copy->dir) : 0;
}

static int find_differing(struct into *into, const struct scan *scan)
{
	const struct compare_side target = { .root = into->tree->root, .snapshot = into->tree };
	const struct compare_side copy = { .root = scan->root };
	struct compare_walk walk = {
		.before = &target, .after = &copy, .fn = note_differing, .payload = into
	};

	strlist_release(&into->out->differing);
	for (size_t i = 0; i < scan->skips.nr; i++)
		strlist_add(&into->out->differing, scan->skips.items[i].path);
	return compare_walk(&walk);
}

int into_verify(struct into *into)
{
	struct into_result *out = into->out;
	struct restore_hash check = init_hash(into);
	struct scan *scan = NULL;
	bool whole;
	int err = read_copy(&scan, into);

	if (err)
		return err;
	drop_own(into, scan->root);
	err = find_differing(into, scan);
	strlist_sort_unique(&out->differing);
	restore_hash_worktree(out->post_hash, &whole, &check, scan->root);
	out->verified = !err;
	out->match = !err && !out->differing.nr && !strcmp(out->post_hash, out->target_hash);
	scan_free(scan);
	return err;
}
