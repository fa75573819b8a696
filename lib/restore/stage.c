/* SPDX-License-Identifier: MIT */
#include "restore/stage_internal.h"

#include <linux/magic.h>
#include <stdatomic.h>
#include <sys/vfs.h>

/* Files and directories synced one by one; more by one syncfs(2). */
enum { SYNC_EACH_MAX = 16 };

struct item {
	char *path; /* in the stage */
	const struct wt_entry *entry;
	const struct plan_action *action;
	bool top; /* the action's own entry, not one below it */
};

struct items {
	struct item *list;
	size_t nr, alloc;
};

struct filler {
	struct stage *stage;
	const struct stage_opts *opts;
	struct items files;	  /* and links */
	struct items dirs;	  /* each after the one that contains it */
	struct beneath_near near; /* for directories, which one thread makes */
	bool sync_each;
	atomic_size_t done;
};

/* --- file systems without modes --- */

/* Whether modes can be set at all; FAT and NTFS usually have none. */
static int probe_modes(struct stage *stage)
{
	static const char name[] = "probe";
	int fd = beneath_create(stage->fd, name), err = 0;
	struct stat file, dir;

	if (fd < 0)
		return ckpt_error_errno("unable to create a file in '%s'", stage->name);
	if (!fchmod(fd, 0640) && !fstat(fd, &file) && (file.st_mode & 07777) == 0640) {
		stage->fixed_modes = false;
	} else if (fstat(fd, &file) < 0 || fstat(stage->fd, &dir) < 0) {
		err = ckpt_error_errno("unable to look at '%s'", stage->name);
	} else {
		stage->fixed_modes = true;
		stage->file_mode = file.st_mode & 07777;
		stage->dir_mode = dir.st_mode & 07777;
	}
	close(fd);
	if (unlinkat(stage->fd, name, 0) < 0 && !err)
		err = ckpt_error_errno("unable to remove a file in '%s'", stage->name);
	return err;
}

static int check_mode(const struct stage *stage, const char *path, const struct wt_entry *entry)
{
	mode_t fixed = entry->kind == WT_DIR ? stage->dir_mode : stage->file_mode;

	if (!stage->fixed_modes || entry->kind == WT_LINK || entry->mode == fixed)
		return 0;
	return ckpt_error_set(CKPT_EREFUSED,
			      "'%s' has mode %04o in the checkpoint, but the file system of the worktree "
			      "does not support modes (%04o for all); nothing was touched",
			      path, entry->mode, (unsigned)fixed);
}

/* --- what has to be written --- */

static void add_item(struct items *items, const char *staged, const struct wt_entry *entry,
		     const struct plan_action *action, bool top)
{
	*ALLOC_NEXT(items->list, items->nr, items->alloc) =
		(struct item){ xstrdup(staged), entry, action, top };
}

static void release_items(struct items *items)
{
	for (size_t i = 0; i < items->nr; i++)
		free(items->list[i].path);
	free(items->list);
}

static int collect_entry(struct filler *filler, const char *staged, const char *path,
			 const struct wt_entry *entry, const struct plan_action *action, bool top)
{
	int err = check_mode(filler->stage, path, entry);

	if (err)
		return err;
	add_item(entry->kind == WT_DIR ? &filler->dirs : &filler->files, staged, entry, action,
		 top);
	if (entry->kind != WT_DIR)
		return 0;
	if (beneath_mkdir(&filler->near, filler->stage->fd, staged, 0700) < 0)
		return ckpt_error_errno("unable to create a directory for '%s'", path);
	for (size_t i = 0; i < entry->dir->nr && !err; i++) {
		const struct wt_entry *child = &wt_entries(entry->dir)[i];
		char *below = xstrfmt("%s/%s", path, child->name);
		char *staged_below = xstrfmt("%s/%s", staged, child->name);

		if (plan_concerns(filler->opts->paths, below))
			err = collect_entry(filler, staged_below, below, child, action, false);
		free(below);
		free(staged_below);
	}
	return err;
}

static int collect_all(struct filler *filler)
{
	const struct plan *plan = filler->opts->plan;
	int err = 0;

	for (size_t i = 0; i < plan->nr && !err; i++) {
		const struct plan_action *action = &plan->actions[i];
		char number[32];

		if (action->kind == PLAN_CHMOD)
			err = check_mode(filler->stage, action->path, action->target);
		if (action->kind != PLAN_CREATE && action->kind != PLAN_OVERWRITE &&
		    action->kind != PLAN_REPLACE)
			continue;
		snprintf(number, sizeof(number), "%zu", i);
		err = collect_entry(filler, number, action->path, action->target, action, true);
	}
	filler->sync_each = filler->files.nr + filler->dirs.nr <= SYNC_EACH_MAX;
	return err;
}

/* --- writing it --- */

/* A file that replaces another gets its owner; in a set-group-id directory, its group. */
static void inherit_owner(struct filler *filler, const struct item *item, int fd)
{
	const char *name;
	int dirfd;
	struct stat st;

	if (!item->top)
		return;
	dirfd = beneath_open_parent(filler->stage->rootfd, item->action->path, &name);
	if (dirfd < 0)
		return;
	if (item->action->current) {
		if (!fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
		    (st.st_uid != geteuid() || st.st_gid != getegid()) &&
		    fchown(fd, st.st_uid, st.st_gid) < 0 && fchown(fd, (uid_t)-1, st.st_gid) < 0)
			errno = 0; /* not allowed: then it stays ours */
	} else if (!fstat(dirfd, &st) && st.st_mode & S_ISGID) {
		if (fchown(fd, (uid_t)-1, st.st_gid) < 0)
			errno = 0;
	}
	close(dirfd);
}

static int write_piece(const void *data, size_t len, void *payload)
{
	return sparse_write(payload, data, len) < 0 ? ckpt_error_errno("unable to write it") : 0;
}

int stage_write_contents(uint64_t *size_out, int fd, struct store *store, const struct oid *oid)
{
	struct strbuf data = STRBUF_INIT;
	struct sparse file = SPARSE_INIT(fd);
	int err = objects_size(size_out, store, oid);

	if (!err && *size_out > FS_WHOLE_MAX) {
		err = objects_stream(store, oid, write_piece, &file);
	} else if (!err) {
		err = objects_read(&data, store, oid, OBJECT_BLOB);
		if (!err)
			err = write_piece(data.buf, data.len, &file);
	}
	if (!err && sparse_finish(&file) < 0)
		err = ckpt_error_errno("unable to write it");
	strbuf_release(&data);
	return err;
}

int stage_read_link(struct strbuf *target, struct store *store, const struct oid *oid)
{
	int err = objects_read(target, store, oid, OBJECT_BLOB);

	if (!err && (!target->len || strlen(target->buf) != target->len))
		err = ckpt_error_set(CKPT_ECORRUPT, "the target of the link is malformed");
	return err;
}

static int write_file(struct filler *filler, const struct item *item, bool sync)
{
	int fd = beneath_create(filler->stage->fd, item->path), err;
	uint64_t size;

	if (fd < 0)
		return ckpt_error_errno("unable to create '%s'", item->action->path);
	err = stage_write_contents(&size, fd, filler->opts->store, &item->entry->oid);
	if (!err) {
		inherit_owner(filler, item, fd);
		if ((!filler->stage->fixed_modes && fchmod(fd, item->entry->mode) < 0) ||
		    (sync && fsync(fd) < 0))
			err = ckpt_error_errno("unable to write it");
	}
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to write it");
	return err ? ckpt_error_prefix(err, "'%s'", item->action->path) : 0;
}

static int write_link(struct filler *filler, const struct item *item)
{
	struct strbuf target = STRBUF_INIT;
	int err = stage_read_link(&target, filler->opts->store, &item->entry->oid);

	if (!err && beneath_symlink(target.buf, filler->stage->fd, item->path) < 0)
		err = ckpt_error_errno("unable to create the link");
	strbuf_release(&target);
	return err ? ckpt_error_prefix(err, "'%s'", item->action->path) : 0;
}

static int write_item(size_t index, unsigned worker, void *payload)
{
	struct filler *filler = payload;
	const struct item *item = &filler->files.list[index];
	int err = cancel_check();

	if (err)
		return err;
	err = item->entry->kind == WT_LINK ? write_link(filler, item) :
					     write_file(filler, item, filler->sync_each);
	if (!worker && filler->opts->progress)
		filler->opts->progress("Writing", atomic_load(&filler->done), filler->files.nr,
				       NULL);
	atomic_fetch_add(&filler->done, 1);
	return err;
}

/* An action's own directory gets its mode only when it is in place, see apply.c. */
static int finish_dirs(struct filler *filler)
{
	struct stage *stage = filler->stage;

	for (size_t i = filler->dirs.nr; i--;) {
		const struct item *dir = &filler->dirs.list[i];
		mode_t mode = stage->fixed_modes ? stage->dir_mode
			      : dir->top	 ? 0700
						 : dir->entry->mode;

		if (beneath_chmod_dir(&filler->near, stage->fd, dir->path, mode,
				      filler->sync_each) < 0 &&
		    !stage->fixed_modes)
			return ckpt_error_errno(
				"unable to set the mode of the directory '%s' in '%s'", dir->path,
				stage->name);
	}
	if (!filler->sync_each && syncfs(stage->fd) < 0)
		return ckpt_error_errno("unable to sync the directory '%s'", stage->name);
	return 0;
}

/* --- overlays --- */

static bool fits_in_room(const struct wt_entry *entry, uint64_t room)
{
	bool all = entry->kind != WT_FILE || entry->st.size <= room;

	for (size_t i = 0; entry->kind == WT_DIR && i < entry->dir->nr && all; i++)
		all = fits_in_room(&wt_entries(entry->dir)[i], room);
	return all;
}

/*
 * An overlay copies a file of a lower layer before it is renamed or gets
 * another mode, one at a time. It does not tell which files are in which
 * layer.
 */
static int check_room(const struct stage *stage, const struct plan *plan)
{
	struct statfs fs;
	uint64_t room;

	if (fstatfs(stage->fd, &fs) < 0 || fs.f_type != OVERLAYFS_SUPER_MAGIC)
		return 0;
	room = (uint64_t)(geteuid() ? fs.f_bavail : fs.f_bfree) * (uint64_t)fs.f_bsize;
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_action *action = &plan->actions[i];
		bool whole = action->kind == PLAN_OVERWRITE || action->kind == PLAN_REPLACE ||
			     action->kind == PLAN_REMOVE ||
			     (action->kind == PLAN_CHMOD && action->current->kind == WT_FILE);

		if (whole && !fits_in_room(action->current, room))
			return ckpt_error_set(CKPT_EREFUSED,
					      "not enough space to move '%s' if it is in a lower layer of "
					      "the overlay, nothing was touched; use --force to try",
					      action->path);
	}
	return 0;
}

int stage_fill(struct stage *stage, int rootfd, const char *name, const struct stage_opts *opts)
{
	struct filler filler = { .stage = stage, .opts = opts };
	int err = stage_dir_make(&stage->fd, opts->store, rootfd, name);

	if (err)
		return err;
	stage->store = opts->store;
	stage->rootfd = rootfd;
	stage->name = xstrdup(name);
	err = probe_modes(stage);
	if (!err)
		err = collect_all(&filler);
	if (!err)
		err = pool_for(opts->threads, filler.files.nr, write_item, &filler);
	if (!err)
		err = finish_dirs(&filler);
	if (!err && !opts->any_room)
		err = check_room(stage, opts->plan);
	beneath_near_release(&filler.near);
	release_items(&filler.files);
	release_items(&filler.dirs);
	return err;
}

int stage_remove(struct stage *stage)
{
	return stage->name ? stage_dir_remove(stage->store, stage->rootfd, stage->name) : 0;
}

int stage_keep(struct strbuf *rescued_out, struct stage *stage, const struct strlist *names)
{
	int err = stage_dir_empty(stage->fd, stage->name, names);

	return err ? err : stage_rescue(rescued_out, stage->store, stage->rootfd, stage->name);
}

void stage_close(struct stage *stage)
{
	if (stage->name && stage->fd >= 0)
		close(stage->fd);
	free(stage->name);
	memset(stage, 0, sizeof(*stage));
}
