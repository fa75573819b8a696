/* SPDX-License-Identifier: MIT */
#include "record/stage_settle.h"

#include "base/base.h"
#include "record/stage_dir.h"
#include "store/store.h"
#include "tree/tree.h"

/* What is left of a restore that was interrupted. */

/* Read, not only looked up: what is displaced may be the last good copy. */
static bool file_stored(struct store *store, int dirfd, const char *name)
{
	struct oid oid;

	return displaced_name_file(&oid, dirfd, name) && !objects_check(store, &oid);
}

static bool link_stored(struct store *store, int dirfd, const char *name)
{
	struct oid oid;

	return displaced_name_link(&oid, dirfd, name) && !objects_check(store, &oid);
}

/* All but directories in `dirfd`; the names of these are put into `dirs_out`. */
static bool files_stored(struct strlist *dirs_out, struct store *store, int dirfd, bool top)
{
	struct strlist names = STRLIST_INIT;
	bool stored = !fs_names(&names, dirfd, ".", 0, NULL);

	for (size_t i = 0; i < names.nr && stored; i++) {
		const char *name = names.items[i];
		struct stat st;

		if (top && !strcmp(name, STAGE_DIR_MARKER))
			continue;
		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			stored = false;
		else if (S_ISDIR(st.st_mode))
			strlist_add(dirs_out, name);
		else if (S_ISLNK(st.st_mode))
			stored = link_stored(store, dirfd, name);
		else
			stored = S_ISREG(st.st_mode) && file_stored(store, dirfd, name);
	}
	strlist_release(&names);
	return stored;
}

/*
 * True if the store has every file and link below; directories are not a loss.
 * One directory is open at a time, however deep they are.
 */
static bool all_stored(struct store *store, int rootfd, const char *path, bool top)
{
	int fd = beneath_open(rootfd, path, O_RDONLY | O_DIRECTORY);
	struct strlist dirs = STRLIST_INIT;
	bool stored = fd >= 0 && files_stored(&dirs, store, fd, top);

	fs_close(fd);
	for (size_t i = 0; i < dirs.nr && stored; i++) {
		char *below = xstrfmt("%s/%s", path, dirs.items[i]);

		stored = all_stored(store, rootfd, below, false);
		free(below);
	}
	strlist_release(&dirs);
	return stored;
}

bool stage_is_stored(struct store *store, int stagefd, const char *name)
{
	struct stat st;

	if (fstatat(stagefd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return all_stored(store, stagefd, name, false);
	return S_ISLNK(st.st_mode) ? link_stored(store, stagefd, name) :
				     S_ISREG(st.st_mode) && file_stored(store, stagefd, name);
}

int stage_free(struct store *store, int rootfd, const char *name)
{
	struct stat st;

	if (fstatat(rootfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !all_stored(store, rootfd, name, true))
		return cancel_check();
	return stage_dir_remove(store, rootfd, name);
}

int stage_rescue(struct strbuf *rescued_out, struct store *store, int rootfd, const char *name)
{
	char *marker;

	strbuf_reset(rescued_out);
	strbuf_addf(rescued_out, "rescued%s", strrchr(name, '-'));
	if (swap_put(rootfd, name, rootfd, rescued_out->buf) < 0)
		return ckpt_error_errno("unable to rename '%s'", name);
	/* Under this name it has no special meaning any more. */
	marker = xstrfmt("%s/" STAGE_DIR_MARKER, rescued_out->buf);
	(void)unlinkat(rootfd, marker, 0);
	free(marker);
	return stage_dir_forget(store, name);
}

int stage_settle(struct strbuf *rescued_out, struct store *store, int rootfd, const char *name)
{
	struct stat st;
	int err;

	if (fstatat(rootfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return stage_dir_forget(store, name);
	if (all_stored(store, rootfd, name, true))
		return stage_dir_remove(store, rootfd, name);
	/* Perhaps it is, but was not read to the end. */
	err = cancel_check();
	if (err)
		return err;
	return stage_rescue(rescued_out, store, rootfd, name);
}

/* A power cut can bring back a removed one; by then everything displaced was saved. */
static void sweep_stray(struct strlist *notes, struct store *store, int rootfd, const char *name)
{
	struct strbuf rescued = STRBUF_INIT;

	if (!stage_dir_in_use(rootfd, name) && !stage_settle(&rescued, store, rootfd, name) &&
	    rescued.len)
		strlist_addf(notes, "Kept: %s (files that are in no checkpoint, from a forgotten "
				    "restore)",
			     rescued.buf);
	strbuf_release(&rescued);
}

void stage_sweep(struct strlist *notes, struct store *store, const char *worktree)
{
	int rootfd = open(worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stage_dirs dirs = { 0 };

	if (rootfd < 0)
		return;
	stage_dir_list(&dirs, store, worktree);
	for (size_t i = 0; i < dirs.nr; i++) {
		if (dirs.items[i].kind == STAGE_DIR_OWN)
			(void)stage_dir_remove(store, rootfd, dirs.items[i].name);
		else if (dirs.items[i].kind == STAGE_DIR_STRAY)
			sweep_stray(notes, store, rootfd, dirs.items[i].name);
	}
	stage_dir_forget_others(store, &dirs);
	stage_dirs_release(&dirs);
	close(rootfd);
}
