/* SPDX-License-Identifier: MIT */
#include "install/install_internal.h"

#include <sys/file.h>

/*
 * The record: {"version": 1, "files": {"<path>": {"original": <text, or null for none>, "left":
 * <SHA-256 of what we left there>, "dirs": <so many directories were made for it>, "by": [...]}}}.
 *
 * It is written before a file is changed, and after one is put back: who is killed in between leaves
 * an entry whose "left" does not fit, which means nothing.
 */
enum { VERSION = 1 };

char *install_record_dir(void)
{
	char *data = env_user_dir("XDG_DATA_HOME", ".local/share"), *dir = NULL;

	if (data)
		dir = xstrfmt("%s/git-checkpoint", data);
	free(data);
	return dir;
}

/* Not one that another process has just removed because it was empty. */
static bool is_at(int fd, const char *dir)
{
	struct stat there, is;

	return !stat(dir, &there) && !fstat(fd, &is) && fs_same_file(&there, &is);
}

static int lock_record(struct install_record *record)
{
	int err = 0;

	do {
		fs_close(record->lockfd);
		err = fs_mkdir_p(record->dir, 0700);
		if (err)
			return err;
		record->lockfd = open(record->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		while (record->lockfd >= 0 && flock(record->lockfd, LOCK_EX) < 0) {
			if (errno != EINTR)
				return ckpt_error_errno("unable to lock '%s'", record->dir);
			err = cancel_check();
			if (err)
				return err;
		}
	} while (record->lockfd >= 0 && !is_at(record->lockfd, record->dir));
	if (record->lockfd < 0)
		return ckpt_error_errno("unable to open '%s'", record->dir);
	fs_sweep_temps(record->lockfd, ".");
	return 0;
}

static int read_record(struct install_record *record)
{
	int err = json_read_file(&record->whole, AT_FDCWD, record->path);

	if (err == CKPT_ENOTFOUND) {
		record->whole = json_pack("{s:i,s:{}}", "version", (int)VERSION, "files");
		err = 0;
	}
	record->files = json_object_get(record->whole, "files");
	if (!err && (json_integer_value(json_object_get(record->whole, "version")) != VERSION ||
		     !json_is_object(record->files)))
		err = ckpt_error_set(CKPT_ECORRUPT, "'%s' is damaged; move it away", record->path);
	return err;
}

static bool is_missing(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* Of repositories that were deleted or moved. Where only the file is gone, its directory may be ours. */
static void forget_missing(struct install_record *record)
{
	const char *key;
	json_t *entry;
	void *next;

	json_object_foreach_safe(record->files, next, key, entry) {
		json_t *value = json_string(key);
		char *path = json_path_value(value), *slash = path ? strrchr(path, '/') : NULL;

		if (slash)
			*slash = '\0';
		if (slash && is_missing(path)) {
			json_object_del(record->files, key);
			record->has_less = true;
		}
		free(path);
		json_decref(value);
	}
}

int installed_open(struct install_record *out, bool lock)
{
	int err = 0;

	out->dir = install_record_dir();
	if (!out->dir)
		return ckpt_error_set(CKPT_ERROR, "no place to remember what is installed: set HOME");
	out->path = xstrfmt("%s/installed", out->dir);
	if (lock)
		err = lock_record(out);
	if (!err)
		err = read_record(out);
	if (!err && lock)
		forget_missing(out);
	return err;
}

/* The directory goes with the last one. */
void installed_close(struct install_record *record)
{
	if (record->lockfd >= 0 && record->files && !json_object_size(record->files))
		(void)rmdir(record->dir);
	json_decref(record->whole);
	fs_close(record->lockfd);
	free(record->path);
	free(record->dir);
}

int installed_write(const struct install_record *record)
{
	if (json_object_size(record->files))
		return json_write_file(AT_FDCWD, record->path, json_incref(record->whole), 0600,
				       FS_DURABLE);
	if (unlink(record->path) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to remove '%s'", record->path);
	return fs_sync_holder(AT_FDCWD, record->path);
}

/* Who may write in the worktree may have written it; but who may write in HOME needs no record. */
bool installed_is_believed(const struct install_record *record, const char *worktree)
{
	const char *home = getenv("HOME");

	return !worktree || (home && path_below(home, worktree)) ||
	       !path_visits(record->path, worktree);
}

bool installed_has_by(const json_t *entry, const char *by)
{
	const json_t *names = json_object_get(entry, "by");

	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (name && !strcmp(name, by))
			return true;
	}
	return false;
}

int install_list(struct strlist *out, const char *by)
{
	struct install_record record = INSTALL_RECORD_INIT;
	int err = installed_open(&record, false);
	const char *key;
	json_t *entry;

	json_object_foreach(record.files, key, entry) {
		json_t *value = json_string(key);
		char *path = json_path_value(value);

		if (path && installed_has_by(entry, by))
			strlist_add(out, path);
		free(path);
		json_decref(value);
	}
	installed_close(&record);
	return err;
}

bool installed_original(struct strbuf *out, const json_t *entry)
{
	char *text = json_path_value(json_object_get(entry, "original"));

	strbuf_reset(out);
	strbuf_addstr(out, text ? text : "");
	free(text);
	return text != NULL;
}
