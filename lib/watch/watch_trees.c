/* SPDX-License-Identifier: MIT */
#include "watch/watch_tree_internal.h"

#include "watch/watch.h"

#include <math.h>
#include <sys/inotify.h>

/*
 * git makes a worktree in several steps, and tells nobody when it is done: look again after a
 * moment, and again after twice that time.
 */
#define FIRST_PAUSE 0.1
enum { TRIES = 8 };

void watch_trees_init(struct watch_trees *out, const char *home)
{
	memset(out, 0, sizeof(*out));
	out->home = xstrdup(home);
	out->inotify = -1;
	out->again = INFINITY;
}

/* --- what is registered --- */

static void release_roots(struct watch_trees *trees)
{
	for (size_t i = 0; i < trees->roots_nr; i++) {
		repo_free(trees->roots[i].repo);
		free(trees->roots[i].path);
	}
	free(trees->roots);
}

/* One that is gone keeps its repository: its other worktrees are still there. */
static void find_repo(struct watch_root *root, const struct watch_trees *before)
{
	if (!repo_open_at(&root->repo, root->path))
		return;
	root->repo = NULL;
	if (fs_is_dir(root->path))
		return;
	for (size_t i = 0; i < before->roots_nr; i++)
		if (!strcmp(before->roots[i].path, root->path)) {
			root->repo = before->roots[i].repo;
			before->roots[i].repo = NULL;
		}
}

/* If it cannot be read, those that were registered before still are. */
static void read_roots(struct watch_trees *trees)
{
	struct strlist paths = STRLIST_INIT;
	struct watch_root *roots;
	int err = watch_registry_read(&paths, trees->home);

	free(trees->problem);
	trees->problem = err ? xstrdup(ckpt_error_last()) : NULL;
	if (err) {
		strlist_release(&paths);
		for (size_t i = 0; i < trees->roots_nr; i++)
			strlist_add(&paths, trees->roots[i].path);
	}
	roots = xcalloc(paths.nr + 1, sizeof(*roots));
	for (size_t i = 0; i < paths.nr; i++) {
		roots[i].path = xstrdup(paths.items[i]);
		find_repo(&roots[i], trees);
	}
	release_roots(trees);
	trees->roots = roots;
	trees->roots_nr = paths.nr;
	strlist_release(&paths);
}

/* --- watching where worktrees come and go --- */

static void forget_names(struct watch_trees *trees)
{
	for (size_t i = 0; i < trees->names_nr; i++)
		free(trees->names[i].name);
	trees->names_nr = 0;
	fs_close(trees->inotify);
	trees->inotify = -1;
}

/* False if there is no such directory. */
static bool watch_name(struct watch_trees *trees, const char *dir, const char *name)
{
	const uint32_t events = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM |
				IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD;
	int watch = inotify_add_watch(trees->inotify, dir, events);

	if (watch < 0)
		return false;
	*ALLOC_NEXT(trees->names, trees->names_nr, trees->names_alloc) =
		(struct watch_name){ watch, name ? xstrdup(name) : NULL };
	return true;
}

/* The nearest directory on the way to `path` that is there, for the name that is not. */
static void watch_way(struct watch_trees *trees, const char *path)
{
	char *dir = xstrdup(path), *slash;

	while ((slash = strrchr(dir, '/')) && slash != dir) {
		*slash = '\0';
		if (watch_name(trees, dir, slash + 1))
			break;
	}
	if (slash == dir)
		(void)watch_name(trees, "/", dir + 1);
	free(dir);
}

static void watch_root(struct watch_trees *trees, const struct watch_root *root)
{
	char *worktrees;

	if (!fs_is_dir(root->path))
		watch_way(trees, root->path);
	if (!root->repo)
		return;
	worktrees = xstrfmt("%s/worktrees", root->repo->commondir);
	if (!watch_name(trees, worktrees, NULL))
		(void)watch_name(trees, root->repo->commondir, "worktrees");
	free(worktrees);
}

/* Only git's record of a linked worktree leads back to it. */
static void watch_missing(struct watch_trees *trees)
{
	for (size_t i = 0; i < trees->nr; i++)
		if (trees->items[i]->linked && !fs_is_dir(trees->items[i]->root))
			watch_way(trees, trees->items[i]->root);
}

static void look_soon(struct watch_trees *trees)
{
	trees->tries = 0;
	trees->again = clock_monotonic() + FIRST_PAUSE;
}

static bool is_about_trees(const struct watch_trees *trees, const struct inotify_event *event)
{
	const uint32_t ends = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_Q_OVERFLOW;

	if (event->mask & ends)
		return true;
	for (size_t i = 0; i < trees->names_nr; i++)
		if (trees->names[i].watch == event->wd &&
		    (!trees->names[i].name ||
		     (event->len && !strcmp(trees->names[i].name, event->name))))
			return true;
	return false;
}

void watch_trees_read(struct watch_trees *trees)
{
	_Alignas(struct inotify_event) char buf[16384];
	bool told = false;
	ssize_t len;

	while ((len = read(trees->inotify, buf, sizeof(buf))) > 0)
		for (char *at = buf; at < buf + len;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			told = told || is_about_trees(trees, event);
			at += sizeof(*event) + event->len;
		}
	if (told)
		look_soon(trees);
}

void watch_trees_miss(struct watch_trees *trees)
{
	for (size_t i = 0; i < trees->nr; i++) {
		struct watch_tree *tree = trees->items[i];

		if (tree->trouble == WATCH_GONE && !tree->missed)
			look_soon(trees);
		tree->missed = tree->trouble == WATCH_GONE;
	}
}

/* --- worktrees --- */

static void want_tree(struct watch_trees *trees, const char *root, bool linked)
{
	for (size_t i = 0; i < trees->nr; i++)
		if (!strcmp(trees->items[i]->root, root)) {
			/* Those that are registered come first. */
			trees->items[i]->linked = linked && (!trees->items[i]->wanted ||
							     trees->items[i]->linked);
			trees->items[i]->wanted = true;
			return;
		}
	ALLOC_GROW(trees->items, trees->nr + 1, trees->alloc);
	trees->items[trees->nr] = watch_tree_new(root, linked);
	trees->items[trees->nr++]->wanted = true;
}

static void want_linked(struct watch_trees *trees, const struct repo *repo)
{
	struct strlist others = STRLIST_INIT;

	repo_other_worktrees(&others, repo);
	for (size_t i = 0; i < others.nr; i++)
		want_tree(trees, others.items[i], true);
	strlist_release(&others);
	/* One that is gone, or going, but that git still knows, may come back. */
	for (size_t i = 0; i < trees->nr; i++)
		if (!trees->items[i]->wanted &&
		    repo_lost_worktree(repo, trees->items[i]->root))
			want_tree(trees, trees->items[i]->root, true);
}

static void drop_unwanted(struct watch_trees *trees)
{
	size_t kept = 0;

	for (size_t i = 0; i < trees->nr; i++) {
		struct watch_tree *tree = trees->items[i];

		if (tree->wanted) {
			trees->items[kept++] = tree;
			continue;
		}
		if (trees->gone)
			trees->gone(tree, trees->payload);
		watch_tree_free(tree);
	}
	trees->nr = kept;
}

/* Only those that are not watched yet, or whose directory may be back. */
static void open_new(struct watch_trees *trees)
{
	for (size_t i = 0; i < trees->nr; i++) {
		struct watch_tree *tree = trees->items[i];

		if (!tree->child.pid && !tree->cover.root && !tree->pace.first)
			watch_tree_open(tree);
	}
}

/* Watch first, then look, so that nothing slips in between. */
void watch_trees_look(struct watch_trees *trees)
{
	read_roots(trees);
	forget_names(trees);
	trees->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	for (size_t i = 0; i < trees->roots_nr && trees->inotify >= 0; i++)
		watch_root(trees, &trees->roots[i]);
	if (trees->inotify >= 0)
		watch_missing(trees);
	for (size_t i = 0; i < trees->nr; i++)
		trees->items[i]->wanted = false;
	for (size_t i = 0; i < trees->roots_nr; i++)
		want_tree(trees, trees->roots[i].path, false);
	for (size_t i = 0; i < trees->roots_nr; i++)
		if (trees->roots[i].repo)
			want_linked(trees, trees->roots[i].repo);
	drop_unwanted(trees);
	open_new(trees);
	trees->tries++;
	trees->again = trees->tries < TRIES ?
			       clock_monotonic() + FIRST_PAUSE * (1 << trees->tries) : INFINITY;
}

void watch_trees_release(struct watch_trees *trees)
{
	for (size_t i = 0; i < trees->nr; i++)
		trees->items[i]->wanted = false;
	drop_unwanted(trees);
	forget_names(trees);
	release_roots(trees);
	free(trees->items);
	free(trees->names);
	free(trees->problem);
	free(trees->home);
}
