/* SPDX-License-Identifier: MIT */
#include "install/install.h"

#include "install/install_internal.h"
#include "tree/tree.h"

#include <sys/file.h>

/* ---- a file ---- */

struct target {
	const struct install_change *change;
	char *real;	 /* its path without links */
	const char *rel; /* of that, what is below the root */
	const char *name;
	int rootfd, dirfd; /* the second is -1 if the directory does not exist */
	bool exists, is_link;
	mode_t mode;
	bool moves_aside; /* what is there */
	struct strbuf now, then; /* the text, and what becomes of it */
	enum install_outcome outcome;
	int dirs;	/* that are missing, or were made for it */
	json_t *key;	/* in the record, */
	json_t *entry;	/* and what is there: borrowed, NULL: nothing */
	bool is_as_left;
};

#define TARGET_INIT { .rootfd = -1, .dirfd = -1, .now = STRBUF_INIT, .then = STRBUF_INIT }

static void close_target(struct target *target)
{
	free(target->real);
	fs_close(target->rootfd);
	fs_close(target->dirfd);
	strbuf_release(&target->now);
	strbuf_release(&target->then);
	json_decref(target->key);
}

/* A link in the place of these is itself what is looked at. */
static bool is_own_name(const struct install_change *change)
{
	return change->kind == INSTALL_HOOK || change->kind == INSTALL_LINK || change->ours;
}

static char *resolve_path(const struct install_change *change, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *holder, *real, *full;

	if (!is_own_name(change))
		return path_resolve(path);
	holder = xmemdupz(path, (size_t)(slash - path));
	real = path_resolve(holder);
	full = xstrfmt("%s%s", real, slash);
	free(real);
	free(holder);
	return full;
}

static int resolve_target(struct target *out)
{
	const struct install_change *change = out->change;
	char *path = xstrfmt("%s/%s", strcmp(change->root, "/") ? change->root : "", change->path);
	char *root = path_resolve(change->root);
	int err = 0;

	out->real = resolve_path(change, path);
	out->rel = path_below(out->real, root);
	if (!out->rel || !*out->rel)
		err = ckpt_error_set(CKPT_EREFUSED, "'%s' leads out of '%s', to '%s'", path, root,
				     out->real);
	if (!err) {
		out->rootfd = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (out->rootfd < 0)
			err = ckpt_error_errno("unable to open '%s'", root);
	}
	free(root);
	free(path);
	return err;
}

/* Each directory on the way to it, from the top. */
static bool next_dir(struct strbuf *dir, const char *rel)
{
	const char *slash = strchr(rel + dir->len + !!dir->len, '/');

	if (!slash)
		return false;
	strbuf_reset(dir);
	strbuf_add(dir, rel, (size_t)(slash - rel));
	return true;
}

static int open_dir(struct target *target)
{
	struct strbuf dir = STRBUF_INIT;
	int fd;

	while (next_dir(&dir, target->rel)) {
		fd = beneath_open(target->rootfd, dir.buf, O_PATH | O_DIRECTORY);
		if (fd < 0 && errno != ENOENT) {
			strbuf_release(&dir);
			return ckpt_error_errno("unable to open the directory of '%s'", target->real);
		}
		target->dirs += fd < 0;
		fs_close(fd);
	}
	strbuf_release(&dir);
	if (target->dirs)
		return 0;
	fd = beneath_open_parent(target->rootfd, target->rel, &target->name);
	target->dirfd = fd < 0 ? -1 : openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fs_close(fd);
	return target->dirfd < 0 ? ckpt_error_errno("unable to open the directory of '%s'", target->real)
				 : 0;
}

static int read_link(struct target *target)
{
	char to[PATH_MAX];
	ssize_t len = readlinkat(target->dirfd, target->name, to, sizeof(to));

	if (len < 0)
		return ckpt_error_errno("unable to read the link '%s'", target->real);
	target->is_link = true;
	strbuf_add(&target->now, to, (size_t)len);
	return 0;
}

static int read_target(struct target *target)
{
	struct stat st;
	int err = 0;

	if (target->dirfd < 0)
		return 0;
	if (!fstatat(target->dirfd, target->name, &st, AT_SYMLINK_NOFOLLOW)) {
		target->exists = true;
		target->mode = st.st_mode & 07777;
		if (S_ISLNK(st.st_mode) && !is_own_name(target->change))
			return ckpt_error_set(CKPT_ERROR, "'%s' is a link that leads nowhere",
					      target->real);
		err = S_ISLNK(st.st_mode)
			      ? read_link(target)
			      : fs_read_text(&target->now, target->dirfd, target->name);
	} else if (errno != ENOENT) {
		err = ckpt_error_errno("unable to look at '%s'", target->real);
	}
	return err ? ckpt_error_prefix(err, "'%s'", target->real) : 0;
}

static void hash_text(char out[2 * SHA256_SIZE + 1], const struct strbuf *text)
{
	unsigned char sum[SHA256_SIZE];

	hash_buffer(HASH_SHA256, sum, text->buf, text->len);
	oid_hex_encode(out, sum, sizeof(sum));
}

static bool is_as_left(const struct target *target)
{
	const char *left = json_string_value(json_object_get(target->entry, "left"));
	char sum[2 * SHA256_SIZE + 1];

	hash_text(sum, &target->now);
	return target->exists && left && !strcmp(left, sum);
}

static int open_target(struct target *out, const struct install_change *change)
{
	int err;

	out->change = change;
	err = resolve_target(out);
	if (!err)
		err = open_dir(out);
	return err ? err : read_target(out);
}

/* ---- what is remembered of it ---- */

static void recall_entry(struct target *target, const struct install_record *record)
{
	target->key = json_path(target->real);
	if (installed_is_believed(record, target->change->worktree))
		target->entry = json_object_get(record->files, json_string_value(target->key));
	target->is_as_left = is_as_left(target);
}

static bool has_by(const struct target *target)
{
	return installed_has_by(target->entry, target->change->by);
}

/* Nobody else put something into it. */
static bool is_only_by(const struct target *target)
{
	return has_by(target) && json_array_size(json_object_get(target->entry, "by")) == 1;
}

static void set_left(struct target *target)
{
	char sum[2 * SHA256_SIZE + 1];

	hash_text(sum, &target->then);
	json_object_set_new(target->entry, "left", json_string(sum));
}

/* `original` may be NULL. */
static void note_put(struct target *target, const struct install_record *record,
		     const struct strbuf *original)
{
	json_t *by;

	if (!target->is_as_left) {
		target->entry = json_pack("{s:o,s:i,s:[]}", "original",
					  original ? json_path(original->buf) : json_null(), "dirs",
					  target->dirs, "by");
		json_object_set_new(record->files, json_string_value(target->key), target->entry);
	}
	by = json_object_get(target->entry, "by");
	if (!has_by(target))
		json_array_append_new(by, json_string(target->change->by));
	set_left(target);
}

/* What others put into it is still to be taken back; without the original, if that is lost. */
static void note_taken(struct target *target, struct install_record *record)
{
	json_t *by = json_object_get(target->entry, "by");
	bool shared = target->is_as_left && !is_only_by(target);

	record->has_less = record->has_less || target->entry;
	for (size_t i = json_array_size(by); shared && i--;)
		if (!strcmp(json_string_value(json_array_get(by, i)), target->change->by))
			json_array_remove(by, i);
	if (shared)
		set_left(target);
	else
		json_object_del(record->files, json_string_value(target->key));
}

/* ---- decisions ---- */

static int fail_to_edit(int err, const struct target *target)
{
	return err ? ckpt_error_prefix(err, "'%s' cannot be edited", target->real) : 0;
}

static int decide_new(struct target *target, const struct install_record *record)
{
	const struct install_change *change = target->change;
	int err = 0;

	if (change->kind == INSTALL_CONFIG)
		err = edit_put(&target->then, change);
	else
		strbuf_add(&target->then, change->text,
			   change->len ? change->len : strlen(change->text));
	/* Of a configuration, nothing may be wanted. */
	if (err || (change->kind == INSTALL_CONFIG && !target->then.len))
		return fail_to_edit(err, target);
	target->outcome = INSTALL_CREATED;
	note_put(target, record, NULL);
	return 0;
}

/* ---- a hook ---- */

/* One that is switched off by its mode stays off. */
static bool takes_lines(const struct target *target)
{
	return !target->is_link && target->mode & 0100 && install_is_shell(&target->now);
}

static int decide_aside(struct target *target, const struct install_record *record)
{
	int err = install_aside_check(target->dirfd, target->name, target->change->hook,
			      target->change->text);

	if (err)
		return err;
	target->outcome = INSTALL_EDITED;
	target->moves_aside = true;
	target->mode = fs_usual_mode(target->change->mode);
	strbuf_addstr(&target->then, target->change->text);
	target->is_as_left = false;
	note_put(target, record, NULL);
	return 0;
}

/* Ours was switched off. */
static bool is_off(const struct target *target, enum install_state state)
{
	return target->change->kind == INSTALL_HOOK && state == INSTALL_THERE &&
	       !(target->mode & 0100) && install_hook_runs_aside(target->change, &target->now);
}

static void decide_on(struct target *target)
{
	target->outcome = INSTALL_EDITED;
	target->mode |= 0555;
	strbuf_add(&target->then, target->now.buf, target->now.len);
}

/* ---- all kinds ---- */

static bool is_whole(const struct install_change *change)
{
	return change->kind == INSTALL_FILE || change->kind == INSTALL_LINK;
}

/* From the original, if that is known; what others added since stays where it is. */
static int decide_edit(struct target *target, const struct install_record *record)
{
	bool whole = target->is_as_left && is_only_by(target), existed = true, bare;
	struct strbuf base = STRBUF_INIT;
	int err = 0;

	if (whole)
		existed = installed_original(&base, target->entry);
	else
		strbuf_add(&base, target->now.buf, target->now.len);
	if (!whole)
		err = edit_remove(&base, target->change, &bare);
	if (existed)
		strbuf_add(&target->then, base.buf, base.len);
	else if (target->change->kind != INSTALL_CONFIG)
		strbuf_addstr(&target->then, target->change->text);
	if (!err && (existed || is_whole(target->change) || target->change->kind == INSTALL_CONFIG))
		err = edit_put(&target->then, target->change);
	if (!err) {
		target->outcome = INSTALL_EDITED;
		note_put(target, record, is_whole(target->change) ? NULL : &base);
	}
	strbuf_release(&base);
	return err;
}

/* Nobody else's: neither the user's nor that of another program. */
static bool is_replaceable(const struct target *target)
{
	return target->is_as_left ||
	       (target->change->ours && !target->is_link && strstr(target->now.buf, target->change->ours));
}

static int decide_put(struct target *target, struct install_result *out, struct install_record *record)
{
	const struct install_change *change = target->change;
	enum install_state state;
	int err;

	if (!target->exists)
		return decide_new(target, record);
	err = edit_look(&state, change, &target->now);
	if (!err && is_whole(change) && state != INSTALL_THERE && !is_replaceable(target))
		return ckpt_error_set(CKPT_EREFUSED,
				      "'%s' exists and was not written by 'hooks install'; add what "
				      "--print shows to it by hand, or move it away",
				      target->real);
	out->alike = !err && state == INSTALL_ALIKE;
	if (!err && is_off(target, state))
		decide_on(target);
	else if (!err && change->kind == INSTALL_HOOK && state != INSTALL_THERE && !takes_lines(target))
		err = decide_aside(target, record);
	else if (!err && (state == INSTALL_ABSENT || state == INSTALL_PARTLY ||
			  (state == INSTALL_ALIKE && is_whole(change))))
		err = decide_edit(target, record);
	return fail_to_edit(err, target);
}

static int decide_take_back(struct target *target, struct install_result *out,
			    struct install_record *record)
{
	bool only = is_only_by(target), bare = false;
	enum install_state state;
	int err;

	target->dirs = (int)json_integer_value(json_object_get(target->entry, "dirs"));
	if (!target->exists) {
		/* A process was killed between the file and its directories, or nothing was ever there. */
		target->outcome = target->dirs ? INSTALL_REMOVED : INSTALL_UNCHANGED;
		note_taken(target, record);
		return 0;
	}
	if (target->is_as_left && only) {
		target->outcome = installed_original(&target->then, target->entry) ? INSTALL_EDITED
								      : INSTALL_REMOVED;
		note_taken(target, record);
		return 0;
	}
	strbuf_add(&target->then, target->now.buf, target->now.len);
	err = edit_remove(&target->then, target->change, &bare);
	if (!err && is_whole(target->change))
		target->outcome = bare ? INSTALL_REMOVED : INSTALL_UNCHANGED;
	else if (!err && bare && target->change->kind == INSTALL_HOOK)
		target->outcome = INSTALL_REMOVED;
	else if (!err && !strbuf_equal(&target->then, &target->now))
		target->outcome = bare && only && json_is_null(json_object_get(target->entry, "original"))
					  ? INSTALL_REMOVED
					  : INSTALL_EDITED;
	if (!err && target->outcome != INSTALL_REMOVED)
		err = edit_look(&state, target->change, &target->then);
	if (!err) {
		out->alike = target->outcome != INSTALL_REMOVED && state == INSTALL_ALIKE;
		note_taken(target, record);
	}
	return fail_to_edit(err, target);
}

/* ---- carrying them out ---- */

static int make_dirs(struct target *target)
{
	struct strbuf dir = STRBUF_INIT;
	const char *name;
	int err = 0, fd;

	while (!err && next_dir(&dir, target->rel)) {
		fd = beneath_open_parent(target->rootfd, dir.buf, &name);
		err = fd < 0 ? ckpt_error_errno("unable to create the directory of '%s'", target->real)
			     : fs_ensure_dir(fd, name, fs_usual_mode(0777));
		fs_close(fd);
	}
	strbuf_release(&dir);
	target->dirs = 0;
	return err ? err : open_dir(target);
}

/* As many as were made for it, each if it is empty. */
static void remove_dirs(const struct target *target, int dirs)
{
	char *dir = xstrdup(target->rel), *slash;
	const char *name;

	for (bool done = false; dirs-- > 0 && !done && (slash = strrchr(dir, '/'));) {
		int fd;

		*slash = '\0';
		fd = beneath_open_parent(target->rootfd, dir, &name);
		/* Durable before the record forgets them. */
		done = fd < 0 || unlinkat(fd, name, AT_REMOVEDIR) < 0 || fs_sync_dir(fd, ".") < 0;
		fs_close(fd);
	}
	free(dir);
}

/* One process at a time: so a temporary that is there was left by a killed one. */
static int lock_dir(const struct target *target)
{
	int rc, err = 0;

	do {
		rc = flock(target->dirfd, LOCK_EX);
		err = rc < 0 && errno == EINTR ? cancel_check() : 0;
	} while (rc < 0 && errno == EINTR && !err);
	if (!rc)
		fs_sweep_temps(target->dirfd, ".");
	return err;
}

static void unlock_dir(const struct target *target)
{
	(void)flock(target->dirfd, LOCK_UN);
}

static int write_link(const struct target *target)
{
	if ((unlinkat(target->dirfd, target->name, 0) < 0 && errno != ENOENT) ||
	    symlinkat(target->then.buf, target->dirfd, target->name) < 0)
		return ckpt_error_errno("unable to create the link '%s'", target->real);
	return fs_sync_dir(target->dirfd, ".");
}

static int write_text(const struct target *target)
{
	if (target->change->kind == INSTALL_CONFIG)
		return edit_config_write(target->dirfd, target->name, target->exists ? &target->now : NULL,
					 &target->then, target->mode);
	if (target->change->kind == INSTALL_LINK)
		return write_link(target);
	return fs_write_file(target->dirfd, target->name, target->then.buf, target->then.len,
			     target->mode, FS_DURABLE);
}

static int write_target(struct target *target)
{
	int dirs = target->dirs;
	bool is_new = target->outcome == INSTALL_CREATED;
	int err = is_new ? make_dirs(target) : 0;

	if (is_new)
		target->mode = fs_usual_mode(target->change->mode);
	if (!err)
		err = lock_dir(target);
	if (!err && target->moves_aside)
		err = install_aside_put(target->dirfd, target->name, target->change->hook,
				target->change->text);
	if (!err)
		err = write_text(target);
	/* The next one may be in the same directory. */
	if (!err)
		unlock_dir(target);
	if (err && is_new)
		remove_dirs(target, dirs);
	return err;
}

static bool has_aside(const struct target *target)
{
	return target->change->kind == INSTALL_HOOK && target->dirfd >= 0 &&
	       install_aside_exists(target->dirfd, target->change->hook);
}

static int remove_target(struct target *target)
{
	if (has_aside(target))
		return install_aside_put_back(target->dirfd, target->name, target->change->hook);
	if (target->exists && unlinkat(target->dirfd, target->name, 0) < 0)
		return ckpt_error_errno("unable to remove '%s'", target->real);
	if (target->dirfd >= 0)
		(void)fsync(target->dirfd);
	remove_dirs(target, target->dirs);
	return 0;
}

/* One that ran what was aside, and to which somebody added lines: these must not be lost. */
static int keep_edits(struct target *target, struct install_result *out)
{
	char *name = xstrfmt("%s.edited", target->name);
	int err = fs_write_file(target->dirfd, name, target->then.buf, target->then.len,
				target->mode, FS_DURABLE);

	if (!err)
		err = install_aside_put_back(target->dirfd, target->name, target->change->hook);
	if (!err)
		out->kept = xstrfmt("%s.edited", target->real);
	free(name);
	return err;
}

static int carry_out(struct target *target, struct install_result *out)
{
	if (target->change->kind == INSTALL_CONFIG && target->dirfd >= 0)
		edit_config_tidy(target->dirfd, target->name);
	switch (target->outcome) {
	case INSTALL_UNCHANGED:
		break;
	case INSTALL_EDITED:
		if (has_aside(target) && !target->moves_aside &&
		    install_hook_runs_aside(target->change, &target->now) &&
		    !install_hook_runs_aside(target->change, &target->then))
			return keep_edits(target, out);
		return write_target(target);
	case INSTALL_CREATED:
		return write_target(target);
	case INSTALL_REMOVED:
		return remove_target(target);
	}
	return 0;
}

/* What is still aside when all others are done. */
static int settle_aside(const struct target *target, struct install_result *out)
{
	const char *slash = strrchr(target->real, '/');
	char *kept = NULL;
	int err;

	if (target->change->kind != INSTALL_HOOK || target->dirfd < 0 ||
	    strcmp(target->name, target->change->hook))
		return 0;
	err = install_aside_settle(&kept, target->dirfd, target->change->hook);
	if (kept)
		out->kept = xstrfmt("%.*s/%s", (int)(slash - target->real), target->real, kept);
	free(kept);
	return err;
}

typedef int (*decide_fn)(struct target *target, struct install_result *out,
			 struct install_record *record);

/* Everything is read and decided before anything is written. */
static int decide_all(struct target *targets, struct install_result *out,
		      const struct install_change *changes, size_t nr, struct install_record *record,
		      decide_fn decide)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		err = open_target(&targets[i], &changes[i]);
		/* What a killed process left goes also where nothing is written. */
		if (!err && targets[i].dirfd >= 0)
			err = lock_dir(&targets[i]);
		if (err)
			break;
		unlock_dir(&targets[i]);
		recall_entry(&targets[i], record);
		err = decide(&targets[i], &out[i], record);
		out[i].outcome = targets[i].outcome;
	}
	return err;
}

static int change_all(struct install_result *out, const struct install_change *changes, size_t nr,
		      bool in)
{
	struct target *targets = xcalloc(nr, sizeof(*targets));
	struct install_record record = INSTALL_RECORD_INIT;
	int err = installed_open(&record, true);
	bool changes_any = false;

	memset(out, 0, nr * sizeof(*out));
	for (size_t i = 0; i < nr; i++)
		targets[i] = (struct target)TARGET_INIT;
	if (!err)
		err = decide_all(targets, out, changes, nr, &record,
				 in ? decide_put : decide_take_back);
	for (size_t i = 0; i < nr; i++)
		changes_any = changes_any || targets[i].outcome != INSTALL_UNCHANGED;
	if (!err && in && changes_any)
		err = installed_write(&record);
	/* What comes first made the directories that others are in. */
	for (size_t i = 0; i < nr && !err; i++)
		err = carry_out(&targets[in ? i : nr - 1 - i], &out[in ? i : nr - 1 - i]);
	for (size_t i = 0; i < nr && !err && !in; i++)
		err = settle_aside(&targets[i], &out[i]);
	if (!err && !in && record.has_less)
		err = installed_write(&record);
	for (size_t i = 0; i < nr; i++)
		close_target(&targets[i]);
	free(targets);
	installed_close(&record);
	return err;
}

int install_put(struct install_result *out, const struct install_change *changes, size_t nr)
{
	return change_all(out, changes, nr, true);
}

int install_take_back(struct install_result *out, const struct install_change *changes, size_t nr)
{
	return change_all(out, changes, nr, false);
}

/* Most files of most agents are missing: then nothing else is opened. */
static int open_existing(struct target *out, const struct install_change *change)
{
	char *path = xstrfmt("%s/%s", change->root, change->path);
	struct stat st;
	int err = lstat(path, &st) < 0 && errno == ENOENT ? CKPT_ENOTFOUND : open_target(out, change);

	free(path);
	return err || out->exists ? err : CKPT_ENOTFOUND;
}

int install_look(enum install_state *out, const struct install_change *change)
{
	struct target target = TARGET_INIT;
	int err = open_existing(&target, change);

	*out = INSTALL_ABSENT;
	if (!err)
		err = edit_look(out, change, &target.now);
	close_target(&target);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

int install_read(struct strbuf *out, const struct install_change *change)
{
	struct target target = TARGET_INIT;
	int err = open_existing(&target, change);

	if (!err)
		strbuf_add(out, target.now.buf, target.now.len);
	close_target(&target);
	return err;
}

bool install_is_by(const struct install_change *change)
{
	struct install_record record = INSTALL_RECORD_INIT;
	struct target target = TARGET_INIT;
	bool is = false;

	if (!installed_open(&record, false) && !open_existing(&target, change)) {
		recall_entry(&target, &record);
		is = target.is_as_left && has_by(&target);
	}
	close_target(&target);
	installed_close(&record);
	return is;
}
