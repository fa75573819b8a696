/* SPDX-License-Identifier: MIT */
#include "look/verify.h"

#include "captures/captures.h"
#include "gitstate/gitstate.h"
#include "session/session.h"

void verify_begin(struct verify *verify, struct session *session, progress_fn progress)
{
	*verify = (struct verify){ .session = session, .progress = progress };
}

void verify_end(struct verify *verify)
{
	contents_known_release(&verify->files);
	contents_known_release(&verify->dirs);
	oidset_release(&verify->others);
}

static int verify_tree(struct verify_result *out, struct verify *verify,
		       const struct ckpt_record *record)
{
	struct contents_opts opts = {
		.threads = verify->session->threads,
		.known = &verify->files,
		.dirs = &verify->dirs,
		.progress = verify->progress,
	};
	struct snapshot *snapshot = NULL;
	char hash[STATEHASH_SIZE];
	int err = snapshot_open(&snapshot, verify->session->store, record);

	if (!err)
		err = contents_hash(snapshot, &opts);
	if (!err && strcmp(statehash(hash, snapshot->root), record->state_hash))
		strlist_addf(&out->problems, "its contents have the state hash %s, but %s is "
					     "recorded", hash,
			     record->state_hash);
	if (!err)
		contents_remember_dirs(&verify->dirs, snapshot);
	snapshot_free(snapshot);
	return err;
}

/* What hangs off the commit; small values are read with the metadata. */
static int verify_extras(struct verify *verify, const struct ckpt_record *record)
{
	struct session *session = verify->session;
	struct ckpt_meta meta;
	int err = meta_read(&meta, session->store, record, false);

	if (err)
		return err;
	for (size_t i = 0; i < meta.states_nr && !err; i++) {
		const struct oid *oid = &meta.states[i].oid;

		if (!meta.states[i].value && !oidset_has(&verify->others, oid))
			err = objects_check(session->store, oid);
		if (!err)
			oidset_add(&verify->others, oid);
		else if (err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "state key '%s'", meta.states[i].key);
	}
	if (!err)
		err = capture_check(session, &meta.captures, &verify->others);
	meta_release(&meta);
	return err;
}

static int verify_blob(struct verify *verify, const struct oid *oid)
{
	int err = oidset_has(&verify->others, oid) ? 0 : objects_check(verify->session->store, oid);

	if (!err)
		oidset_add(&verify->others, oid);
	return err;
}

/* The state of the repository, with the contents of what is staged. */
static int verify_git(struct verify_result *out, struct verify *verify,
		      const struct ckpt_record *record)
{
	char hash[STATEHASH_SIZE];
	struct gitrecord git;
	int err;

	if (!*record->git_hash)
		return 0;
	err = gitrecord_load(&git, verify->session->store, record);
	if (err == CKPT_ENOTFOUND)
		err = ckpt_error_set(CKPT_ECORRUPT, "the state of the repository is missing");
	if (!err && strcmp(gitrecord_hash(hash, &git.state), record->git_hash) != 0)
		strlist_addf(&out->problems,
			     "its state of the repository has the hash %s, but %s is recorded",
			     hash, record->git_hash);
	for (size_t i = 0; i < git.nr && !err; i++) {
		err = verify_blob(verify, &git.blobs[i].oid);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "staged contents '%.12s'", git.blobs[i].hex);
	}
	if (!err && !oid_is_zero(&git.autostash)) {
		err = verify_blob(verify, &git.autostash);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "autostash");
	}
	gitrecord_release(&git);
	return err;
}

int verify_checkpoint(struct verify_result *out, struct verify *verify, const struct ref_item *ref)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err;

	memset(out, 0, sizeof(*out));
	snprintf(out->id, sizeof(out->id), "%s", ref->id);
	err = record_read_saved(&record, verify->session->store, ref);
	if (!err)
		err = verify_extras(verify, &record);
	if (!err)
		err = verify_git(out, verify, &record);
	if (!err)
		err = verify_tree(out, verify, &record);
	/* What could not be read for lack of memory or descriptors is not damaged. */
	if (err && err != CKPT_ECANCELLED && err != CKPT_ELACK) {
		strlist_add(&out->problems, ckpt_error_last());
		err = 0;
	}
	record_release(&record);
	return err;
}

int verify_record(struct verify_result *out, struct session *session,
		  const struct ckpt_record *record, progress_fn progress)
{
	struct ref_item ref = { .commit = record->commit };
	struct verify verify;
	int err;

	memset(out, 0, sizeof(*out));
	memcpy(ref.id, record->id, sizeof(ref.id));
	verify_begin(&verify, session, progress);
	err = verify_checkpoint(out, &verify, &ref);
	verify_end(&verify);
	return err;
}

/* --- a plain directory --- */

enum { PIECE = 128 * 1024 };

/* A file or link to be read. */
struct file {
	struct wt_entry *entry;
	const struct wt_dir *dir;
};

struct walk {
	struct arena arena;
	int rootfd;
	struct file *items;
	size_t nr, alloc;
};

static int fail_reading(const char *path, const char *name)
{
	return ckpt_error_errno("unable to read '%s%s%s'", path, *path && name ? "/" : "",
				name ? name : *path ? "" : ".");
}

/* What is not part of any checkpoint. */
static bool is_part(const char *name)
{
	return strcmp(name, ".git") != 0;
}

/* False if it does not count. */
static int add_entry(bool *out, struct walk *walk, struct wt_entry *entry, const struct wt_dir *dir,
		     int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail_reading(dir->path, name);
	*out = S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode);
	*entry = (struct wt_entry){
		.name = arena_memdupz(&walk->arena, name, strlen(name)),
		.name_len = (uint32_t)strlen(name),
		.mode = S_ISLNK(st.st_mode) ? 0 : st.st_mode & 07777,
		.kind = S_ISLNK(st.st_mode) ? WT_LINK : S_ISDIR(st.st_mode) ? WT_DIR : WT_FILE,
	};
	return 0;
}

static int list_names(struct walk *walk, struct wt_dir *dir)
{
	int fd = beneath_open(walk->rootfd, dir->path, O_RDONLY | O_DIRECTORY), err = 0;
	struct strlist names = STRLIST_INIT;

	if (fd < 0 || fs_names(&names, fd, ".", 0, is_part) < 0)
		err = fail_reading(dir->path, NULL);
	dir->loaded = arena_alloc(&walk->arena, (names.nr ? names.nr : 1) * sizeof(struct wt_entry));
	for (size_t i = 0; i < names.nr && !err; i++) {
		bool in = false;

		err = add_entry(&in, walk, &dir->loaded[dir->nr], dir, fd, names.items[i]);
		dir->nr += in;
	}
	fs_close(fd);
	strlist_release(&names);
	if (dir->nr)
		qsort(dir->loaded, dir->nr, sizeof(struct wt_entry), wt_entry_compare);
	return err;
}

static struct wt_dir *new_dir(struct walk *walk, const struct wt_dir *parent, const char *name)
{
	struct wt_dir *dir = arena_alloc(&walk->arena, sizeof(*dir));
	char *path = xstrfmt("%s%s%s", parent->path, *parent->path ? "/" : "", name);

	*dir = (struct wt_dir){ .path = arena_memdupz(&walk->arena, path, strlen(path)),
				.depth = (uint16_t)(parent->depth + 1) };
	free(path);
	return dir;
}

static int list_dir(struct walk *walk, struct wt_dir *dir)
{
	int err = dir->depth > WT_DEPTH_MAX
			  ? ckpt_error_set(CKPT_ERROR, "more than %d directories are in each other",
					   WT_DEPTH_MAX)
			  : list_names(walk, dir);

	for (size_t i = 0; i < dir->nr && !err; i++) {
		struct wt_entry *entry = &dir->loaded[i];

		if (entry->kind == WT_DIR) {
			entry->dir = new_dir(walk, dir, entry->name);
			err = list_dir(walk, entry->dir);
			continue;
		}
		*ALLOC_NEXT(walk->items, walk->nr, walk->alloc) = (struct file){ entry, dir };
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

static int read_item(size_t index, unsigned worker UNUSED, void *payload)
{
	struct walk *walk = payload;
	const struct file *item = &walk->items[index];
	int fd = beneath_open(walk->rootfd, item->dir->path, O_RDONLY | O_DIRECTORY), err = cancel_check();

	if (!err && (fd < 0 || (item->entry->kind == WT_LINK ? read_link(item->entry, fd) :
							       read_file(item->entry, fd))))
		err = fail_reading(item->dir->path, item->entry->name);
	fs_close(fd);
	return err;
}

int verify_directory(struct verify_directory *out, const char *path, unsigned threads)
{
	struct wt_dir root = { .path = "" };
	struct walk walk = { .arena = ARENA_INIT };
	struct wt_counts counted;
	int err = 0;

	walk.rootfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (walk.rootfd < 0)
		return ckpt_error_errno("unable to open '%s'", path);
	err = list_dir(&walk, &root);
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
