/* SPDX-License-Identifier: MIT */
#include "look/hashdir.h"

#include "base/base.h"
#include "record/record.h"
#include "tree/tree.h"

enum { PIECE = 128 * 1024 };

/* A file or link to be read. */
struct item {
	struct wt_entry *entry;
	const struct wt_dir *dir;
};

struct walk {
	struct arena arena;
	int rootfd;
	struct item *items;
	size_t nr, alloc;
};

static int fail(const char *path, const char *name)
{
	return ckpt_error_errno("unable to read '%s%s%s'", path, *path && name ? "/" : "",
				name ? name : *path ? "" : ".");
}

/* What is not part of any checkpoint. */
static bool counts(const char *name)
{
	return strcmp(name, ".git") != 0;
}

static int list(struct walk *walk, struct wt_dir *dir, int dirfd);

static int list_below(struct walk *walk, struct wt_dir *dir, struct wt_entry *entry, int dirfd)
{
	struct wt_dir *below = arena_alloc(&walk->arena, sizeof(*below));
	char *path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
	int fd = openat(dirfd, entry->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;

	*below = (struct wt_dir){ .path = arena_memdupz(&walk->arena, path, strlen(path)) };
	free(path);
	entry->dir = below;
	if (fd < 0)
		return fail(below->path, NULL);
	err = list(walk, below, fd);
	close(fd);
	return err;
}

/* False if it does not count. */
static int add_entry(bool *out, struct walk *walk, struct wt_entry *entry, const struct wt_dir *dir,
		     int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(dir->path, name);
	*out = S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode);
	*entry = (struct wt_entry){
		.name = arena_memdupz(&walk->arena, name, strlen(name)),
		.name_len = (uint32_t)strlen(name),
		.mode = S_ISLNK(st.st_mode) ? 0 : st.st_mode & 07777,
		.kind = S_ISLNK(st.st_mode) ? WT_LINK : S_ISDIR(st.st_mode) ? WT_DIR : WT_FILE,
	};
	return 0;
}

static int list(struct walk *walk, struct wt_dir *dir, int dirfd)
{
	struct strlist names = STRLIST_INIT;
	int err = fs_names(&names, dirfd, ".", 0, counts) ? fail(dir->path, NULL) : 0;

	dir->loaded = arena_alloc(&walk->arena, (names.nr ? names.nr : 1) * sizeof(struct wt_entry));
	for (size_t i = 0; i < names.nr && !err; i++) {
		bool in = false;

		err = add_entry(&in, walk, &dir->loaded[dir->nr], dir, dirfd, names.items[i]);
		dir->nr += in;
	}
	strlist_release(&names);
	if (dir->nr)
		qsort(dir->loaded, dir->nr, sizeof(struct wt_entry), wt_entry_compare);
	for (size_t i = 0; i < dir->nr && !err; i++) {
		if (dir->loaded[i].kind == WT_DIR) {
			err = list_below(walk, dir, &dir->loaded[i], dirfd);
			continue;
		}
		ALLOC_GROW(walk->items, walk->nr + 1, walk->alloc);
		walk->items[walk->nr++] = (struct item){ &dir->loaded[i], dir };
	}
	return err;
}

static int read_file(struct wt_entry *entry, int dirfd)
{
	int fd = fs_open_regular(NULL, dirfd, entry->name, O_NOFOLLOW);
	struct digest *sha256;
	char *piece;
	ssize_t n;

	if (fd < 0)
		return -1;
	sha256 = hash_new(HASH_SHA256);
	piece = xmalloc(PIECE);
	while ((n = fs_pread_full(fd, piece, PIECE, (off_t)entry->st.size)) > 0) {
		hash_update(sha256, piece, (size_t)n);
		entry->st.size += (uint64_t)n;
	}
	hash_end(sha256, entry->sha256);
	hash_free(sha256);
	free(piece);
	close(fd);
	return n < 0 ? -1 : 0;
}

static int read_link(struct wt_entry *entry, int dirfd)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dirfd, entry->name, target, sizeof(target));

	if (n < 0)
		return -1;
	hash_buffer(HASH_SHA256, entry->sha256, target, (size_t)n);
	entry->st.size = (uint64_t)n;
	return 0;
}

static int read_item(size_t index, unsigned worker, void *payload)
{
	struct walk *walk = payload;
	const struct item *item = &walk->items[index];
	int fd = beneath_open(walk->rootfd, item->dir->path, O_RDONLY | O_DIRECTORY), err = cancel_check();

	(void)worker;
	if (!err && (fd < 0 || (item->entry->kind == WT_LINK ? read_link(item->entry, fd) :
							       read_file(item->entry, fd))))
		err = fail(item->dir->path, item->entry->name);
	fs_close(fd);
	return err;
}

int hashdir(struct hashdir *out, const char *path, unsigned threads)
{
	struct wt_dir root = { .path = "" };
	struct walk walk = { .arena = ARENA_INIT };
	struct wt_counts counted;
	int err = 0;

	walk.rootfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (walk.rootfd < 0)
		return ckpt_error_errno("unable to open '%s'", path);
	err = list(&walk, &root, walk.rootfd);
	if (!err)
		err = pool_for(threads, walk.nr, read_item, &walk);
	if (!err) {
		statehash(out->hash, &root);
		wt_count(&counted, &root);
		out->files = counted.files;
		out->bytes = counted.bytes;
	}
	close(walk.rootfd);
	free(walk.items);
	arena_release(&walk.arena);
	return err;
}
