/* SPDX-License-Identifier: MIT */
#include "store/refs.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/strbuf.h"
#include "store/store.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "refs/checkpoints/"
#define PACKED "packed-refs"
#define PACKED_LOCK "packed-refs.lock"

/* What our own locks on packed-refs contain, to know one that a dead process of ours left. */
#define LOCK_TEXT "git-checkpoint\n"

enum {
	PACKED_LOCK_SECONDS = 1, /* as long as git itself waits */
	/* Git holds it for milliseconds; one so old was left by a process that was killed. */
	PACKED_LOCK_STALE = 600,
};

bool refs_valid_id(const char *id)
{
	static const char form[] = "chk_dddddddd_dddddd_xxxxxx";

	for (size_t i = 0; i < sizeof(form); i++) {
		unsigned char c = (unsigned char)id[i];
		bool ok = form[i] == 'd' ? isdigit(c) :
			  form[i] == 'x' ? isdigit(c) || (c >= 'a' && c <= 'f') :
					   c == (unsigned char)form[i];

		if (!ok)
			return false;
	}
	return true;
}

static void add(struct ref_list *list, const char *id, const char *hex, size_t hex_len)
{
	struct ref_item *item;

	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	item = &list->items[list->nr++];
	memset(item, 0, sizeof(*item));
	strcpy(item->id, id);
	if (hex_len < OID_HEX || !oid_parse(&item->commit, hex))
		memset(&item->commit, 0, sizeof(item->commit));
}

static int add_loose(struct ref_list *list, struct store *store)
{
	int fd = openat(store->dirfd, PREFIX, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct strbuf text = STRBUF_INIT;
	struct dirent *ent;

	if (!dir) {
		int err = errno == ENOENT ? 0 : ckpt_error_errno("unable to read the refs of '%s'", store->path);

		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((ent = readdir(dir))) {
		if (!refs_valid_id(ent->d_name))
			continue;
		strbuf_reset(&text);
		if (fs_read_file(&text, fd, ent->d_name) == CKPT_ENOTFOUND)
			continue; /* dropped just now */
		add(list, ent->d_name, text.buf, text.len);
	}
	closedir(dir);
	strbuf_release(&text);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct ref_item *)a)->id, ((const struct ref_item *)b)->id);
}

/* Equal ids too, what can be read before what cannot. */
static int compare_all(const void *a, const void *b)
{
	int order = compare(a, b);

	return order ? order :
		       memcmp(&((const struct ref_item *)b)->commit,
			      &((const struct ref_item *)a)->commit, sizeof(struct oid));
}

/* Add a line "<hex> <name>", unless there is a loose ref of that name: it wins. */
static void add_line(struct ref_list *list, size_t loose, const char *line)
{
	const char *name = strchr(line, ' ');

	if (*line == '#' || *line == '^' || !name || strncmp(name + 1, PREFIX, strlen(PREFIX)))
		return;
	name += 1 + strlen(PREFIX);
	if (refs_valid_id(name)) {
		struct ref_item key;

		strcpy(key.id, name);
		if (!loose || !bsearch(&key, list->items, loose, sizeof(key), compare))
			add(list, name, line, strcspn(line, " "));
	}
}

/* A NUL, which a bad disk leaves, ends a line: it must not hide those behind it. */
static int read_packed(struct strbuf *out, struct store *store)
{
	int err = fs_read_file(out, store->dirfd, PACKED);

	for (char *p; !err && (p = memchr(out->buf, '\0', out->len));)
		*p = '\n';
	return err;
}

/* `list` has the loose ones, in order. */
static void add_packed(struct ref_list *list, struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	size_t loose = list->nr;
	char *line, *rest = NULL;

	if (!read_packed(&text, store))
		for (line = strtok_r(text.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			add_line(list, loose, line);
	strbuf_release(&text);
}

/* A name that is there twice is one checkpoint. */
static void sort_once(struct ref_list *list)
{
	size_t kept = 0;

	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare_all);
	for (size_t i = 0; i < list->nr; i++)
		if (!kept || compare(&list->items[kept - 1], &list->items[i]))
			list->items[kept++] = list->items[i];
	list->nr = kept;
}

int refs_list(struct ref_list *out, struct store *store)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = add_loose(out, store);
	if (err) {
		ref_list_release(out);
		return err;
	}
	sort_once(out);
	add_packed(out, store);
	sort_once(out);
	return 0;
}

void ref_list_release(struct ref_list *list)
{
	free(list->items);
	memset(list, 0, sizeof(*list));
}

/* Made elsewhere and moved: whatever lies below refs/, git takes for a ref. */
static int write_ref(struct store *store, const char *dir, const char *name,
		     const struct oid *commit, enum fs_durability durability)
{
	struct strbuf temp = STRBUF_INIT;
	char *path = xstrfmt("%s/%s", dir, name);
	char text[OID_HEX + 2];
	int fd = -1, err = fs_temp_open(&fd, &temp, store->dirfd, "checkpoint", 0600);

	if (err)
		goto out;
	oid_hex(text, commit);
	text[OID_HEX] = '\n';
	if (fs_write_all(fd, text, OID_HEX + 1) < 0 || (durability == FS_DURABLE && fsync(fd) < 0))
		err = ckpt_error_errno("unable to write '%s'", path);
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to close '%s'", path);
	if (!err)
		err = fs_rename(store->dirfd, temp.buf, path, dir, durability);
	if (err)
		unlinkat(store->dirfd, temp.buf, 0);
out:
	strbuf_release(&temp);
	free(path);
	return err;
}

int refs_create(struct store *store, const char *id, const struct oid *commit)
{
	bool there = refs_exist(store, id);
	int err = write_ref(store, "refs/checkpoints", id, commit, FS_DURABLE);

	/*
	 * In place but perhaps not for good: then it must not look like a checkpoint. One that
	 * was there, however damaged, says that there is one.
	 */
	if (err && !there) {
		char *name = xstrfmt(PREFIX "%s", id);

		unlinkat(store->dirfd, name, 0);
		free(name);
	}
	return err;
}

/* --- removing --- */

/* The line of a ref in the text of packed-refs, or NULL; `len_out` with the peeled one behind it. */
static char *find_packed(char *text, const char *name, size_t *len_out)
{
	size_t name_len = strlen(name);

	for (char *line = text; *line;) {
		char *end = strchrnul(line, '\n'), *space = memchr(line, ' ', (size_t)(end - line));

		if (*line != '#' && *line != '^' && space && (size_t)(end - space - 1) == name_len &&
		    !memcmp(space + 1, name, name_len)) {
			end += *end == '\n';
			while (*end == '^') {
				end = strchrnul(end, '\n');
				end += *end == '\n';
			}
			*len_out = (size_t)(end - line);
			return line;
		}
		line = end + (*end == '\n');
	}
	return NULL;
}

/* Most stores have no packed refs, and then this is one call. */
static bool is_packed(struct store *store, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	size_t len;
	bool found = !faccessat(store->dirfd, PACKED, F_OK, 0) &&
		     !read_packed(&text, store) && find_packed(text.buf, name, &len);

	strbuf_release(&text);
	return found;
}

/* By the clock that dates files: one that was set says nothing about a lock of the future. */
static bool is_stale(struct store *store)
{
	struct timespec now;
	struct stat st;

	return !clock_gettime(CLOCK_REALTIME, &now) &&
	       !fstatat(store->dirfd, PACKED_LOCK, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_mtime + PACKED_LOCK_STALE < now.tv_sec;
}

/*
 * The lock is linked into place with its contents, so that one of ours is never
 * taken for one of git's. We hold the store's lock: another of ours is that of
 * a process that died.
 */
static int lock_packed(struct store *store)
{
	double deadline = clock_monotonic() + PACKED_LOCK_SECONDS;
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct strbuf temp = STRBUF_INIT, text = STRBUF_INIT;
	int fd = -1, err = fs_temp_open(&fd, &temp, store->dirfd, "checkpoint", 0600);

	if (err)
		goto out;
	if (fs_write_all(fd, LOCK_TEXT, strlen(LOCK_TEXT)) < 0)
		err = ckpt_error_errno("unable to write '%s'", PACKED_LOCK);
	close(fd);
	while (!err && linkat(store->dirfd, temp.buf, store->dirfd, PACKED_LOCK, 0) < 0) {
		if (errno != EEXIST) {
			err = ckpt_error_errno("unable to create '%s/" PACKED_LOCK "'", store->path);
			break;
		}
		strbuf_reset(&text);
		if (((!fs_read_file(&text, store->dirfd, PACKED_LOCK) &&
		      !strcmp(text.buf, LOCK_TEXT)) ||
		     is_stale(store)) &&
		    !unlinkat(store->dirfd, PACKED_LOCK, 0))
			continue;
		if (clock_monotonic() < deadline)
			nanosleep(&pause, NULL);
		else
			err = ckpt_error_set(CKPT_ELOCKED,
					     "'%s/" PACKED_LOCK "' is there: another git process is "
					     "at work in the store; if none is, remove that file",
					     store->path);
	}
	unlinkat(store->dirfd, temp.buf, 0);
out:
	strbuf_release(&temp);
	strbuf_release(&text);
	return err;
}

static int remove_packed(struct store *store, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	size_t len;
	char *line;
	int err = lock_packed(store);

	if (err)
		return err;
	err = read_packed(&text, store);
	while (!err && (line = find_packed(text.buf, name, &len))) {
		memmove(line, line + len, (size_t)(text.buf + text.len - line) - len);
		strbuf_setlen(&text, text.len - len);
	}
	if (!err)
		err = fs_write_file(store->dirfd, PACKED, text.buf, text.len, 0600, FS_DURABLE);
	else if (err == CKPT_ENOTFOUND)
		err = 0;
	unlinkat(store->dirfd, PACKED_LOCK, 0);
	strbuf_release(&text);
	return err;
}

/* The packed one first: it would show as soon as the loose one is gone. */
static int remove_ref(struct store *store, const char *dir, const char *id)
{
	char *name = xstrfmt("%s/%s", dir, id);
	int err = is_packed(store, name) ? remove_packed(store, name) : 0;

	if (!err && !unlinkat(store->dirfd, name, 0))
		err = fs_sync_dir(store->dirfd, dir);
	else if (!err && errno == EISDIR)
		err = fs_remove_tree(store->dirfd, name); /* damage, but asked to go */
	else if (!err && errno != ENOENT && errno != ENOTDIR)
		err = ckpt_error_errno("unable to remove '%s'", name);
	free(name);
	return err;
}

static bool ref_is_there(struct store *store, const char *dir, const char *id)
{
	char *name = xstrfmt("%s/%s", dir, id);
	bool there = !faccessat(store->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) ||
		     is_packed(store, name);

	free(name);
	return there;
}

bool refs_exist(struct store *store, const char *id)
{
	return ref_is_there(store, "refs/checkpoints", id);
}

int refs_delete(struct store *store, const char *id)
{
	int err = remove_ref(store, "refs/checkpoints", id);

	if (!err)
		err = remove_ref(store, "refs/pinned", id);
	return err ? err : remove_ref(store, "refs/unpinned", id);
}

/* --- marks --- */

enum refs_mark refs_mark(struct store *store, const char *id)
{
	if (ref_is_there(store, "refs/pinned", id))
		return REFS_PINNED;
	return ref_is_there(store, "refs/unpinned", id) ? REFS_UNPINNED : REFS_UNMARKED;
}

int refs_set_mark(struct store *store, const char *id, const struct oid *commit,
		  enum refs_mark mark)
{
	const char *dir = mark == REFS_PINNED ? "refs/pinned" : "refs/unpinned",
		   *other = mark == REFS_PINNED ? "refs/unpinned" : "refs/pinned";
	int err = 0;

	if (mark == REFS_UNMARKED) {
		err = remove_ref(store, dir, id);
	} else {
		err = fs_ensure_dir(store->dirfd, dir, 0700);
	}
	if (!err && mark != REFS_UNMARKED)
		err = write_ref(store, dir, id, commit, FS_DURABLE);
	/* For an instant both are there: then it is pinned, which loses nothing. */
	return err ? err : remove_ref(store, other, id);
}

static bool has(const struct ref_list *list, const char *id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].id, id))
			return true;
	return false;
}

static int sweep_dir(struct store *store, const char *path, const struct ref_list *lost)
{
	int fd = openat(store->dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && !err && (ent = readdir(dir)))
		if (refs_valid_id(ent->d_name) && !refs_exist(store, ent->d_name) &&
		    !has(lost, ent->d_name))
			err = remove_ref(store, path, ent->d_name);
	if (dir)
		closedir(dir);
	return err;
}

/* Those that stock git packed, too. */
static int sweep_packed(struct store *store, const char *dir, const struct ref_list *lost)
{
	struct strbuf text = STRBUF_INIT;
	size_t dir_len = strlen(dir);
	char *line, *rest = NULL;
	int err = 0;

	if (faccessat(store->dirfd, PACKED, F_OK, 0) < 0 || read_packed(&text, store)) {
		strbuf_release(&text);
		return 0;
	}
	for (line = strtok_r(text.buf, "\n", &rest); line && !err;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *name = strchr(line, ' '), *id;

		if (!name || strncmp(++name, dir, dir_len) || name[dir_len] != '/')
			continue;
		id = name + dir_len + 1;
		if (refs_valid_id(id) && !refs_exist(store, id) && !has(lost, id))
			err = remove_ref(store, dir, id);
	}
	strbuf_release(&text);
	return err;
}

int refs_sweep_marks(struct store *store, const struct ref_list *lost)
{
	static const char *const dirs[] = { "refs/pinned", "refs/unpinned" };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(dirs) && !err; i++) {
		err = sweep_dir(store, dirs[i], lost);
		if (!err)
			err = sweep_packed(store, dirs[i], lost);
	}
	return err;
}

void refs_set_latest(struct store *store, const struct oid *commit)
{
	if (commit && !write_ref(store, "refs/heads", "latest", commit, FS_FAST))
		return;
	/* Better none than one that points at what is gone. */
	(void)remove_ref(store, "refs/heads", "latest");
}

void refs_mend_latest(struct store *store, const struct ref_list *refs)
{
	struct strbuf text = STRBUF_INIT;
	const struct oid *newest = NULL;
	struct oid present;
	bool there = !fs_read_file(&text, store->dirfd, "refs/heads/latest") &&
		     text.len >= OID_HEX && oid_parse(&present, text.buf);

	for (size_t i = refs->nr; i-- && !newest;)
		if (!oid_is_zero(&refs->items[i].commit))
			newest = &refs->items[i].commit;
	if (!there || !newest || !oid_equal(&present, newest))
		refs_set_latest(store, newest);
	strbuf_release(&text);
}
