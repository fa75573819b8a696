/* SPDX-License-Identifier: MIT */
#include "watch/watch_cover_internal.h"

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
	NAME_EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
	END_EVENTS = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED,
	DEPTH_MAX = 1000, /* what is below such a directory is not watched one by one */
	READ_SIZE = 65536,
	READS_MAX = 16, /* in a row, before others get their turn */
	/* Names take that much, and a few bytes for the line before them. */
	NAMES_MAX = WATCHED_ANSWER_MAX - WATCHED_QUESTION_MAX,
};

/* --- watches --- */

/* Through the descriptor, so that it is this directory and no other. */
static int add_watch(const struct watch_cover *cover, int fd, uint32_t mask)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return inotify_add_watch(cover->inotify, path, mask);
}

/* A new watch on a directory of the store that nobody else watches here (6). -1 with errno. */
static int add_cookie(const struct watch_cover *cover)
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

static enum watch_trouble start_watching(struct watch_cover *cover)
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
static enum watch_trouble watch_again(struct watch_cover *cover)
{
	watch_nodes_release(&cover->nodes);
	fs_close(cover->inotify);
	return start_watching(cover);
}

/* Nothing is known any more (7). */
static void lose_events(struct watch_cover *cover)
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
	trouble = start_watching(out);
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
static bool arm_node(struct load *load, struct watch_node *node)
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
	*ALLOC_NEXT(load->twice, load->twice_nr, load->twice_alloc) = watch;
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
	if (node->watch < 0 && !arm_node(load, node))
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
		trouble = watch_again(cover);
	if (trouble)
		return trouble;
	load.rootfd = open_root(cover);
	if (load.rootfd < 0) {
		cover->gone = true;
		lose_events(cover);
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

/* --- events --- */

/* The directory itself went, or got another name. */
static void end_node(struct watch_cover *cover, struct watch_node *node)
{
	if (!node->parent) {
		cover->gone = true;
		lose_events(cover);
		return;
	}
	watch_nodes_touch(&cover->nodes, node->parent, cover->tick);
	watch_nodes_loosen(&cover->nodes, node);
}

/* Whatever happened to a name: if it is, or was, that of a directory, look again (4). */
static void note_name(struct watch_cover *cover, struct watch_node *node, const char *name)
{
	struct watch_node *child = watch_nodes_child(&cover->nodes, node, name);

	if (child)
		watch_nodes_loosen(&cover->nodes, child);
}

static void apply_event(struct watch_cover *cover, const struct inotify_event *event)
{
	struct watch_node *node;

	if (event->mask & IN_Q_OVERFLOW) {
		cover->changes++;
		lose_events(cover);
		return;
	}
	node = watch_nodes_of(&cover->nodes, event->wd);
	if (!node)
		return;
	cover->changes++;
	if (event->mask & END_EVENTS) {
		end_node(cover, node);
		return;
	}
	watch_nodes_touch(&cover->nodes, node, cover->tick);
	if (event->mask & NAME_EVENTS && event->len)
		note_name(cover, node, event->name);
}

/* One read; 1 if `cookie` was in it, 0 if not, -1 if there was nothing, or after a failure. */
static int read_some(struct watch_cover *cover, int cookie)
{
	_Alignas(struct inotify_event) char buf[READ_SIZE];
	ssize_t len = read(cover->inotify, buf, sizeof(buf));
	int seen = 0;

	if (len <= 0) {
		if (len < 0 && errno != EAGAIN && errno != EINTR)
			lose_events(cover);
		return len < 0 && errno == EINTR ? 0 : -1;
	}
	for (char *at = buf; at < buf + len;) {
		const struct inotify_event *event = (const struct inotify_event *)at;

		if (cookie >= 0 && event->wd == cookie && event->mask & IN_IGNORED)
			seen = 1;
		else
			apply_event(cover, event);
		at += sizeof(*event) + event->len;
	}
	return seen;
}

void watch_cover_read(struct watch_cover *cover)
{
	for (int i = 0; i < READS_MAX; i++)
		if (read_some(cover, -1) < 0)
			break;
}

/*
 * That a watch was removed is an event like any other: it is in the queue after all that happened
 * before. The next one is put there at once, while there certainly is room for it. What was read
 * together with it happened later; the walk has not begun yet, so it may count as earlier.
 */
static bool sync_events(struct watch_cover *cover)
{
	int cookie = cover->cookie >= 0 ? cover->cookie : add_cookie(cover);
	int seen = 0;

	cover->cookie = -1;
	if (cookie < 0 || inotify_rm_watch(cover->inotify, cookie) < 0)
		return false;
	cover->cookie = add_cookie(cover);
	while (!seen && !cover->lost)
		seen = read_some(cover, cookie);
	if (seen < 0)
		lose_events(cover);
	return !cover->lost;
}

/* --- answers --- */

/* The watched directory is the one that its path leads to. */
static bool root_is_there(struct watch_cover *cover)
{
	struct stat st;

	if (!cover->gone && !lstat(cover->root, &st) && st.st_dev == cover->dev &&
	    st.st_ino == cover->ino)
		return true;
	cover->gone = true;
	return false;
}

/* Another cache than the one that was loaded, or places where watches are missing. */
static enum watch_trouble load_if_needed(struct watch_cover *cover, const struct statcache_id *asked)
{
	const struct statcache_id *loaded = &cover->loaded;

	if (asked->base == loaded->base && asked->size == loaded->size && !cover->nodes.loose_nr)
		return WATCH_NONE;
	return watch_cover_load(cover);
}

static bool add_path(struct strlist *out, size_t *room, const struct watch_node *node)
{
	struct strbuf path = STRBUF_INIT;

	watch_nodes_path(&path, node);
	if (path.len + 1 > *room) {
		strbuf_release(&path);
		return false;
	}
	*room -= path.len + 1;
	strlist_take(out, strbuf_detach(&path, NULL));
	return true;
}

/* False: there are too many. */
static bool collect_changed(struct watched *out, const struct watch_cover *cover, uint64_t since)
{
	size_t room = NAMES_MAX;

	for (const struct watch_node *node = cover->nodes.newest; node && node->changed > since;
	     node = node->older)
		if (!add_path(&out->dirs, &room, node))
			return false;
	for (const struct watch_node *node = cover->nodes.loose; node; node = node->older)
		if (!add_path(&out->trees, &room, node))
			return false;
	strlist_sort_unique(&out->dirs);
	strlist_sort_unique(&out->trees);
	return true;
}

static bool is_known(const struct watch_cover *cover, const struct watched_question *question)
{
	return !cover->lost && question->since.instance == cover->instance &&
	       question->since.tick < cover->tick && cover->loaded.size &&
	       question->cache.base == cover->loaded.base &&
	       question->cache.size == cover->loaded.size;
}

void watch_cover_answer(struct watched *out, enum watch_trouble *trouble_out,
			struct watch_cover *cover, const struct watched_question *question,
			const struct watched_view *view)
{
	bool synced;

	memset(out, 0, sizeof(*out));
	out->all = true;
	*trouble_out = WATCH_NONE;
	if (cover->blind || !watched_view_equal(view, &question->view) || !root_is_there(cover))
		return;
	synced = sync_events(cover);
	if (synced)
		*trouble_out = load_if_needed(cover, &question->cache);
	if (*trouble_out || cover->gone)
		return;
	if (synced && is_known(cover, question)) {
		out->all = !collect_changed(out, cover, question->since.tick);
		if (out->all) {
			strlist_release(&out->dirs);
			strlist_release(&out->trees);
		}
	}
	/* Even if it is not known what happened before: from now on it is (1). */
	out->now = (struct watch_mark){ cover->instance, cover->tick++ };
}
