/* SPDX-License-Identifier: MIT */

/*
 * Loaded with LD_PRELOAD, this makes chosen calls of the program under test fail, fall short, or
 * be its last: what a full disk, a dying disk or a power cut would do, at an exact place.
 *
 *   FAULT_CALLS   comma list of write pwrite fsync fdatasync rename openat-create ftruncate close
 *                 read pread link unlink mkdir chmod open (of what is there)
 *   FAULT_PATH    count only calls on a path, or a descriptor of a file, that contains this text
 *   FAULT_AT      the call to hit, counted from 1; without it calls are only counted
 *   FAULT_DO      ENOSPC EIO EACCES EDQUOT EROFS EMFILE EINTR: the call fails without effect;
 *                 short: half of the bytes are transferred; kill: SIGKILL before the call;
 *                 run: the call is made, but the command in FAULT_RUN is run before
 *   FAULT_STICKY  1: from that call on, all fail (a full disk stays full)
 *   FAULT_LACKS   comma list of exchange noreplace link chmod: as on a file system that does not
 *                 know these (renameat2(2) with such a flag fails, and so on), at every call on
 *                 FAULT_PATH; redirect: as on an overlay, a directory cannot be renamed (EXDEV) but
 *                 by the process that made it
 *   FAULT_BOOT_ID the kernel's id of the boot is read from this file instead; works alone
 *   FAULT_COUNT_FILE  at exit the number of matching calls is written here
 *   FAULT_NAMES_FILE  at exit the names are written here, one a line, that the process gave to files
 *                 and directories without syncing the directory that they are in: a power cut may
 *                 take them away. Names that are gone by then do not count
 *
 * Names stand for families: rename is renameat and renameat2 too, unlink is unlinkat and rmdir,
 * write is writev. Only the process that was started is touched, not those that it starts. Writes
 * to stdout count like any other: use FAULT_PATH. What stdio does inside libc is not seen.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum call {
	CALL_WRITE = 1 << 0,
	CALL_PWRITE = 1 << 1,
	CALL_FSYNC = 1 << 2,
	CALL_FDATASYNC = 1 << 3,
	CALL_RENAME = 1 << 4,
	CALL_CREATE = 1 << 5,
	CALL_FTRUNCATE = 1 << 6,
	CALL_CLOSE = 1 << 7,
	CALL_READ = 1 << 8,
	CALL_PREAD = 1 << 9,
	CALL_LINK = 1 << 10,
	CALL_UNLINK = 1 << 11,
	CALL_MKDIR = 1 << 12,
	CALL_CHMOD = 1 << 13,
	CALL_OPEN = 1 << 14,
};

static const struct {
	const char *name;
	enum call call;
} call_names[] = {
	{ "write", CALL_WRITE },	     { "pwrite", CALL_PWRITE },
	{ "fsync", CALL_FSYNC },	     { "fdatasync", CALL_FDATASYNC },
	{ "rename", CALL_RENAME },	     { "openat-create", CALL_CREATE },
	{ "ftruncate", CALL_FTRUNCATE }, { "close", CALL_CLOSE },
	{ "read", CALL_READ },	     { "pread", CALL_PREAD },
	{ "link", CALL_LINK },	     { "unlink", CALL_UNLINK },
	{ "mkdir", CALL_MKDIR },	     { "chmod", CALL_CHMOD },
	{ "open", CALL_OPEN },
};

static const struct {
	const char *name;
	int code;
} error_names[] = {
	{ "ENOSPC", ENOSPC }, { "EIO", EIO },	  { "EACCES", EACCES }, { "EDQUOT", EDQUOT },
	{ "EROFS", EROFS },   { "EMFILE", EMFILE }, { "EINTR", EINTR },
};

enum action {
	PASS, /* not concerned, or not yet */
	FAIL, /* errno is set */
	HALF, /* transfer half */
};

static bool active, recording;
static pid_t owner;
static unsigned int wanted;
static const char *wanted_path;
static unsigned long fault_at;
static bool sticky;
static bool do_kill, do_half, do_run;
static bool lacks_exchange, lacks_noreplace, lacks_link, lacks_chmod, lacks_redirect;
static int do_errno;
static atomic_ulong matched;

/* ---- set up and report --------------------------------------------------------------------- */

static void die(const char *what, const char *value)
{
	fprintf(stderr, "faultfs: %s: '%s'\n", what, value);
	_exit(126);
}

static void parse_calls(const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		size_t i, n = sizeof(call_names) / sizeof(call_names[0]);

		for (i = 0; i < n; i++)
			if (strlen(call_names[i].name) == len && !strncmp(list, call_names[i].name, len))
				break;
		if (i == n)
			die("unknown name in FAULT_CALLS", list);
		wanted |= call_names[i].call;
		list += len;
		list += *list == ',';
	}
}

static void parse_action(const char *name)
{
	size_t i, n = sizeof(error_names) / sizeof(error_names[0]);

	do_kill = !strcmp(name, "kill");
	do_half = !strcmp(name, "short");
	do_run = !strcmp(name, "run");
	if (do_run && !getenv("FAULT_RUN"))
		die("no command for FAULT_DO", name);
	if (do_kill || do_half || do_run)
		return;
	for (i = 0; i < n; i++)
		if (!strcmp(error_names[i].name, name))
			break;
	if (i == n)
		die("unknown FAULT_DO", name);
	do_errno = error_names[i].code;
}

static bool lacks(const char *what)
{
	const char *list = getenv("FAULT_LACKS");

	return list && strstr(list, what);
}

__attribute__((constructor)) static void setup(void)
{
	const char *calls = getenv("FAULT_CALLS");
	const char *at = getenv("FAULT_AT"), *act = getenv("FAULT_DO"), *pid = getenv("FAULT_PID");
	const char *stick = getenv("FAULT_STICKY");
	char number[32];

	owner = getpid();
	if ((!calls && !getenv("FAULT_NAMES_FILE")) || (pid && atol(pid) != (long)owner))
		return;
	recording = getenv("FAULT_NAMES_FILE") != NULL;
	snprintf(number, sizeof(number), "%ld", (long)owner);
	setenv("FAULT_PID", number, 1);

	if (!calls)
		return;
	parse_calls(calls);
	wanted_path = getenv("FAULT_PATH");
	if (wanted_path && !*wanted_path)
		wanted_path = NULL;
	if (at)
		fault_at = strtoul(at, NULL, 10);
	if (fault_at)
		parse_action(act ? act : "(unset)");
	sticky = stick && !strcmp(stick, "1");
	lacks_exchange = lacks("exchange");
	lacks_noreplace = lacks("noreplace");
	lacks_link = lacks("link");
	lacks_chmod = lacks("chmod");
	lacks_redirect = lacks("redirect");
	active = true;
}

static void report_names(void);

/* With bare system calls: the report must not count, nor be hit. */
__attribute__((destructor)) static void report(void)
{
	const char *file = getenv("FAULT_COUNT_FILE");
	char text[32];
	int fd, len;

	if (recording && getpid() == owner)
		report_names();
	if (!active || !file || getpid() != owner)
		return;
	active = false;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	len = snprintf(text, sizeof(text), "%lu\n", atomic_load(&matched));
	if (syscall(SYS_write, fd, text, (size_t)len) != len)
		fprintf(stderr, "faultfs: cannot write the count\n");
	syscall(SYS_close, fd);
}

/* ---- the decision -------------------------------------------------------------------------- */

static bool fd_matches(int fd)
{
	char link[64], target[4096];
	long len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof(target) - 1);
	if (len < 0)
		return false;
	target[len] = '\0';
	return strstr(target, wanted_path) != NULL;
}

/* A path counts with the directory that it is relative to. */
static bool path_matches(int dirfd, const char *path)
{
	if (!path)
		return false;
	if (strstr(path, wanted_path))
		return true;
	/* What a chmod without following links goes through. */
	if (!strncmp(path, "/proc/self/fd/", 14))
		return fd_matches(atoi(path + 14));
	return path[0] != '/' && dirfd != AT_FDCWD && fd_matches(dirfd);
}

/* The children are not the owner, so nothing of theirs counts. */
static enum action run_command(void)
{
	int saved = errno;

	if (system(getenv("FAULT_RUN")))
		fprintf(stderr, "faultfs: the command failed\n");
	errno = saved;
	return PASS;
}

static enum action strike(void)
{
	unsigned long n = atomic_fetch_add(&matched, 1) + 1;

	if (!fault_at || (sticky ? n < fault_at : n != fault_at))
		return PASS;
	if (do_kill) {
		syscall(SYS_kill, (long)owner, SIGKILL);
		for (;;)
			pause();
	}
	if (do_half)
		return HALF;
	if (do_run)
		return run_command();
	errno = do_errno;
	return FAIL;
}

static enum action on_fd(enum call call, int fd)
{
	int saved = errno;

	if (!active || !(wanted & call) || getpid() != owner)
		return PASS;
	if (wanted_path && !fd_matches(fd)) {
		errno = saved;
		return PASS;
	}
	return strike();
}

static enum action on_path(enum call call, int dirfd, const char *path)
{
	int saved = errno;

	if (!active || !(wanted & call) || getpid() != owner)
		return PASS;
	if (wanted_path && !path_matches(dirfd, path)) {
		errno = saved;
		return PASS;
	}
	return strike();
}

static enum action on_two_paths(enum call call, int fd1, const char *path1, int fd2,
				const char *path2)
{
	if (!wanted_path || path_matches(fd1, path1))
		return on_path(call, fd1, path1);
	return on_path(call, fd2, path2);
}

/* Half of a transfer; one byte cannot be halved, and 0 would mean the end of the file. */
static size_t half(size_t count)
{
	return count > 1 ? count / 2 : count;
}

/*
 * WRAP(int, fsync, (int fd)) { ... next_fsync()(fd) ... } defines the symbol `fsync`. The C name
 * is another one, since the headers rename functions themselves (pread becomes pread64).
 * next_x() is the definition behind this one, looked up once.
 */
#define WRAP(ret, symbol, args)                                                                    \
	typedef ret(*symbol##_fn) args;                                                            \
	static symbol##_fn next_##symbol(void)                                                     \
	{                                                                                          \
		static _Atomic(symbol##_fn) cached;                                                \
		symbol##_fn fn = atomic_load(&cached);                                             \
                                                                                                   \
		if (!fn) {                                                                         \
			*(void **)&fn = dlsym(RTLD_NEXT, #symbol);                                 \
			if (!fn)                                                                   \
				die("no such function", #symbol);                                  \
			atomic_store(&cached, fn);                                                 \
		}                                                                                  \
		return fn;                                                                         \
	}                                                                                          \
	ret fault_##symbol args __asm__(#symbol);                                                  \
	ret fault_##symbol args

_Static_assert(sizeof(long) == 8 && sizeof(off_t) == 8, "one offset type for pread and pread64");

/* ---- names that a power cut may take away --------------------------------------------------- */

enum { NAMES_MAX = 16384 };

/* One that was given, and where: the directory may be renamed before it is synced. */
struct name {
	dev_t dev;
	ino_t ino;
	char *dir, *base;
};

static struct name names[NAMES_MAX];
static size_t names_nr;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

/* The directory that holds `path`, opened, with what is behind the last slash; -1 if there is none. */
static int open_holder(int dirfd, const char *path, char base[NAME_MAX + 1])
{
	char dir[PATH_MAX];
	size_t len = strlen(path), end;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (end = len; end && path[end - 1] != '/'; end--)
		;
	if (!len || len >= sizeof(dir) || len - end > NAME_MAX)
		return -1;
	memcpy(base, path + end, len - end);
	base[len - end] = '\0';
	memcpy(dir, end ? path : ".", end ? end : 1);
	dir[end ? end : 1] = '\0';
	return (int)syscall(SYS_openat, dirfd, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Where a name is, made absolute; false if it has no directory. */
static bool locate(struct name *out, int dirfd, const char *path)
{
	char base[NAME_MAX + 1], link[64], dir[PATH_MAX];
	int fd = open_holder(dirfd, path, base);
	struct stat st;
	long len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = fd < 0 ? -1 : syscall(SYS_readlinkat, AT_FDCWD, link, dir, sizeof(dir) - 1);
	if (len > 0 && fstat(fd, &st) < 0)
		len = -1;
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (len <= 0)
		return false;
	dir[len] = '\0';
	*out = (struct name){ st.st_dev, st.st_ino, strdup(dir), strdup(base) };
	return true;
}

static void note_name(int dirfd, const char *path)
{
	int saved = errno;
	struct name name;

	if (recording && getpid() == owner && locate(&name, dirfd, path)) {
		pthread_mutex_lock(&names_lock);
		if (names_nr == NAMES_MAX)
			die("too many names", path);
		names[names_nr++] = name;
		pthread_mutex_unlock(&names_lock);
	}
	errno = saved;
}

/* What was noted below a directory that has another name now. */
static void follow(const struct name *from, const struct name *to)
{
	char old[PATH_MAX + NAME_MAX + 2], path[2 * PATH_MAX];
	size_t len = (size_t)snprintf(old, sizeof(old), "%s/%s", from->dir, from->base);

	for (size_t i = 0; i < names_nr; i++) {
		const char *dir = names[i].dir;

		if (!dir || strncmp(dir, old, len) || (dir[len] && dir[len] != '/'))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", to->dir, to->base, dir + len);
		names[i].dir = strdup(path);
	}
}

/* After a rename; handed through. */
static int renamed(int rc, int fd1, const char *from, int fd2, const char *to)
{
	struct name old, new;
	int saved = errno;

	if (rc < 0 || !recording || getpid() != owner)
		return rc;
	note_name(fd2, to);
	if (locate(&old, fd1, from) && locate(&new, fd2, to)) {
		pthread_mutex_lock(&names_lock);
		follow(&old, &new);
		pthread_mutex_unlock(&names_lock);
	}
	errno = saved;
	return rc;
}

/* After the call: what it made now has a name. Handed through. */
static int named(int rc, int dirfd, const char *path)
{
	if (rc >= 0)
		note_name(dirfd, path);
	return rc;
}

/* Opened to be made if need be: was it there before? */
static bool is_there(int dirfd, const char *path)
{
	struct stat st;
	int saved = errno;
	bool there = !recording || !fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW);

	errno = saved;
	return there;
}

/* A directory that was synced keeps its names. */
static int synced(int rc, int fd)
{
	struct stat st;

	if (rc || !recording || getpid() != owner || fstat(fd, &st) < 0)
		return rc;
	pthread_mutex_lock(&names_lock);
	for (size_t i = 0; i < names_nr; i++)
		if (names[i].dir && names[i].dev == st.st_dev && names[i].ino == st.st_ino)
			names[i].dir = NULL;
	pthread_mutex_unlock(&names_lock);
	return rc;
}

static void report_names(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("FAULT_NAMES_FILE"),
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	recording = false;
	for (size_t i = 0; i < names_nr; i++) {
		char path[PATH_MAX + NAME_MAX + 3];
		struct stat st;
		int len;

		if (!names[i].dir)
			continue;
		len = snprintf(path, sizeof(path), "%s/%s\n", names[i].dir, names[i].base);
		path[len - 1] = '\0';
		if (fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		path[len - 1] = '\n';
		if (syscall(SYS_write, fd, path, (size_t)len) != len)
			fprintf(stderr, "faultfs: cannot write the names\n");
	}
	syscall(SYS_close, fd);
}

/* ---- transfers ----------------------------------------------------------------------------- */

#define WRAP_TRANSFER(symbol, call, buf_t)                                                         \
	WRAP(ssize_t, symbol, (int fd, buf_t buf, size_t count))                                   \
	{                                                                                          \
		enum action act = on_fd(call, fd);                                                 \
		if (act == FAIL)                                                                   \
			return -1;                                                                 \
		return next_##symbol()(fd, buf, act == HALF ? half(count) : count);                \
	}

#define WRAP_TRANSFER_AT(symbol, call, buf_t)                                                      \
	WRAP(ssize_t, symbol, (int fd, buf_t buf, size_t count, off_t offset))                     \
	{                                                                                          \
		enum action act = on_fd(call, fd);                                                 \
		if (act == FAIL)                                                                   \
			return -1;                                                                 \
		return next_##symbol()(fd, buf, act == HALF ? half(count) : count, offset);        \
	}

/* Half of a vector is half of its first part: less than all, more than nothing. */
#define WRAP_VECTOR(symbol, call, plain)                                                           \
	WRAP(ssize_t, symbol, (int fd, const struct iovec *iov, int count))                        \
	{                                                                                          \
		enum action act = on_fd(call, fd);                                                 \
		if (act == FAIL)                                                                   \
			return -1;                                                                 \
		if (act == HALF && count > 0 && iov->iov_len > 0)                                  \
			return next_##plain()(fd, iov->iov_base, half(iov->iov_len));              \
		return next_##symbol()(fd, iov, count);                                            \
	}

WRAP_TRANSFER(write, CALL_WRITE, const void *)
WRAP_TRANSFER(read, CALL_READ, void *)
WRAP_TRANSFER_AT(pwrite, CALL_PWRITE, const void *)
WRAP_TRANSFER_AT(pwrite64, CALL_PWRITE, const void *)
WRAP_TRANSFER_AT(pread, CALL_PREAD, void *)
WRAP_TRANSFER_AT(pread64, CALL_PREAD, void *)
WRAP_VECTOR(writev, CALL_WRITE, write)
WRAP_VECTOR(readv, CALL_READ, read)

/* What libraries built with _FORTIFY_SOURCE call instead. */
WRAP(ssize_t, __read_chk, (int fd, void *buf, size_t count, size_t size))
{
	enum action act = on_fd(CALL_READ, fd);

	if (act == FAIL)
		return -1;
	return next___read_chk()(fd, buf, act == HALF ? half(count) : count, size);
}

WRAP(ssize_t, __pread64_chk, (int fd, void *buf, size_t count, off_t offset, size_t size))
{
	enum action act = on_fd(CALL_PREAD, fd);

	if (act == FAIL)
		return -1;
	return next___pread64_chk()(fd, buf, act == HALF ? half(count) : count, offset, size);
}

/* ---- calls on a descriptor ----------------------------------------------------------------- */

WRAP(int, fsync, (int fd))
{
	return on_fd(CALL_FSYNC, fd) == FAIL ? -1 : synced(next_fsync()(fd), fd);
}

WRAP(int, fdatasync, (int fd))
{
	return on_fd(CALL_FDATASYNC, fd) == FAIL ? -1 : next_fdatasync()(fd);
}

WRAP(int, ftruncate, (int fd, off_t length))
{
	return on_fd(CALL_FTRUNCATE, fd) == FAIL ? -1 : next_ftruncate()(fd, length);
}

WRAP(int, ftruncate64, (int fd, off_t length))
{
	return on_fd(CALL_FTRUNCATE, fd) == FAIL ? -1 : next_ftruncate64()(fd, length);
}

/* A close that reports an error has closed the descriptor all the same. */
WRAP(int, close, (int fd))
{
	if (on_fd(CALL_CLOSE, fd) == FAIL) {
		int code = errno;

		next_close()(fd);
		errno = code;
		return -1;
	}
	return next_close()(fd);
}

/* ---- calls on paths ------------------------------------------------------------------------ */

/* Such a call is not counted: it changes nothing. */
static bool missing(bool lacking, int fd, const char *path, int code)
{
	if (!lacking || (wanted_path && !(path ? path_matches(fd, path) : fd_matches(fd))))
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

/* ---- creation of files --------------------------------------------------------------------- */

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

#define WRAP_OPEN(symbol)                                                                          \
	WRAP(int, symbol, (const char *path, int flags, ...))                                      \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = mode_argument(flags, ap);                                                   \
		va_end(ap);                                                                        \
		if (on_path(creates(flags) ? CALL_CREATE : CALL_OPEN, AT_FDCWD, path) == FAIL)     \
			return -1;                                                                 \
		if (!creates(flags) || is_there(AT_FDCWD, path))                                   \
			return next_##symbol()(boot_id_path(path), flags, mode);                   \
		return named(next_##symbol()(path, flags, mode), AT_FDCWD, path);                  \
	}

#define WRAP_OPENAT(symbol)                                                                        \
	WRAP(int, symbol, (int fd, const char *path, int flags, ...))                              \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = mode_argument(flags, ap);                                                   \
		va_end(ap);                                                                        \
		if (on_path(creates(flags) ? CALL_CREATE : CALL_OPEN, fd, path) == FAIL)           \
			return -1;                                                                 \
		if (!creates(flags) || is_there(fd, path))                                         \
			return next_##symbol()(fd, path, flags, mode);                             \
		return named(next_##symbol()(fd, path, flags, mode), fd, path);                    \
	}

WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)

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

/* ---- the other way out --------------------------------------------------------------------- */

/* _exit runs no destructors, yet the count is wanted. */
__attribute__((noreturn)) void fault_exit(int status) __asm__("_exit");
void fault_exit(int status)
{
	report();
	for (;;)
		syscall(SYS_exit_group, status);
}
