/* SPDX-License-Identifier: MIT */
#include "tree/beneath.h"

#include <linux/openat2.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_bool no_openat2;

static bool has_dotdot(const char *path)
{
	for (; *path; path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !memcmp(path, "..", 2))
			return true;
		path += len;
	}
	return false;
}

/* A directory on the way. For a link this gives ENOTDIR; report it as openat2 does. */
static int open_on_the_way(int fd, const char *name)
{
	int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (next < 0 && errno == ENOTDIR) {
		bool link = !fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode);

		errno = link ? ELOOP : ENOTDIR;
	}
	return next;
}

/* For kernels without openat2(2), and sandboxes that forbid it. */
static int open_walk(int rootfd, const char *path, int flags)
{
	char *copy = xstrdup(path), *name = copy;
	int fd = rootfd, next;

	for (;;) {
		char *slash = strchr(name, '/');

		if (slash) {
			*slash = '\0';
			next = open_on_the_way(fd, name);
		} else {
			next = openat(fd, name, flags | O_NOFOLLOW | O_CLOEXEC);
		}
		if (fd != rootfd) {
			int saved = errno;

			close(fd);
			errno = saved;
		}
		if (next < 0 || !slash)
			break;
		fd = next;
		name = slash + 1;
	}
	free(copy);
	return next;
}

static int open_one(int dirfd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned long long)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

/* A path over PATH_MAX in as few pieces as possible: component by component would take for ever. */
static int open_pieces(int rootfd, const char *path, int flags)
{
	char *copy = xstrdup(path), *at = copy;
	int fd = rootfd, next;

	for (;;) {
		size_t len = strlen(at);
		bool last = len < PATH_MAX;
		int saved;

		if (!last) {
			for (len = PATH_MAX - 1; len && at[len] != '/'; len--)
				;
			at[len] = '\0';
		}
		next = open_one(fd, at, last ? flags : O_PATH | O_DIRECTORY);
		saved = errno;
		if (fd != rootfd)
			close(fd);
		errno = saved;
		if (next < 0 || last)
			break;
		fd = next;
		at += len + 1;
	}
	free(copy);
	return next;
}

int beneath_open(int rootfd, const char *path, int flags)
{
	int fd;

	if (!*path)
		return openat(rootfd, ".", flags | O_CLOEXEC);
	/* If it does not lead out, openat2 would allow it, but then a path has two names. */
	if (has_dotdot(path)) {
		errno = EXDEV;
		return -1;
	}
	if (atomic_load_explicit(&no_openat2, memory_order_relaxed))
		return open_walk(rootfd, path, flags);
	fd = strlen(path) < PATH_MAX ? open_one(rootfd, path, flags) :
				       open_pieces(rootfd, path, flags);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
		atomic_store(&no_openat2, true);
		return open_walk(rootfd, path, flags);
	}
	return fd;
}

void beneath_near_release(struct beneath_near *near)
{
	if (near->path)
		close(near->fd);
	free(near->path);
	memset(near, 0, sizeof(*near));
}

static bool is_near(const struct beneath_near *near, const char *path, size_t len)
{
	return near->path && len > near->len && path[near->len] == '/' &&
	       !memcmp(near->path, path, near->len);
}

enum {
	NEAR_MIN = 1024, /* shorter paths are not worth it */
	NEAR_STEP = 256, /* this far above them: the next may be further down, or further up */
};

/* To a directory some way above `path`, from the current one or from the root. */
static bool come_near(struct beneath_near *near, int rootfd, const char *path, size_t len)
{
	char *dir;
	int fd;

	for (len -= NEAR_STEP; len && path[len] != '/'; len--)
		;
	dir = xmemdupz(path, len);
	fd = is_near(near, dir, len) ?
		     beneath_open(near->fd, dir + near->len + 1, O_PATH | O_DIRECTORY) :
		     beneath_open(rootfd, dir, O_PATH | O_DIRECTORY);
	beneath_near_release(near);
	if (fd < 0) {
		free(dir);
		return false;
	}
	*near = (struct beneath_near){ .fd = fd, .path = dir, .len = strlen(dir) };
	return true;
}

int beneath_open_near(struct beneath_near *near, int rootfd, const char *path, int flags)
{
	size_t len = strlen(path);
	int fd;

	if (!near || len < NEAR_MIN)
		return beneath_open(rootfd, path, flags);
	if ((!is_near(near, path, len) || len - near->len > 2 * NEAR_STEP + NAME_MAX) &&
	    !come_near(near, rootfd, path, len))
		return beneath_open(rootfd, path, flags);
	fd = beneath_open(near->fd, path + near->len + 1, flags);
	if (fd >= 0)
		return fd;
	/* Whatever happened: only the way from the root counts. */
	beneath_near_release(near);
	return beneath_open(rootfd, path, flags);
}

int beneath_open_parent(int rootfd, const char *path, const char **name_out)
{
	return beneath_open_parent_near(NULL, rootfd, path, name_out);
}

int beneath_open_parent_near(struct beneath_near *near, int rootfd, const char *path,
			     const char **name_out)
{
	const char *slash = strrchr(path, '/');
	char *dir = xmemdupz(path, slash ? (size_t)(slash - path) : 0);
	int fd = beneath_open_near(near, rootfd, dir, O_PATH | O_DIRECTORY);
	int saved = errno;

	*name_out = slash ? slash + 1 : path;
	free(dir);
	errno = saved;
	return fd;
}

/* close(2) after a call, failed or not, whose errno matters. */
static int close_keeping(int fd, int rc)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return rc;
}

int beneath_create(int rootfd, const char *path)
{
	const char *name;
	int dirfd = beneath_open_parent(rootfd, path, &name);

	if (dirfd < 0)
		return -1;
	return close_keeping(dirfd, openat(dirfd, name,
					   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					   0600));
}

int beneath_mkdir(struct beneath_near *near, int rootfd, const char *path, mode_t mode)
{
	const char *name;
	int dirfd = beneath_open_parent_near(near, rootfd, path, &name);

	return dirfd < 0 ? -1 : close_keeping(dirfd, mkdirat(dirfd, name, mode));
}

int beneath_symlink(const char *target, int rootfd, const char *path)
{
	const char *name;
	int dirfd = beneath_open_parent(rootfd, path, &name);

	return dirfd < 0 ? -1 : close_keeping(dirfd, symlinkat(target, dirfd, name));
}

static int read_link(struct strbuf *out, int dirfd, const char *name)
{
	ssize_t n;

	strbuf_grow(out, PATH_MAX);
	n = readlinkat(dirfd, name, out->buf + out->len, PATH_MAX);
	if (n >= 0)
		strbuf_setlen(out, out->len + (size_t)n);
	return n < 0 ? ckpt_error_errno("unable to read the link '%s'", name) : 0;
}

int beneath_read(struct strbuf *out, struct stat *st_out, int rootfd, const char *path, uint64_t max)
{
	const char *name;
	int dirfd = beneath_open_parent(rootfd, path, &name), err = 0;

	if (dirfd < 0 || fstatat(dirfd, name, st_out, AT_SYMLINK_NOFOLLOW) < 0) {
		err = ckpt_error_errno("unable to look at '%s'", path);
		err = errno == ENOTDIR || errno == ELOOP ? CKPT_ENOTFOUND : err;
	} else if (S_ISLNK(st_out->st_mode)) {
		err = read_link(out, dirfd, name);
	} else if (!S_ISREG(st_out->st_mode)) {
		err = ckpt_error_set(CKPT_ENOTFOUND, "'%s' is no longer a file", path);
	} else if ((uint64_t)st_out->st_size <= max) {
		err = fs_read_file(out, dirfd, name);
	}
	fs_close(dirfd);
	return err;
}

int beneath_set_mode(int dirfd, const char *name, mode_t mode)
{
	char proc[64];
	int fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	return close_keeping(fd, chmod(proc, mode));
}

int beneath_chmod_dir(struct beneath_near *near, int rootfd, const char *path, mode_t mode,
		      bool sync)
{
	int fd = beneath_open_near(near, rootfd, path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return -1;
	return close_keeping(fd, fchmod(fd, mode) < 0 || (sync && fsync(fd) < 0) ? -1 : 0);
}
