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

#include "faultfs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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

static bool active;
static pid_t owner;
static unsigned int wanted;
static const char *wanted_path;
static unsigned long fault_at;
static bool sticky;
static bool do_kill, do_half, do_run;
static int do_errno;
static atomic_ulong matched;

/* ---- set up and report ------------------------------------------------------------------ */

_Noreturn void die(const char *what, const char *value)
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

bool is_owner(void)
{
	return getpid() == owner;
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
	names_setup();
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
	paths_setup();
	active = true;
}

/* With bare system calls: the report must not count, nor be hit. */
__attribute__((destructor)) static void report(void)
{
	const char *file = getenv("FAULT_COUNT_FILE");
	char text[32];
	int fd, len;

	if (is_owner())
		names_report();
	if (!active || !file || !is_owner())
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

/* ---- the decision ----------------------------------------------------------------------- */

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

bool is_wanted(int fd, const char *path)
{
	return !wanted_path || (path ? path_matches(fd, path) : fd_matches(fd));
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

enum action on_fd(enum call call, int fd)
{
	int saved = errno;

	if (!active || !(wanted & call) || !is_owner())
		return PASS;
	if (wanted_path && !fd_matches(fd)) {
		errno = saved;
		return PASS;
	}
	return strike();
}

enum action on_path(enum call call, int dirfd, const char *path)
{
	int saved = errno;

	if (!active || !(wanted & call) || !is_owner())
		return PASS;
	if (wanted_path && !path_matches(dirfd, path)) {
		errno = saved;
		return PASS;
	}
	return strike();
}

enum action on_two_paths(enum call call, int fd1, const char *path1, int fd2, const char *path2)
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

_Static_assert(sizeof(long) == 8 && sizeof(off_t) == 8, "one offset type for pread and pread64");

/* ---- transfers -------------------------------------------------------------------------- */

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

/* ---- calls on a descriptor -------------------------------------------------------------- */

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

/* ---- the other way out ------------------------------------------------------------------ */

/* _exit runs no destructors, yet the count is wanted. */
__attribute__((noreturn)) void fault_exit(int status) __asm__("_exit");
void fault_exit(int status)
{
	report();
	for (;;)
		syscall(SYS_exit_group, status);
}
