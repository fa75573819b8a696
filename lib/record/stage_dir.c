/* SPDX-License-Identifier: MIT */
#include "record/stage_dir.h"

#include "record/journal.h"
#include "store/store.h"
#include "tree/tree.h"

#include <sys/file.h>

#define MEMBER "stages"
#define MAGIC "This directory was made by a restore of git-checkpoint.\n"

enum {
	NAME_DIGITS = 16,      /* after the prefix */
	MARKER_MAX = 64 << 10, /* two quoted paths */
};

bool stage_dir_is_name(const char *name)
{
	size_t len = strlen(STAGE_DIR_PREFIX);

	return !strncmp(name, STAGE_DIR_PREFIX, len) && strlen(name + len) == NAME_DIGITS &&
	       strspn(name + len, "0123456789abcdef") == NAME_DIGITS;
}

/* --- the names recorded in a store: an array --- */

static void read_names(struct strlist *out, int dirfd)
{
	json_t *names = state_peek(dirfd, MEMBER), *item;
	size_t i;

	json_array_foreach(names, i, item)
		if (json_is_string(item) && stage_dir_is_name(json_string_value(item)))
			strlist_add(out, json_string_value(item));
	json_decref(names);
}

/* With one more, and without another; either may be NULL. */
static int change_names(struct store *store, const char *add, const char *but)
{
	struct strlist names = STRLIST_INIT;
	json_t *array = json_array();

	read_names(&names, store->dirfd);
	if (add)
		strlist_add(&names, add);
	for (size_t i = 0; i < names.nr; i++)
		if (!but || strcmp(names.items[i], but) != 0)
			json_array_append_new(array, json_string(names.items[i]));
	strlist_release(&names);
	if (!json_array_size(array)) {
		json_decref(array);
		array = NULL;
	}
	return state_set(store, MEMBER, array);
}

/* Forget the name of one that no longer exists. */
static int forget_name(struct store *store, const char *name)
{
	return change_names(store, NULL, name);
}

/* What is recorded, and what the journal has, in case only that is left. */
static void read_known(struct strlist *out, struct store *store)
{
	struct journal journal;
	char *name, *rest = NULL;

	read_names(out, store->dirfd);
	if (!journal_exists(store) || journal_read(&journal, store))
		return;
	for (name = strtok_r(journal.stages, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		strlist_add(out, name);
	journal_release(&journal);
}

/* --- the marker --- */

static void marker_head(struct strbuf *out, const char *name)
{
	strbuf_addf(out, MAGIC "name %s\n", name);
}

static int write_marker(struct store *store, int fd, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	int file = openat(fd, STAGE_DIR_MARKER,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err = file < 0 ? -1 : 0;

	marker_head(&text, name);
	strbuf_addstr(&text, "store ");
	quote_c(&text, store->path, strlen(store->path));
	strbuf_addstr(&text, "\nworktree ");
	quote_c(&text, store->worktree, strlen(store->worktree));
	strbuf_addch(&text, '\n');
	if (!err)
		err = fs_write_all(file, text.buf, text.len) < 0 || fsync(file) < 0 ||
				      fsync(fd) < 0 ?
			      -1 :
			      0;
	if (err)
		err = ckpt_error_errno("unable to write '%s/" STAGE_DIR_MARKER "'", name);
	fs_close(file);
	strbuf_release(&text);
	return err;
}

/* False if there is nothing that could be a marker. */
static bool read_marker(struct strbuf *out, int fd)
{
	struct stat st;
	int file = fs_open_regular(&st, fd, STAGE_DIR_MARKER, O_NOFOLLOW);
	ssize_t n = -1;

	if (file < 0)
		return false;
	if (st.st_size <= MARKER_MAX) {
		char *buf = xmalloc(MARKER_MAX);

		n = fs_read_full(file, buf, MARKER_MAX);
		if (n > 0)
			strbuf_add(out, buf, (size_t)n);
		free(buf);
	}
	close(file);
	return n >= 0;
}

/* A line "<key> <quoted path>" of the marker; "" if there is none. */
static char *marker_path(const struct strbuf *marker, const char *key)
{
	const char *line = strstr(marker->buf, key);
	struct strbuf path = STRBUF_INIT;

	if (!line || !quote_undo_c(&path, line + strlen(key), NULL))
		strbuf_reset(&path);
	return strbuf_detach(&path, NULL);
}

/* --- telling them from others --- */

/* A marker that is being written may be incomplete, or zeros after a power cut. */
static bool is_torn(const struct strbuf *marker, const char *head)
{
	for (size_t i = 0; i < marker->len && head[i]; i++)
		if (marker->buf[i] && marker->buf[i] != head[i])
			return false;
	return true;
}

/* Nothing or, perhaps, an unfinished marker. */
static bool holds_nothing(int fd, const char *head)
{
	struct strbuf marker = STRBUF_INIT;
	struct strlist names = STRLIST_INIT;
	bool nothing = !fs_names(&names, fd, ".", 0, NULL);

	for (size_t i = 0; i < names.nr && nothing; i++)
		nothing = !strcmp(names.items[i], STAGE_DIR_MARKER) && read_marker(&marker, fd) &&
			  is_torn(&marker, head);
	strlist_release(&names);
	strbuf_release(&marker);
	return nothing;
}

/* Of this user, of root, or of the owner of the worktree: no other user's marker counts. */
static bool trusted_owner(int rootfd, int fd)
{
	struct stat root, st;

	return !fstat(rootfd, &root) && !fstat(fd, &st) &&
	       (st.st_uid == geteuid() || !st.st_uid || st.st_uid == root.st_uid);
}

/* Written by this store, for this place. */
static bool is_of_store(const struct strbuf *marker, const struct store *store)
{
	char *path = marker_path(marker, "\nstore "), *worktree = marker_path(marker, "\nworktree ");
	bool same = !strcmp(path, store->path) && !strcmp(worktree, store->worktree);

	free(path);
	free(worktree);
	return same;
}

static enum stage_dir_kind judge_dir(struct strbuf *marker, int rootfd, const char *name,
				     const struct store *store, bool known)
{
	int fd = openat(rootfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct strbuf head = STRBUF_INIT;
	enum stage_dir_kind kind = STAGE_DIR_NONE;

	if (fd < 0) /* root's, for example */
		return errno == EACCES && known ? STAGE_DIR_OWN : STAGE_DIR_NONE;
	marker_head(&head, name);
	if (!trusted_owner(rootfd, fd))
		kind = STAGE_DIR_NONE;
	else if (read_marker(marker, fd) && !strncmp(marker->buf, head.buf, head.len))
		kind = known				     ? STAGE_DIR_OWN
		       : store && is_of_store(marker, store) ? STAGE_DIR_STRAY
							     : STAGE_DIR_FOREIGN;
	else if (known && holds_nothing(fd, head.buf))
		kind = STAGE_DIR_OWN;
	strbuf_release(&head);
	close(fd);
	return kind;
}

static void judge_all(struct stage_dirs *out, int rootfd, const struct store *store,
		      const struct strlist *names, const struct strlist *known)
{
	struct strbuf marker = STRBUF_INIT;

	for (size_t i = 0; i < names->nr; i++) {
		const char *name = names->items[i];
		enum stage_dir_kind kind;

		strbuf_reset(&marker);
		kind = judge_dir(&marker, rootfd, name, store, strlist_has(known, name));
		if (kind == STAGE_DIR_NONE)
			continue;
		*ALLOC_NEXT(out->items, out->nr, out->alloc) = (struct stage_dir){
			.name = xstrdup(name),
			.kind = kind,
			.store = marker_path(&marker, "\nstore "),
			.worktree = marker_path(&marker, "\nworktree "),
		};
	}
	strbuf_release(&marker);
}

void stage_dir_list(struct stage_dirs *out, struct store *store, const char *worktree)
{
	struct strlist names = STRLIST_INIT, known = STRLIST_INIT;
	int rootfd = open(worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	memset(out, 0, sizeof(*out));
	/* A scan must not mistake it for files because it was not told to leave it out. */
	if ((rootfd < 0 || fs_names(&names, rootfd, ".", 0, stage_dir_is_name) < 0) && fs_is_lack(errno))
		(void)ckpt_error_errno("unable to read the directory '%s'", worktree);
	if (names.nr && store)
		read_known(&known, store);
	judge_all(out, rootfd, store, &names, &known);
	fs_close(rootfd);
	strlist_release(&names);
	strlist_release(&known);
}

enum stage_dir_kind stage_dir_look(struct store *store, const char *worktree, const char *name)
{
	struct strbuf marker = STRBUF_INIT;
	struct strlist known = STRLIST_INIT;
	enum stage_dir_kind kind = STAGE_DIR_FOREIGN;
	int rootfd = open(worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (store)
		read_known(&known, store);
	if (rootfd >= 0 && !faccessat(rootfd, name, F_OK, AT_SYMLINK_NOFOLLOW))
		kind = judge_dir(&marker, rootfd, name, store, strlist_has(&known, name));
	/* Checked again: perhaps it was removed meanwhile. */
	if (kind == STAGE_DIR_NONE && faccessat(rootfd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		kind = STAGE_DIR_FOREIGN;
	fs_close(rootfd);
	strlist_release(&known);
	strbuf_release(&marker);
	return kind;
}

void stage_dirs_release(struct stage_dirs *dirs)
{
	for (size_t i = 0; i < dirs->nr; i++) {
		free(dirs->items[i].name);
		free(dirs->items[i].store);
		free(dirs->items[i].worktree);
	}
	free(dirs->items);
	memset(dirs, 0, sizeof(*dirs));
}

bool stage_dir_is_known(const struct stage_dir *dir)
{
	struct strlist names = STRLIST_INIT;
	int dirfd = open(dir->store, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool known;

	if (dirfd < 0)
		return false;
	read_names(&names, dirfd);
	known = strlist_has(&names, dir->name);
	strlist_release(&names);
	close(dirfd);
	return known;
}

/* --- making and removing --- */

int stage_dir_make(int *fd_out, struct store *store, int rootfd, const char *name)
{
	int err = change_names(store, name, NULL);

	*fd_out = -1;
	if (err)
		return err;
	if (mkdirat(rootfd, name, 0700) < 0) {
		err = ckpt_error_errno("unable to create the directory '%s'", name);
	} else {
		*fd_out = openat(rootfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		err = *fd_out < 0 ? ckpt_error_errno("unable to open the directory '%s'", name) :
				    write_marker(store, *fd_out, name);
		/*
		 * As long as this process has it open; if that is not possible, it is known
		 * nevertheless.
		 */
		if (!err)
			(void)flock(*fd_out, LOCK_EX | LOCK_NB);
		if (!err)
			return 0;
		/* Nothing else is in it yet. */
		if (*fd_out >= 0)
			(void)unlinkat(*fd_out, STAGE_DIR_MARKER, 0);
		(void)unlinkat(rootfd, name, AT_REMOVEDIR);
	}
	fs_close(*fd_out);
	*fd_out = -1;
	/* Otherwise the sweep of the next command does it; the earlier failure matters. */
	if (faccessat(rootfd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		char *kept = ckpt_error_keep();

		(void)forget_name(store, name);
		ckpt_error_put_back(err, kept);
	}
	return err;
}

int stage_dir_empty(int fd, const char *name, const struct strlist *but)
{
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (fs_names(&names, fd, ".", 0, NULL) < 0)
		err = ckpt_error_errno("unable to read the directory '%s'", name);
	for (size_t i = 0; i < names.nr && !err; i++)
		if (strcmp(names.items[i], STAGE_DIR_MARKER) && !strlist_has(but, names.items[i]))
			err = fs_remove_tree(fd, names.items[i]);
	strlist_release(&names);
	return err;
}

int stage_dir_remove(struct store *store, int rootfd, const char *name)
{
	int fd = openat(rootfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;

	if (fd < 0)
		return errno == ENOENT
			       ? forget_name(store, name)
			       : ckpt_error_errno("unable to open the directory '%s'", name);
	err = stage_dir_empty(fd, name, &(struct strlist)STRLIST_INIT);
	if (!err && unlinkat(fd, STAGE_DIR_MARKER, 0) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s/" STAGE_DIR_MARKER "'", name);
	close(fd);
	if (!err && unlinkat(rootfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s'", name);
	/* Otherwise a power cut could bring it back when it is no longer known. */
	if (!err && fsync(rootfd) < 0)
		err = ckpt_error_errno("unable to sync the directory that contained '%s'", name);
	return err ? err : forget_name(store, name);
}

/* True if the restore that created it is still running, even if it is of another store. */
static bool is_in_use(int rootfd, const char *name)
{
	int fd = openat(rootfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	fs_close(fd);
	return held;
}

/*
 * Forget all names but these: a name without a directory, or with one that the user has taken over,
 * is useless.
 */
static void forget_other_names(struct store *store, const struct stage_dirs *dirs)
{
	struct strlist names = STRLIST_INIT;

	read_names(&names, store->dirfd);
	for (size_t i = 0; i < names.nr; i++) {
		bool ours = false;

		for (size_t j = 0; j < dirs->nr; j++)
			ours = ours || !strcmp(dirs->items[j].name, names.items[i]);
		if (!ours)
			(void)forget_name(store, names.items[i]);
	}
	strlist_release(&names);
}

/* --- what is left of a restore that was interrupted --- */

/* Read, not only looked up: what is displaced may be the last good copy. */
static bool is_stored(struct store *store, int dirfd, const char *name, const struct stat *st)
{
	struct oid oid;
	bool named = S_ISLNK(st->st_mode)
			     ? displaced_name_link(&oid, dirfd, name)
			     : S_ISREG(st->st_mode) && displaced_name_file(&oid, dirfd, name);

	return named && !objects_check(store, &oid);
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
		else
			stored = is_stored(store, dirfd, name, &st);
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
	return S_ISDIR(st.st_mode) ? all_stored(store, stagefd, name, false)
				   : is_stored(store, stagefd, name, &st);
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
	return forget_name(store, name);
}

int stage_settle(struct strbuf *rescued_out, struct store *store, int rootfd, const char *name)
{
	struct stat st;
	int err;

	if (fstatat(rootfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return forget_name(store, name);
	if (all_stored(store, rootfd, name, true))
		return stage_dir_remove(store, rootfd, name);
	/* Perhaps it is, but was not read to the end. */
	err = cancel_check();
	return err || !rescued_out ? err : stage_rescue(rescued_out, store, rootfd, name);
}

/* A power cut can bring back a removed one; by then everything displaced was saved. */
static void sweep_stray(struct strlist *notes, struct store *store, int rootfd, const char *name)
{
	struct strbuf rescued = STRBUF_INIT;

	if (!is_in_use(rootfd, name) && !stage_settle(&rescued, store, rootfd, name) &&
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
	forget_other_names(store, &dirs);
	stage_dirs_release(&dirs);
	close(rootfd);
}
