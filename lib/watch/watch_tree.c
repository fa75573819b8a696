/* SPDX-License-Identifier: MIT */
#include "watch/watch_tree_internal.h"

#include "settings/settings.h"

#include <linux/magic.h>
#include <math.h>
#include <sys/vfs.h>

/* Seconds. A try takes all watches that are left for a moment, and others need some, too. */
#define RETRY_PAUSE 600.0

/* Not in every linux/magic.h. */
enum { XFS_MAGIC = 0x58465342, ZFS_MAGIC = 0x2fc12fc1, BCACHEFS_MAGIC = (int)0xca451a4e };

struct watch_tree *watch_tree_new(const char *root, bool linked)
{
	struct watch_tree *tree = xcalloc(1, sizeof(*tree));

	tree->root = xstrdup(root);
	tree->linked = linked;
	tree->listener = -1;
	tree->poll.next = INFINITY;
	tree->child = (struct watch_child){ .pidfd = -1, .out = -1 };
	return tree;
}

/* Give up the watches; changes that are not saved yet still will be. */
static void uncover_tree(struct watch_tree *tree)
{
	if (tree->listener >= 0)
		(void)unlinkat(tree->store->dirfd, WATCHED_SOCKET, 0);
	fs_close(tree->listener);
	tree->listener = -1;
	watch_cover_close(&tree->cover);
	tree->heard = 0;
}

static void close_store(struct watch_tree *tree)
{
	uncover_tree(tree);
	store_close(tree->store);
	tree->store = NULL;
}

void watch_tree_free(struct watch_tree *tree)
{
	watch_save_stop(&tree->child);
	close_store(tree);
	free(tree->held);
	free(tree->problem);
	free(tree->root);
	free(tree);
}

/* --- settings --- */

/* Read when changes begin, so that new settings need no restart. */
static void read_settings(struct watch_tree *tree)
{
	char *file = tree->store ? xstrfmt("%s/" LAYOUT_SETTINGS, tree->store->path) : NULL;
	struct ckpt_settings settings = { 0 };
	struct gitconfig *config = NULL;
	struct repo *repo = NULL;

	if (repo_open_at(&repo, tree->root))
		repo = NULL;
	if (!gitconfig_open(&config, repo) && !settings_load(&settings, config, file, tree->root)) {
		tree->pace.quiet = (double)settings.watch_quiet;
		tree->pace.max = (double)settings.watch_max;
	} else if (!tree->pace.max) {
		/* The save will say what is wrong with them. */
		tree->pace.quiet = 5;
		tree->pace.max = 300;
	}
	settings_release(&settings);
	gitconfig_close(config);
	repo_free(repo);
	free(file);
}

static void note_change(struct watch_tree *tree)
{
	if (!tree->pace.first)
		read_settings(tree);
	watch_pace_changed(&tree->pace, clock_monotonic());
}

/* --- watches --- */

/* Whether this kernel makes every change on this file system, and reports it. */
static bool tells_all(int fd)
{
	static const long known[] = { EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, XFS_MAGIC,
				      F2FS_SUPER_MAGIC, ZFS_MAGIC, BCACHEFS_MAGIC,
				      OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC };
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if ((uint32_t)fs.f_type == (uint32_t)known[i])
			return true;
	return false;
}

void watch_tree_look_at_mounts(struct watch_tree *tree)
{
	struct strlist mounts = STRLIST_INIT;
	int fd;

	if (!tree->cover.root)
		return;
	fd = open(tree->root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		mounts_below(&mounts, tree->root, fd);
	tree->cover.blind = fd < 0 || mounts.nr || !tells_all(fd);
	strlist_release(&mounts);
	fs_close(fd);
}

/* Events count as changes; so do new watches, because nobody saw what happened before. */
static void note_events(struct watch_tree *tree)
{
	uint64_t now = tree->cover.changes + tree->cover.armed;

	if (now != tree->heard)
		note_change(tree);
	tree->heard = now;
}

/* Without events: look at the directories often, and save every now and then. */
static void poll_tree(struct watch_tree *tree, bool first)
{
	double now = clock_monotonic();

	if (!tree->pace.first)
		read_settings(tree);
	/* Nobody saw what happened before. */
	if (first)
		watch_pace_changed(&tree->pace, now);
	else
		watch_pace_blind(&tree->pace, now);
	tree->poll.next = now + tree->pace.quiet;
}

static void set_trouble(struct watch_tree *tree, enum watch_trouble trouble)
{
	bool first = trouble != tree->trouble;

	tree->trouble = trouble;
	tree->poll.next = INFINITY;
	if (!trouble)
		return;
	uncover_tree(tree);
	if (trouble == WATCH_GONE) {
		watch_pace_began(&tree->pace);
		return;
	}
	tree->retry = clock_monotonic() + RETRY_PAUSE;
	poll_tree(tree, first);
}

static void cover_tree(struct watch_tree *tree)
{
	enum watch_trouble trouble =
		watch_cover_open(&tree->cover, tree->root, tree->store->dirfd);

	if (trouble)
		memset(&tree->cover, 0, sizeof(tree->cover));
	else
		trouble = watch_cover_load(&tree->cover);
	set_trouble(tree, trouble);
	if (trouble)
		return;
	watch_tree_look_at_mounts(tree);
	/* Only now is there something to answer with. */
	tree->listener = watched_listen(tree->store->dirfd, WATCHED_SOCKET);
	note_events(tree);
}

/* Another store may have taken its place: doctor, relink, or somebody who removed it. */
static bool store_is_there(const struct watch_tree *tree)
{
	struct stat there, open;

	return !lstat(tree->store->path, &there) && !fstat(tree->store->dirfd, &open) &&
	       there.st_dev == open.st_dev && there.st_ino == open.st_ino;
}

void watch_tree_open(struct watch_tree *tree)
{
	if (tree->store && !store_is_there(tree))
		close_store(tree);
	if (!fs_is_dir(tree->root)) {
		set_trouble(tree, WATCH_GONE);
		return;
	}
	if (tree->trouble == WATCH_GONE)
		tree->trouble = WATCH_NONE;
	if (!tree->store && store_open(&tree->store, tree->root)) {
		tree->store = NULL;
		tree->trouble = WATCH_NONE;
		tree->poll.next = INFINITY;
		/* The first save makes it. */
		note_change(tree);
		return;
	}
	if (tree->trouble && clock_monotonic() < tree->retry)
		poll_tree(tree, false);
	else if (!tree->cover.root)
		cover_tree(tree);
	else
		set_trouble(tree, watch_cover_load(&tree->cover));
	if (tree->cover.root)
		note_events(tree);
}

void watch_tree_read(struct watch_tree *tree)
{
	watch_cover_read(&tree->cover);
	if (tree->cover.gone)
		set_trouble(tree, WATCH_GONE);
	else if (tree->cover.lost)
		set_trouble(tree, watch_cover_load(&tree->cover));
	if (tree->cover.root)
		note_events(tree);
}

void watch_tree_answer(struct strbuf *out, struct watch_tree *tree,
		       const struct watched_question *question)
{
	enum watch_trouble trouble = WATCH_NONE;
	struct watched answer = { .all = true };
	struct watched_view view;

	watched_view_now(&view);
	if (tree->cover.root) {
		watch_cover_answer(&answer, &trouble, &tree->cover, question, &view);
		set_trouble(tree, tree->cover.gone ? WATCH_GONE : trouble);
	}
	if (tree->cover.root)
		note_events(tree);
	watched_answer_format(out, &answer);
	watched_release(&answer);
}
