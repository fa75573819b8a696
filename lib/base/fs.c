/* SPDX-License-Identifier: MIT */
#include "base/fs.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"

#include <dirent.h>
#include <signal.h>
#include <sys/random.h>

enum { TEMP_DIGITS = 16 }; /* after FS_TEMP_PREFIX */

/* `offset` is -1: where the file is at. */
static int write_all(int fd, const char *p, size_t len, off_t offset)
{
	while (len) {
		ssize_t n = offset < 0 ? write(fd, p, len) : pwrite(fd, p, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
		offset += offset < 0 ? 0 : n;
	}
	return 0;
}

int fs_write_all(int fd, const void *data, size_t len)
{
	return write_all(fd, data, len, -1);
}

int fs_pwrite_all(int fd, const void *data, size_t len, off_t offset)
{
	return write_all(fd, data, len, offset);
}

/*
 * A read lease is granted only while no process can write. A process that
 * opens the file for writing before the lease is returned waits for these
 * microseconds, and we would be told by SIGIO, which ends a program: hence a
 * signal that does not.
 */
bool fs_has_writer(int fd)
{
	int saved = errno;
	bool has = false;

	if (!fcntl(fd, F_SETSIG, SIGURG)) {
		if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
			has = errno == EAGAIN;
		else
			(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	}
	errno = saved;
	return has;
}

/* From the current position if `offset` is negative. */
static ssize_t read_full(int fd, void *data, size_t len, off_t offset)
{
	size_t done = 0;

	while (done < len) {
		char *to = (char *)data + done;
		ssize_t n = offset < 0 ? read(fd, to, len - done)
				       : pread(fd, to, len - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t fs_read_full(int fd, void *data, size_t len)
{
	return read_full(fd, data, len, -1);
}

void fs_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
}

bool fs_is_lack(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

ssize_t fs_pread_full(int fd, void *data, size_t len, off_t offset)
{
	return read_full(fd, data, len, offset);
}

int fs_open_regular(struct stat *st_out, int dirfd, const char *path, int flags)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		if (st_out)
			*st_out = st;
		return fd;
	}
	close(fd);
	errno = EINVAL;
	return -1;
}

int fs_open_failed(const char *path)
{
	return errno == EINVAL ? ckpt_error_set(CKPT_ERROR, "'%s' is not a regular file", path) :
				 ckpt_error_errno("unable to open '%s'", path);
}

bool fs_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool fs_is_settled(const struct stat *st, int64_t now)
{
	const int64_t tick = 20000000, coarse = 2000000000; /* as some file systems store them */
	bool whole = !st->st_mtim.tv_nsec && !st->st_ctim.tv_nsec;
	int64_t mtime = clock_ns(&st->st_mtim), ctime = clock_ns(&st->st_ctim);

	return (mtime > ctime ? mtime : ctime) + (whole ? coarse : tick) < now;
}

static int read_open(struct strbuf *out, int fd, const struct stat *st, const char *path)
{
	strbuf_grow(out, (size_t)st->st_size + 1);
	for (;;) {
		size_t room = out->alloc - out->len - 1;
		ssize_t n = fs_read_full(fd, out->buf + out->len, room);

		if (n < 0)
			return ckpt_error_errno("unable to read '%s'", path);
		strbuf_setlen(out, out->len + (size_t)n);
		if ((size_t)n < room)
			return 0;
		strbuf_grow(out, 4096); /* it has grown */
	}
}

static int read_file(struct strbuf *out, int dirfd, const char *path, int flags, off_t max)
{
	struct stat st;
	int fd = fs_open_regular(&st, dirfd, path, flags), err;

	if (fd < 0)
		return fs_open_failed(path);
	if (max && st.st_size > max)
		err = ckpt_error_set(CKPT_ERROR, "'%s' is too large", path);
	else
		err = read_open(out, fd, &st, path);
	close(fd);
	return err;
}

int fs_read_file(struct strbuf *out, int dirfd, const char *path)
{
	return read_file(out, dirfd, path, O_NOFOLLOW, 0);
}

int fs_read_text(struct strbuf *out, int dirfd, const char *path)
{
	return read_file(out, dirfd, path, O_NOFOLLOW, FS_TEXT_MAX);
}

int fs_read_linked(struct strbuf *out, const char *path)
{
	/* What people name when they want no file at all. */
	return strcmp(path, "/dev/null") ? read_file(out, AT_FDCWD, path, 0, FS_TEXT_MAX) : 0;
}

int fs_give_to_owner(int fd, int dirfd, const char *dir)
{
	struct stat st, is;

	if (geteuid() != 0)
		return 0;
	if (fstatat(dirfd, dir, &st, 0) < 0 || fstat(fd, &is) < 0)
		return -1;
	/* One of several names: linking somebody else's file to here must not give it away. */
	if (!st.st_uid || is.st_uid || (!S_ISDIR(is.st_mode) && is.st_nlink != 1))
		return 0;
	return fchown(fd, st.st_uid, st.st_gid);
}

/* The directory that contains `path`. */
static void holder_of(struct strbuf *out, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == path)
		strbuf_addch(out, '/');
	else
		strbuf_add(out, slash ? path : ".", slash ? (size_t)(slash - path) : 1);
}

int fs_mkdir(int dirfd, const char *path, mode_t mode)
{
	struct strbuf dir = STRBUF_INIT;
	int fd, saved;

	if (mkdirat(dirfd, path, mode) < 0)
		return -1;
	/* A umask may take bits away from the owner. */
	fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fchmodat(dirfd, path, mode, 0);
	holder_of(&dir, path);
	saved = fchmod(fd, mode) < 0 || fs_give_to_owner(fd, dirfd, dir.buf) < 0 ? errno : 0;
	strbuf_release(&dir);
	close(fd);
	errno = saved;
	return saved ? -1 : 0;
}

/* If it may be written but not read: sync its whole file system, through something in it. */
static bool sync_all(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	bool synced = fd >= 0 && !syncfs(fd);

	fs_close(fd);
	return synced;
}

int fs_sync_holder(int dirfd, const char *path)
{
	struct strbuf dir = STRBUF_INIT;
	int err;

	holder_of(&dir, path);
	err = fs_sync_dir(dirfd, dir.buf);
	if (err && errno == EACCES && sync_all(dirfd, path))
		err = 0;
	strbuf_release(&dir);
	return err;
}

int fs_ensure_dir(int dirfd, const char *path, mode_t mode)
{
	if (fs_mkdir(dirfd, path, mode) < 0 && errno != EEXIST)
		return ckpt_error_errno("unable to create the directory '%s'", path);
	return fs_sync_holder(dirfd, path);
}

int fs_temp_open(int *fd_out, struct strbuf *path_out, int dirfd, const char *dir, mode_t mode)
{
	for (int tries = 0; tries < 100; tries++) {
		uint64_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return ckpt_error_errno("unable to get random bytes");
		strbuf_reset(path_out);
		strbuf_addf(path_out, "%s/" FS_TEMP_PREFIX "%0*llx", dir, TEMP_DIGITS,
			    (unsigned long long)random);
		fd = openat(dirfd, path_out->buf,
			    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0) {
			/* Even for 0600: a umask may take bits away from the owner. */
			if (fs_give_to_owner(fd, dirfd, dir) < 0 || fchmod(fd, mode) < 0) {
				int err = ckpt_error_errno("unable to set the mode of '%s'",
							   path_out->buf);
				close(fd);
				unlinkat(dirfd, path_out->buf, 0);
				return err;
			}
			*fd_out = fd;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return ckpt_error_errno("unable to create a file in '%s'", dir);
}

int fs_sync_dir(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = 0;

	if (fd < 0 || fsync(fd) < 0)
		err = ckpt_error_errno("unable to sync the directory '%s'", path);
	fs_close(fd);
	return err;
}

int fs_rename(int dirfd, const char *from, const char *to, const char *dir,
	      enum fs_durability durability)
{
	if (renameat(dirfd, from, dirfd, to) < 0)
		return ckpt_error_errno("unable to put '%s' in place", to);
	return durability == FS_DURABLE ? fs_sync_dir(dirfd, dir) : 0;
}

int fs_write_file(int dirfd, const char *path, const void *data, size_t len, mode_t mode,
		  enum fs_durability durability)
{
	struct strbuf dir = STRBUF_INIT, temp = STRBUF_INIT;
	int fd = -1, err;

	holder_of(&dir, path);
	err = fs_temp_open(&fd, &temp, dirfd, dir.buf, mode);
	if (err)
		goto out;
	if (fs_write_all(fd, data, len) < 0 || (durability == FS_DURABLE && fsync(fd) < 0))
		err = ckpt_error_errno("unable to write '%s'", path);
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to close '%s'", path);
	if (!err)
		err = fs_rename(dirfd, temp.buf, path, dir.buf, durability);
	if (err)
		unlinkat(dirfd, temp.buf, 0);
out:
	strbuf_release(&dir);
	strbuf_release(&temp);
	return err;
}

int fs_append_line(int dirfd, const char *path, const char *line, size_t len, mode_t mode)
{
	int fd = openat(dirfd, path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, mode);
	struct strbuf out = STRBUF_INIT;
	struct stat st;
	char last = '\n';
	int err = 0;

	if (fd < 0)
		return ckpt_error_errno("unable to open '%s'", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return ckpt_error_set(CKPT_ERROR, "'%s' is not a regular file", path);
	}
	if (!st.st_size && fs_give_to_owner(fd, dirfd, ".") < 0)
		err = ckpt_error_errno("unable to set the owner of '%s'", path);
	if (st.st_size > 0 && fs_pread_full(fd, &last, 1, st.st_size - 1) == 1 &&
	    last != '\n')
		strbuf_addch(&out, '\n');
	strbuf_add(&out, line, len);
	if (!err && fs_write_all(fd, out.buf, out.len) < 0)
		err = ckpt_error_errno("unable to write '%s'", path);
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to close '%s'", path);
	if (!st.st_size && !err)
		err = fs_sync_holder(dirfd, path);
	strbuf_release(&out);
	return err;
}

/* Existing directories of other users are left alone. */
static int ensure_step(const char *path, mode_t mode)
{
	struct strbuf dir = STRBUF_INIT;

	if (!fs_is_dir(path))
		return fs_ensure_dir(AT_FDCWD, path, mode);
	holder_of(&dir, path);
	if (!access(dir.buf, W_OK))
		(void)fs_sync_dir(AT_FDCWD, dir.buf);
	strbuf_release(&dir);
	return 0;
}

int fs_mkdir_p(const char *path, mode_t mode)
{
	struct strbuf sb = STRBUF_INIT;
	int err = 0;

	strbuf_addstr(&sb, path);
	for (size_t i = 1; i <= sb.len && !err; i++) {
		char saved = sb.buf[i];

		if (saved != '/' && saved != '\0')
			continue;
		sb.buf[i] = '\0';
		err = ensure_step(sb.buf, mode);
		sb.buf[i] = saved;
	}
	if (!err && !fs_is_dir(path))
		err = ckpt_error_set(CKPT_ERROR, "'%s' is not a directory", path);
	strbuf_release(&sb);
	return err;
}

bool fs_is_temp(const char *name)
{
	static const size_t prefix = sizeof(FS_TEMP_PREFIX) - 1;

	return !strncmp(name, FS_TEMP_PREFIX, prefix) && strlen(name + prefix) == TEMP_DIGITS &&
	       strspn(name + prefix, "0123456789abcdef") == TEMP_DIGITS;
}

int fs_names(struct strlist *out, int dirfd, const char *path, int flags,
	     bool (*wanted)(const char *name))
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags), failed;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!dir) {
		fs_close(fd);
		return -1;
	}
	while ((errno = 0, ent = readdir(dir)))
		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..") &&
		    (!wanted || wanted(ent->d_name)))
			strlist_add(out, ent->d_name);
	failed = errno;
	closedir(dir);
	errno = failed;
	return failed ? -1 : 0;
}

void fs_sweep_temps(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct strlist names = STRLIST_INIT;

	if (fd < 0)
		return;
	(void)fs_names(&names, fd, ".", 0, fs_is_temp);
	for (size_t i = 0; i < names.nr; i++)
		unlinkat(fd, names.items[i], 0);
	strlist_release(&names);
	close(fd);
}

unsigned long long fs_disk_usage(int dirfd, const char *path)
{
	struct strlist names = STRLIST_INIT;
	unsigned long long sum;
	struct stat st;
	int fd;

	if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	sum = (unsigned long long)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode))
		return sum;
	fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return sum;
	(void)fs_names(&names, fd, ".", 0, NULL);
	for (size_t i = 0; i < names.nr; i++)
		sum += fs_disk_usage(fd, names.items[i]);
	strlist_release(&names);
	close(fd);
	return sum;
}

mode_t fs_usual_mode(mode_t mode)
{
	return mode & ~env_umask();
}

bool fs_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* --- removing trees --- */

/*
 * The first levels of a tree are walked with a descriptor each, which is fast. A
 * tree may be deeper than there are descriptors: further down a single descriptor
 * goes into a directory, and back with "..", checking that it is back where it was.
 */

/* A directory to be emptied may have to be made accessible first. */
static int open_to_empty(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	char proc[64];

	if (fd < 0)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && (st.st_mode & 0700) != 0700)
		(void)chmod(proc, 0700);
	close(fd);
	return openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/*
 * Remove what can be removed at once. `dir_out` is the first directory that cannot, or "".
 * Not with fs_names(): a directory is read once for each subdirectory, but only up to that.
 */
static int remove_files(struct strbuf *dir_out, int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	strbuf_reset(dir_out);
	if (!dir) {
		fs_close(copy);
		return ckpt_error_errno("unable to read a directory to be removed");
	}
	while (!err && !dir_out->len && (ent = readdir(dir))) {
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..") ||
		    !unlinkat(fd, ent->d_name, 0) || errno == ENOENT)
			continue;
		if (errno == EISDIR || errno == EPERM)
			strbuf_addstr(dir_out, ent->d_name);
		else
			err = ckpt_error_errno("unable to remove '%s'", ent->d_name);
	}
	closedir(dir);
	return err;
}

/* A directory on the way down, and what it must be on the way up. */
struct level {
	char *name;
	dev_t dev;
	ino_t ino;
};

/* Back from an empty directory into its parent, and remove it there. */
static int leave_dir(int *fd, const struct level *level)
{
	int parent = openat(*fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (parent < 0 || fstat(parent, &st) < 0) {
		int err = ckpt_error_errno("unable to go back from '%s'", level->name);

		fs_close(parent);
		return err;
	}
	close(*fd);
	*fd = parent;
	if (st.st_dev != level->dev || st.st_ino != level->ino)
		return ckpt_error_set(CKPT_ERROR, "'%s' was moved while it was being "
						  "removed", level->name);
	if (unlinkat(parent, level->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to remove '%s'", level->name);
	return 0;
}

static int enter_dir(int *fd, struct level *level, const char *name)
{
	int child = open_to_empty(*fd, name);
	struct stat st;

	if (child < 0 || fstat(*fd, &st) < 0) {
		int err = ckpt_error_errno("unable to open the directory '%s'", name);

		fs_close(child);
		return err;
	}
	*level = (struct level){ .name = xstrdup(name), .dev = st.st_dev, .ino = st.st_ino };
	close(*fd);
	*fd = child;
	return 0;
}

/* Empty a directory of any depth with a handful of descriptors, up and down in it; closes it. */
static int empty_deep(int fd)
{
	struct strbuf name = STRBUF_INIT;
	struct level *levels = NULL;
	size_t nr = 0, alloc = 0;
	int err;

	while (!(err = remove_files(&name, fd)) && (name.len || nr)) {
		if (name.len) {
			ALLOC_GROW(levels, nr + 1, alloc);
			err = enter_dir(&fd, &levels[nr], name.buf);
			nr += !err;
		} else {
			err = leave_dir(&fd, &levels[--nr]);
			free(levels[nr].name);
		}
		if (err)
			break;
	}
	while (nr)
		free(levels[--nr].name);
	free(levels);
	strbuf_release(&name);
	close(fd);
	return err;
}

static int remove_tree(int dirfd, const char *path, unsigned depth)
{
	enum { DEPTH_MAX = 8 }; /* of the fast way */
	struct strlist names = STRLIST_INIT;
	int fd, err = 0;

	if (!unlinkat(dirfd, path, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return ckpt_error_errno("unable to remove '%s'", path);
	fd = open_to_empty(dirfd, path);
	if (fd < 0)
		return ckpt_error_errno("unable to open the directory '%s'", path);
	if (depth == DEPTH_MAX) {
		err = empty_deep(fd);
	} else {
		if (fs_names(&names, fd, ".", 0, NULL) < 0)
			err = ckpt_error_errno("unable to read the directory '%s'", path);
		for (size_t i = 0; i < names.nr && !err; i++)
			err = remove_tree(fd, names.items[i], depth + 1);
		strlist_release(&names);
		close(fd);
	}
	if (!err && unlinkat(dirfd, path, AT_REMOVEDIR) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s'", path);
	return err;
}

int fs_remove_tree(int dirfd, const char *path)
{
	return remove_tree(dirfd, path, 0);
}
