/* SPDX-License-Identifier: MIT */
/* Calls on paths, and what a poor file system lacks of them. */
#include "faultfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- what is lacking -------------------------------------------------------------------- */

static bool lacks_exchange, lacks_noreplace, lacks_link, lacks_chmod, lacks_redirect;

static bool lacks(const char *what)
{
	const char *list = getenv("FAULT_LACKS");

	return list && strstr(list, what);
}

void paths_setup(void)
{
	lacks_exchange = lacks("exchange");
	lacks_noreplace = lacks("noreplace");
	lacks_link = lacks("link");
	lacks_chmod = lacks("chmod");
	lacks_redirect = lacks("redirect");
}

/* Such a call is not counted: it changes nothing. */
static bool missing(bool lacking, int fd, const char *path, int code)
{
	if (!lacking || !is_wanted(fd, path))
		return false;
	errno = code;
	return true;
}

static bool lacks_flags(int fd, const char *path, unsigned int flags)
{
	return missing((lacks_exchange && flags & RENAME_EXCHANGE) ||
			       (lacks_noreplace && flags & RENAME_NOREPLACE),
		       fd, path, EINVAL);
}

/* The directories that this process made: those would be in the upper layer. */
static ino_t upper[1024];
static atomic_size_t upper_nr;

static int made(int rc, int fd, const char *path)
{
	struct stat st;

	if (lacks_redirect && !rc && !fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW)) {
		size_t at = atomic_fetch_add(&upper_nr, 1);

		if (at >= sizeof(upper) / sizeof(upper[0]))
			die("too many directories", path);
		upper[at] = st.st_ino;
	}
	return rc;
}

static bool is_lower(int fd, const char *path)
{
	int saved = errno;
	struct stat st;
	bool lower = !fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);

	for (size_t i = 0; i < atomic_load(&upper_nr) && lower; i++)
		lower = upper[i] != st.st_ino;
	errno = saved;
	return lower;
}

static bool lacks_move(int fd1, const char *from, int fd2, const char *to, unsigned int flags)
{
	return missing(lacks_redirect && (is_lower(fd1, from) ||
					  (flags & RENAME_EXCHANGE && is_lower(fd2, to))),
		       fd1, from, EXDEV);
}

/* ---- calls ------------------------------------------------------------------------------ */

WRAP(int, rename, (const char *from, const char *to))
{
	if (lacks_move(AT_FDCWD, from, AT_FDCWD, to, 0) ||
	    on_two_paths(CALL_RENAME, AT_FDCWD, from, AT_FDCWD, to) == FAIL)
		return -1;
	return renamed(next_rename()(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

WRAP(int, renameat, (int fd1, const char *from, int fd2, const char *to))
{
	if (lacks_move(fd1, from, fd2, to, 0) || on_two_paths(CALL_RENAME, fd1, from, fd2, to) == FAIL)
		return -1;
	return renamed(next_renameat()(fd1, from, fd2, to), fd1, from, fd2, to);
}

WRAP(int, renameat2, (int fd1, const char *from, int fd2, const char *to, unsigned int flags))
{
	if (lacks_flags(fd1, from, flags) || lacks_move(fd1, from, fd2, to, flags) ||
	    on_two_paths(CALL_RENAME, fd1, from, fd2, to) == FAIL)
		return -1;
	return renamed(next_renameat2()(fd1, from, fd2, to, flags), fd1, from, fd2, to);
}

WRAP(int, link, (const char *from, const char *to))
{
	if (missing(lacks_link, AT_FDCWD, from, EPERM) ||
	    on_two_paths(CALL_LINK, AT_FDCWD, from, AT_FDCWD, to) == FAIL)
		return -1;
	return named(next_link()(from, to), AT_FDCWD, to);
}

WRAP(int, linkat, (int fd1, const char *from, int fd2, const char *to, int flags))
{
	if (missing(lacks_link, fd1, from, EPERM) ||
	    on_two_paths(CALL_LINK, fd1, from, fd2, to) == FAIL)
		return -1;
	return named(next_linkat()(fd1, from, fd2, to, flags), fd2, to);
}

WRAP(int, unlink, (const char *path))
{
	return on_path(CALL_UNLINK, AT_FDCWD, path) == FAIL ? -1 : next_unlink()(path);
}

WRAP(int, unlinkat, (int fd, const char *path, int flags))
{
	return on_path(CALL_UNLINK, fd, path) == FAIL ? -1 : next_unlinkat()(fd, path, flags);
}

WRAP(int, rmdir, (const char *path))
{
	return on_path(CALL_UNLINK, AT_FDCWD, path) == FAIL ? -1 : next_rmdir()(path);
}

WRAP(int, mkdir, (const char *path, mode_t mode))
{
	if (on_path(CALL_MKDIR, AT_FDCWD, path) == FAIL)
		return -1;
	return made(named(next_mkdir()(path, mode), AT_FDCWD, path), AT_FDCWD, path);
}

WRAP(int, mkdirat, (int fd, const char *path, mode_t mode))
{
	if (on_path(CALL_MKDIR, fd, path) == FAIL)
		return -1;
	return made(named(next_mkdirat()(fd, path, mode), fd, path), fd, path);
}

WRAP(char *, mkdtemp, (char *path))
{
	char *made = next_mkdtemp()(path);

	if (made)
		note_name(AT_FDCWD, path);
	return made;
}

WRAP(int, symlinkat, (const char *target, int fd, const char *path))
{
	return named(next_symlinkat()(target, fd, path), fd, path);
}

WRAP(int, chmod, (const char *path, mode_t mode))
{
	if (missing(lacks_chmod, AT_FDCWD, path, EPERM) ||
	    on_path(CALL_CHMOD, AT_FDCWD, path) == FAIL)
		return -1;
	return next_chmod()(path, mode);
}

WRAP(int, fchmodat, (int fd, const char *path, mode_t mode, int flags))
{
	if (missing(lacks_chmod, fd, path, EPERM) || on_path(CALL_CHMOD, fd, path) == FAIL)
		return -1;
	return next_fchmodat()(fd, path, mode, flags);
}

WRAP(int, fchmod, (int fd, mode_t mode))
{
	if (missing(lacks_chmod, fd, NULL, EPERM) || on_fd(CALL_CHMOD, fd) == FAIL)
		return -1;
	return next_fchmod()(fd, mode);
}

/* ---- creation of files ------------------------------------------------------------------ */

static bool creates(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

static mode_t mode_argument(int flags, va_list ap)
{
	return creates(flags) ? va_arg(ap, mode_t) : 0;
}

/* Another boot, without one. */
static const char *boot_id_path(const char *path)
{
	const char *other = getenv("FAULT_BOOT_ID");

	return other && !strcmp(path, "/proc/sys/kernel/random/boot_id") ? other : path;
}

#define WRAP_OPEN(symbol, params, dirfd, ...)                                                      \
	WRAP(int, symbol, params)                                                                  \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = mode_argument(flags, ap);                                                   \
		va_end(ap);                                                                        \
		if (on_path(creates(flags) ? CALL_CREATE : CALL_OPEN, dirfd, path) == FAIL)        \
			return -1;                                                                 \
		if (!creates(flags) || is_there(dirfd, path))                                      \
			return next_##symbol()(__VA_ARGS__);                                       \
		return named(next_##symbol()(__VA_ARGS__), dirfd, path);                           \
	}

WRAP_OPEN(open, (const char *path, int flags, ...), AT_FDCWD, boot_id_path(path), flags, mode)
WRAP_OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, boot_id_path(path), flags, mode)
WRAP_OPEN(openat, (int fd, const char *path, int flags, ...), fd, fd, path, flags, mode)
WRAP_OPEN(openat64, (int fd, const char *path, int flags, ...), fd, fd, path, flags, mode)

#define WRAP_CREATE(symbol, args, values, path)                                                    \
	WRAP(int, symbol, args)                                                                    \
	{                                                                                          \
		if (on_path(CALL_CREATE, AT_FDCWD, path) == FAIL)                                  \
			return -1;                                                                 \
		return named(next_##symbol() values, AT_FDCWD, path);                              \
	}

WRAP_CREATE(creat, (const char *path, mode_t mode), (path, mode), path)
WRAP_CREATE(creat64, (const char *path, mode_t mode), (path, mode), path)
WRAP_CREATE(mkstemp, (char *path), (path), path)
WRAP_CREATE(mkstemp64, (char *path), (path), path)
WRAP_CREATE(mkostemp, (char *path, int flags), (path, flags), path)
WRAP_CREATE(mkostemp64, (char *path, int flags), (path, flags), path)

/* openat2 and, on older systems, renameat2 have no function of their own in libc. */
WRAP(long, syscall, (long number, ...))
{
	enum action act = PASS;
	bool gives_name = false;
	long a[6], rc;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);

	if (number == SYS_openat2) {
		const struct open_how *how = (const struct open_how *)a[2];

		if (creates((int)how->flags)) {
			act = on_path(CALL_CREATE, (int)a[0], (const char *)a[1]);
			gives_name = !is_there((int)a[0], (const char *)a[1]);
		}
	} else if (number == SYS_renameat2) {
		act = lacks_flags((int)a[0], (const char *)a[1], (unsigned int)a[4]) ||
				      lacks_move((int)a[0], (const char *)a[1], (int)a[2],
						 (const char *)a[3], (unsigned int)a[4]) ?
			      FAIL :
			      on_two_paths(CALL_RENAME, (int)a[0], (const char *)a[1], (int)a[2],
					   (const char *)a[3]);
	}
	if (act == FAIL)
		return -1;
	rc = next_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_renameat2)
		renamed((int)rc, (int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3]);
	else if (gives_name)
		named((int)rc, (int)a[0], (const char *)a[1]);
	return rc;
}
