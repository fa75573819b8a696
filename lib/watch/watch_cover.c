/* SPDX-License-Identifier: MIT */
#include "watch/watch_cover_internal.h"

#include "base/base.h"
#include "store/store.h"

#include <sys/inotify.h>
#include <sys/random.h>

/*
 * IN_CLOSE_WRITE is for files mapped into memory: a write to the mapping is not an event, but its
 * end is, even after the file was closed. Not IN_EXCL_UNLINK: a file that was made without a name
 * and got one later counts as unlinked, and its writes would not be reported.
 */
enum {
	EVENTS = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
		 IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
	DEPTH_MAX = 1000, /* what is below such a directory is not watched one by one */
};

/* --- watches --- */

/* Through the descriptor, so that it is this directory and no other. */
static int add_watch(const struct watch_cover *cover, int fd, uint32_t mask)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return inotify_add_watch(cover->inotify, path, mask);
}

int watch_cover_add_cookie(const struct watch_cover *cover)
{
	int fd = openat(cover->storefd, "objects", O_PATH | O_NOFOLLOW | O_CLOEXEC), watch;

	if (fd < 0)
		return -1;
	watch = add_watch(cover, fd, IN_DELETE_SELF | IN_ONLYDIR);
	fs_close(fd);
	return watch;
}

/* Events that it still has in the queue have no node, and are ignored (4). */
static void remove_watch(int watch, void *payload)
{
	const struct watch_cover *cover = payload;

	(void)inotify_rm_watch(cover->inotify, watch);
}

/* --- beginning, again and end --- */

static uint64_t new_instance(void)
{
	uint64_t instance = 0;

	/* It must not be one that a stat cache has. */
	while (!instance)
		if (getrandom(&instance, sizeof(instance), 0) != sizeof(instance))
			instance = (uint64_t)clock_file_ns() << 16 ^ (uint64_t)getpid();
	return instance;
}

static enum watch_trouble start(struct watch_cover *cover)
{
	cover->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (cover->inotify < 0)
		return WATCH_NO_INSTANCES;
	cover->nodes.gone = remove_watch;
	cover->nodes.payload = cover;
	cover->loaded = (struct statcache_id){ 0, 0 };
	cover->cookie = -1;
	cover->lost = false;
	return WATCH_NONE;
}

/* With events the watches lost their meaning: a directory may be elsewhere by now. */
static enum watch_trouble renew(struct watch_cover *cover)
{
	watch_nodes_release(&cover->nodes);
	fs_close(cover->inotify);
	return start(cover);
}

void watch_cover_lose(struct watch_cover *cover)
{
	cover->lost = true;
	cover->instance = new_instance();
}

enum watch_trouble watch_cover_open(struct watch_cover *out, const char *root, int storefd)
{
	enum watch_trouble trouble;
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (lstat(root, &st) < 0 || !S_ISDIR(st.st_mode))
		return WATCH_GONE;
	out->dev = st.st_dev;
	out->ino = st.st_ino;
	out->storefd = storefd;
	out->tick = 1;
	out->instance = new_instance();
	trouble = start(out);
	if (!trouble)
		out->root = xstrdup(root);
	return trouble;
}

void watch_cover_close(struct watch_cover *cover)
{
	if (!cover->root)
		return;
	watch_nodes_release(&cover->nodes);
	fs_close(cover->inotify);
	free(cover->root);
	memset(cover, 0, sizeof(*cover));
}

/* --- loading a cache --- */

struct load {
	struct watch_cover *cover;
	const struct statcache *cache;
	uint64_t known; /* what is before this offset was loaded before */
	int rootfd;
	struct beneath_near near;
	struct strbuf path;
	unsigned depth;
	int *twice; /* watches that two nodes claim */
	size_t twice_nr, twice_alloc;
};

/* Whether this error means that there are no more watches, and not that this one is impossible. */
static bool is_lack(int error)
{
	return error == ENOSPC || error == ENOMEM;
}

/* False: watches ran out. A directory that cannot be watched stays loose (2). */
static bool arm(struct load *load, struct watch_node *node)
{
	struct watch_cover *cover = load->cover;
	int fd = beneath_open_near(&load->near, load->rootfd, load->path.buf,
				   O_PATH | O_DIRECTORY);
	int watch;

	if (fd < 0)
		return !is_lack(errno);
	watch = add_watch(cover, fd, EVENTS);
	fs_close(fd);
	if (watch < 0)
		return !is_lack(errno);
	if (!watch_nodes_of(&cover->nodes, watch)) {
		watch_nodes_arm(&cover->nodes, node, watch, cover->tick);
		cover->armed++;
		return true;
	}
	/*
	 * It was moved, and we have yet to hear about that: neither place is certain (5). The
	 * other node may be above this one, so it stays until the end of the walk.
	 */
	ALLOC_GROW(load->twice, load->twice_nr + 1, load->twice_alloc);
	load->twice[load->twice_nr++] = watch;
	return true;
}

static bool load_dir(struct load *load, struct watch_node *node, const struct statcache_dir *dir);

/* The directory `entry` of one that is armed. */
static bool load_child(struct load *load, struct watch_node *parent,
		       const struct statcache_dir *dir, const struct statcache_entry *entry)
{
	struct watch_nodes *nodes = &load->cover->nodes;
	const char *name = statcache_name(dir, entry);
	struct watch_node *node = watch_nodes_child(nodes, parent, name);
	const struct statcache_dir *block;
	size_t len = load->path.len;
	bool done;

	if (!node)
		node = watch_nodes_add(nodes, parent, name);
	node->seen = load->cover->walks;
	/* As it was, with everything below: no need to look (3). */
	if (entry->child < load->known && !node->loose_below)
		return true;
	block = statcache_child(load->cache, entry);
	/* Of what is below nothing is known, or it is too deep: it is one tree. */
	if (!block || load->depth >= DEPTH_MAX) {
		watch_nodes_loosen(nodes, node);
		return true;
	}
	path_append(&load->path, name);
	load->depth++;
	done = load_dir(load, node, block);
	load->depth--;
	strbuf_setlen(&load->path, len);
	return done;
}

/* Those that the cache does not have. */
static void drop_others(struct watch_cover *cover, struct watch_node *parent)
{
	struct watch_node *next;

	for (struct watch_node *node = parent->child; node; node = next) {
		next = node->next;
		if (node->seen != cover->walks)
			watch_nodes_drop(&cover->nodes, node);
	}
}

/* False: watches ran out. */
static bool load_dir(struct load *load, struct watch_node *node, const struct statcache_dir *dir)
{
	if (node->watch < 0 && !arm(load, node))
		return false;
	for (uint32_t i = 0; dir && i < dir->nr && node->watch >= 0; i++)
		if (statcache_entries(dir)[i].kind == WT_DIR &&
		    !load_child(load, node, dir, &statcache_entries(dir)[i]))
			return false;
	drop_others(load->cover, node);
	watch_nodes_settle(node);
	return true;
}

/* The root, if it is still the same. */
static int open_root(const struct watch_cover *cover)
{
	int fd = open(cover->root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_dev == cover->dev && st.st_ino == cover->ino)
		return fd;
	fs_close(fd);
	return -1;
}

static enum watch_trouble load_all(struct load *load)
{
	struct watch_cover *cover = load->cover;
	struct statcache_id id = load->cache ? statcache_id(load->cache) :
					       (struct statcache_id){ 0, 0 };
	const struct statcache_dir *root = load->cache ? statcache_root(load->cache) : NULL;
	bool done;

	/* Blocks are only added (3). */
	if (root && id.base == cover->loaded.base && id.size >= cover->loaded.size)
		load->known = cover->loaded.size;
	cover->walks++;
	if (!cover->nodes.root)
		watch_nodes_add(&cover->nodes, NULL, "");
	done = load_dir(load, cover->nodes.root, root);
	for (size_t i = 0; i < load->twice_nr; i++) {
		struct watch_node *node = watch_nodes_of(&cover->nodes, load->twice[i]);

		if (node)
			watch_nodes_loosen(&cover->nodes, node);
	}
	cover->loaded = root ? id : (struct statcache_id){ 0, 0 };
	return done ? WATCH_NONE : WATCH_NO_WATCHES;
}

enum watch_trouble watch_cover_load(struct watch_cover *cover)
{
	struct load load = { .cover = cover, .path = STRBUF_INIT };
	enum watch_trouble trouble = WATCH_NONE;
	struct statcache *cache;

	if (cover->lost)
		trouble = renew(cover);
	if (trouble)
		return trouble;
	load.rootfd = open_root(cover);
	if (load.rootfd < 0) {
		cover->gone = true;
		watch_cover_lose(cover);
		return WATCH_GONE;
	}
	cache = statcache_open(cover->storefd, LAYOUT_STATCACHE);
	/* If it is the one that we know, few blocks of it are new. */
	if (cache && statcache_id(cache).base != cover->loaded.base)
		statcache_populate(cache);
	load.cache = cache;
	trouble = load_all(&load);
	statcache_close(cache);
	close(load.rootfd);
	beneath_near_release(&load.near);
	strbuf_release(&load.path);
	free(load.twice);
	return trouble;
}
