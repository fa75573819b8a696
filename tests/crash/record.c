/* SPDX-License-Identifier: MIT */

/*
 * crash-record <log> <root> <command>...
 *
 * Runs a command and writes down, with all data, what it and all that it starts do to the files
 * below <root>: see crashlog.h. The calls are seen through ptrace(2), so that no library, no
 * stdio and no other program (git) is missed; those that change files are let through one at a
 * time, so that the log has the order in which they took effect. Exits as the command does;
 * 77 where ptrace is not allowed.
 *
 *   CRASH_IGNORE_FSYNC=1   no sync is written down, as if the program had none
 *
 * Writes through a shared mapping and io_uring are not seen; that they were set up is noted, and
 * the log is refused by crash-replay.
 */

#include "crashlog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { MAX_TASKS = 512, EXIT_SKIP = 77 };

/* What a call does, whatever its name and the order of its arguments. */
enum kind {
	K_NONE,
	K_OPEN,
	K_MKDIR,
	K_SYMLINK,
	K_LINK,
	K_RENAME,
	K_UNLINK,
	K_WRITE,  /* buffer at the position of the descriptor */
	K_PWRITE, /* buffer at an offset */
	K_WRITEV,
	K_PWRITEV,
	K_COPY, /* from another descriptor */
	K_FTRUNCATE,
	K_TRUNCATE,
	K_FALLOCATE,
	K_FCHMOD,
	K_CHMOD,
	K_UTIMENS,
	K_FSYNC,
	K_DATASYNC,
	K_SYNC,
	K_MMAP,
	K_URING,
};

struct call {
	enum kind kind;
	uint64_t nr;
	uint64_t arg[6];
	int fd;               /* what is written, synced, changed; the directory of `path` */
	char path[PATH_MAX];  /* as given, absolute and with its directories resolved */
	char path2[PATH_MAX];
	uint64_t flags, mode;
	uint64_t offset;
};

struct task {
	pid_t pid;
	bool entered; /* between the stops before and after a call */
	bool waiting; /* stopped before a call that has to wait for its turn */
	struct call call;
};

static struct task tasks[MAX_TASKS];
static struct task *busy; /* within a call that changes files */
static FILE *log_file;
static char root[PATH_MAX];
static size_t root_len;
static bool ignore_fsync;

static void die(const char *what)
{
	fprintf(stderr, "crash-record: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* ---- the log ------------------------------------------------------------------------------- */

static const char *below_root(const char *path)
{
	if (strncmp(path, root, root_len) || (path[root_len] && path[root_len] != '/'))
		return NULL;
	return path[root_len] ? path + root_len + 1 : path + root_len;
}

static void put(enum crash_op op, uint64_t ino, uint64_t a, uint64_t b, const char *path,
		const char *path2, const void *data, size_t len)
{
	struct crash_rec rec = { .op = op, .ino = ino, .a = a, .b = b };

	rec.path_len = path ? (uint32_t)strlen(path) : 0;
	rec.path2_len = path2 ? (uint32_t)strlen(path2) : 0;
	rec.data_len = (uint32_t)len;
	if (fwrite(&rec, sizeof(rec), 1, log_file) != 1 ||
	    (rec.path_len && fwrite(path, rec.path_len, 1, log_file) != 1) ||
	    (rec.path2_len && fwrite(path2, rec.path2_len, 1, log_file) != 1) ||
	    (len && fwrite(data, len, 1, log_file) != 1))
		die("unable to write the log");
}

static uint64_t mtime_of(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/* ---- the tree before ----------------------------------------------------------------------- */

static void snap(const char *path)
{
	char target[PATH_MAX], child[PATH_MAX + 256];
	struct dirent *ent;
	struct stat st;
	char *data = NULL;
	size_t len = 0;
	DIR *dir;

	if (lstat(path, &st) < 0)
		die(path);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(path, target, sizeof(target));

		len = n < 0 ? 0 : (size_t)n;
		data = target;
	} else if (S_ISREG(st.st_mode)) {
		FILE *f = fopen(path, "rb");

		len = (size_t)st.st_size;
		data = malloc(len + 1);
		if (!f || !data || fread(data, 1, len, f) != len)
			die(path);
		fclose(f);
	}
	put(CRASH_SNAP, st.st_ino, st.st_mode, mtime_of(&st), below_root(path), NULL, data, len);
	if (S_ISREG(st.st_mode))
		free(data);
	if (!S_ISDIR(st.st_mode))
		return;
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((ent = readdir(dir))) {
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		snprintf(child, sizeof(child), "%s/%s", path, ent->d_name);
		snap(child);
	}
	closedir(dir);
}

/* ---- looking into the process -------------------------------------------------------------- */

static bool peek(pid_t pid, uint64_t addr, void *out, size_t len)
{
	struct iovec here = { out, len }, there = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

/* A string may end just before memory that is not there: page by page. */
static bool peek_path(pid_t pid, uint64_t addr, char out[PATH_MAX])
{
	size_t done = 0;

	if (!addr)
		return false;
	while (done < PATH_MAX) {
		size_t part = 4096 - (size_t)((addr + done) % 4096);

		if (part > PATH_MAX - done)
			part = PATH_MAX - done;
		if (!peek(pid, addr + done, out + done, part))
			return false;
		if (memchr(out + done, '\0', part))
			return true;
		done += part;
	}
	return false;
}

static bool fd_path(pid_t pid, int fd, char out[PATH_MAX])
{
	char link[64];
	ssize_t n;

	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
	n = readlink(link, out, PATH_MAX - 1);
	if (n < 0)
		return false;
	out[n] = '\0';
	return out[0] == '/';
}

static bool fd_stat(pid_t pid, int fd, struct stat *st)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
	return !stat(link, st);
}

/* The file of a descriptor, if it is a file or directory below the root, also a deleted one. */
static bool fd_is_ours(pid_t pid, int fd, struct stat *st)
{
	char path[PATH_MAX];

	return fd_path(pid, fd, path) && below_root(path) && fd_stat(pid, fd, st) &&
	       (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode));
}

static uint64_t fd_position(pid_t pid, int fd)
{
	char name[64], line[128];
	unsigned long long pos = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/fdinfo/%d", (int)pid, fd);
	f = fopen(name, "r");
	if (!f)
		die(name);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "pos: %llu", &pos) == 1)
			break;
	fclose(f);
	return pos;
}

/* All but the last component resolved: that is what a call changes. "" if it cannot be. */
static void resolve(pid_t pid, int dirfd, uint64_t addr, char out[PATH_MAX])
{
	char given[PATH_MAX], full[PATH_MAX * 2 + 2], base[PATH_MAX], parent[PATH_MAX];
	char *slash;
	size_t len;

	out[0] = '\0';
	if (!peek_path(pid, addr, given) || !given[0])
		return;
	if (!strncmp(given, "/proc/self/", 11))
		snprintf(full, sizeof(full), "/proc/%d/%s", (int)pid, given + 11);
	else if (given[0] == '/')
		snprintf(full, sizeof(full), "%s", given);
	else if (fd_path(pid, dirfd, base))
		snprintf(full, sizeof(full), "%s/%s", base, given);
	else
		return;
	for (len = strlen(full); len > 1 && full[len - 1] == '/'; len--)
		full[len - 1] = '\0';
	if (!strncmp(full, CRASH_MARK, strlen(CRASH_MARK))) {
		snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, full);
		return;
	}
	slash = strrchr(full, '/');
	*slash = '\0';
	if (!realpath(*full ? full : "/", parent))
		return;
	snprintf(base, sizeof(base), "%.*s", (int)sizeof(base) - 1, slash + 1);
	if ((size_t)snprintf(out, PATH_MAX, "%s/%s", strcmp(parent, "/") ? parent : "", base) >=
	    PATH_MAX)
		out[0] = '\0';
}

/* ---- before the call ----------------------------------------------------------------------- */

static const struct {
	uint64_t nr;
	enum kind kind;
	signed char fd, path, fd2, path2; /* places of the arguments, -1: none */
} calls[] = {
#ifdef SYS_open
	{ SYS_open, K_OPEN, -1, 0, -1, -1 },
	{ SYS_creat, K_OPEN, -1, 0, -1, -1 },
	{ SYS_mkdir, K_MKDIR, -1, 0, -1, -1 },
	{ SYS_symlink, K_SYMLINK, -1, 1, -1, -1 },
	{ SYS_link, K_LINK, -1, 0, -1, 1 },
	{ SYS_rename, K_RENAME, -1, 0, -1, 1 },
	{ SYS_unlink, K_UNLINK, -1, 0, -1, -1 },
	{ SYS_rmdir, K_UNLINK, -1, 0, -1, -1 },
	{ SYS_chmod, K_CHMOD, -1, 0, -1, -1 },
	{ SYS_utime, K_UTIMENS, -1, 0, -1, -1 },
	{ SYS_utimes, K_UTIMENS, -1, 0, -1, -1 },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, K_RENAME, 0, 1, 2, 3 },
#endif
	{ SYS_openat, K_OPEN, 0, 1, -1, -1 },
	{ SYS_openat2, K_OPEN, 0, 1, -1, -1 },
	{ SYS_mkdirat, K_MKDIR, 0, 1, -1, -1 },
	{ SYS_symlinkat, K_SYMLINK, 1, 2, -1, -1 },
	{ SYS_linkat, K_LINK, 0, 1, 2, 3 },
	{ SYS_renameat2, K_RENAME, 0, 1, 2, 3 },
	{ SYS_unlinkat, K_UNLINK, 0, 1, -1, -1 },
	{ SYS_write, K_WRITE, 0, -1, -1, -1 },
	{ SYS_pwrite64, K_PWRITE, 0, -1, -1, -1 },
	{ SYS_writev, K_WRITEV, 0, -1, -1, -1 },
	{ SYS_pwritev, K_PWRITEV, 0, -1, -1, -1 },
	{ SYS_pwritev2, K_PWRITEV, 0, -1, -1, -1 },
	{ SYS_copy_file_range, K_COPY, 2, -1, -1, -1 },
	{ SYS_sendfile, K_COPY, 0, -1, -1, -1 },
	{ SYS_splice, K_COPY, 2, -1, -1, -1 },
	{ SYS_ftruncate, K_FTRUNCATE, 0, -1, -1, -1 },
	{ SYS_truncate, K_TRUNCATE, -1, 0, -1, -1 },
	{ SYS_fallocate, K_FALLOCATE, 0, -1, -1, -1 },
	{ SYS_fchmod, K_FCHMOD, 0, -1, -1, -1 },
	{ SYS_fchmodat, K_CHMOD, 0, 1, -1, -1 },
	{ SYS_fchmodat2, K_CHMOD, 0, 1, -1, -1 },
	{ SYS_utimensat, K_UTIMENS, 0, 1, -1, -1 },
	{ SYS_fsync, K_FSYNC, 0, -1, -1, -1 },
	{ SYS_fdatasync, K_DATASYNC, 0, -1, -1, -1 },
	{ SYS_sync, K_SYNC, -1, -1, -1, -1 },
	{ SYS_syncfs, K_SYNC, -1, -1, -1, -1 },
	{ SYS_mmap, K_MMAP, 4, -1, -1, -1 },
	{ SYS_io_uring_setup, K_URING, -1, -1, -1, -1 },
};

static uint64_t open_flags(pid_t pid, const struct call *c)
{
	struct open_how how;

#ifdef SYS_open
	if (c->nr == SYS_open)
		return c->arg[1];
	if (c->nr == SYS_creat)
		return O_CREAT | O_WRONLY | O_TRUNC;
#endif
	if (c->nr == SYS_openat)
		return c->arg[2];
	return peek(pid, c->arg[2], &how, sizeof(how)) ? how.flags : 0;
}

/* What the call is about; K_NONE if it changes nothing that is recorded. */
static void classify(struct task *task)
{
	struct call *c = &task->call;
	size_t i, n = sizeof(calls) / sizeof(calls[0]);
	int fd2;

	c->kind = K_NONE;
	for (i = 0; i < n && calls[i].nr != c->nr; i++)
		;
	if (i == n)
		return;
	c->kind = calls[i].kind;
	c->fd = calls[i].fd < 0 ? AT_FDCWD : (int)c->arg[calls[i].fd];
	fd2 = calls[i].fd2 < 0 ? AT_FDCWD : (int)c->arg[calls[i].fd2];
	c->path[0] = c->path2[0] = '\0';
	if (c->kind == K_OPEN) {
		c->flags = open_flags(task->pid, c);
		if (!(c->flags & (O_CREAT | O_TRUNC)) && (c->flags & O_TMPFILE) != O_TMPFILE) {
			c->kind = K_NONE;
			return;
		}
	}
	if (c->kind == K_MMAP &&
	    ((c->arg[3] & MAP_ANONYMOUS) || !(c->arg[3] & MAP_SHARED) || !(c->arg[2] & PROT_WRITE))) {
		c->kind = K_NONE;
		return;
	}
	if (calls[i].path >= 0)
		resolve(task->pid, c->fd, c->arg[calls[i].path], c->path);
	if (calls[i].path2 >= 0)
		resolve(task->pid, fd2, c->arg[calls[i].path2], c->path2);
	if (c->kind == K_MKDIR && !strncmp(c->path, CRASH_MARK, strlen(CRASH_MARK)))
		put(CRASH_NOTE, 0, 0, 0, c->path + strlen(CRASH_MARK), NULL, NULL, 0);
	/* A pipe may block: only what is below the root has to wait for its turn. */
	if (calls[i].path < 0 && calls[i].fd >= 0) {
		struct stat st;

		if (!fd_is_ours(task->pid, c->fd, &st))
			c->kind = K_NONE;
		else if (c->kind == K_WRITE || c->kind == K_WRITEV || c->kind == K_COPY)
			c->offset = 0;
	}
	if (c->kind == K_OPEN && !below_root(c->path))
		c->kind = K_NONE; /* also what leads into the root through a link at the end */
}

/* ---- after the call ------------------------------------------------------------------------ */

static void put_write(struct task *task, uint64_t offset, const void *data, size_t len)
{
	struct stat st;

	if (len && fd_is_ours(task->pid, task->call.fd, &st))
		put(CRASH_WRITE, st.st_ino, offset, mtime_of(&st), NULL, NULL, data, len);
}

static void after_write(struct task *task, size_t len)
{
	struct call *c = &task->call;
	bool at = c->kind == K_PWRITE || c->kind == K_PWRITEV;
	uint64_t offset = at ? c->arg[3] : fd_position(task->pid, c->fd) - len;
	char *data = malloc(len + 1);
	size_t done = 0;

	if (!data)
		die("malloc");
	if (c->kind == K_WRITE || c->kind == K_PWRITE) {
		if (!peek(task->pid, c->arg[1], data, len))
			die("unable to read what was written");
	} else {
		for (uint64_t i = 0; i < c->arg[2] && done < len; i++) {
			struct iovec part;

			if (!peek(task->pid, c->arg[1] + i * sizeof(part), &part, sizeof(part)))
				die("unable to read what was written");
			if (part.iov_len > len - done)
				part.iov_len = len - done;
			if (!peek(task->pid, (uintptr_t)part.iov_base, data + done, part.iov_len))
				die("unable to read what was written");
			done += part.iov_len;
		}
	}
	put_write(task, offset, data, len);
	free(data);
}

/* The kernel moved the bytes: they are read back from the file. */
static void after_copy(struct task *task, size_t len)
{
	struct call *c = &task->call;
	uint64_t offset;
	char *data = malloc(len + 1), link[64];
	int fd;

	if (c->nr != SYS_sendfile && c->arg[3]) {
		if (!peek(task->pid, c->arg[3], &offset, sizeof(offset)))
			die("unable to read an offset");
		offset -= len;
	} else {
		offset = fd_position(task->pid, c->fd) - len;
	}
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)task->pid, c->fd);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (!data || fd < 0 || pread(fd, data, len, (off_t)offset) != (ssize_t)len)
		die("unable to read back what was copied");
	close(fd);
	put_write(task, offset, data, len);
	free(data);
}

static void after_open(struct task *task, int fd)
{
	char path[PATH_MAX];
	struct stat st;
	const char *name;

	if (!fd_path(task->pid, fd, path) || !fd_is_ours(task->pid, fd, &st))
		return;
	name = below_root(path);
	if ((task->call.flags & O_TMPFILE) == O_TMPFILE)
		put(CRASH_CREATE, st.st_ino, st.st_mode, mtime_of(&st), "", NULL, NULL, 0);
	else if (task->call.flags & O_CREAT) /* replay knows whether it was there */
		put(CRASH_CREATE, st.st_ino, st.st_mode, mtime_of(&st), name, NULL, NULL, 0);
	if (task->call.flags & O_TRUNC)
		put(CRASH_TRUNCATE, st.st_ino, 0, mtime_of(&st), NULL, NULL, NULL, 0);
}

static void after_name(struct task *task)
{
	struct call *c = &task->call;
	const char *name = below_root(c->path), *name2 = below_root(c->path2);
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;

	switch (c->kind) {
	case K_MKDIR:
		if (name && !lstat(c->path, &st))
			put(CRASH_CREATE, st.st_ino, st.st_mode, mtime_of(&st), name, NULL, NULL, 0);
		break;
	case K_SYMLINK:
		if (!name || lstat(c->path, &st) < 0)
			break;
		len = readlink(c->path, target, sizeof(target));
		put(CRASH_CREATE, st.st_ino, st.st_mode, mtime_of(&st), name, NULL, target,
		    len < 0 ? 0 : (size_t)len);
		break;
	case K_LINK:
		if (name2 && !lstat(c->path2, &st))
			put(CRASH_LINK, st.st_ino, 0, 0, name2, NULL, NULL, 0);
		break;
	case K_RENAME:
		if (name && name2)
			put(CRASH_RENAME, 0, c->nr == SYS_renameat2 ? c->arg[4] : 0, 0, name, name2,
			    NULL, 0);
		else if (name || name2)
			put(CRASH_UNSEEN, 0, 0, 0, "a rename across the root", NULL, NULL, 0);
		break;
	case K_UNLINK:
		if (name)
			put(CRASH_UNLINK, 0, 0, 0, name, NULL, NULL, 0);
		break;
	default:
		break;
	}
}

static void after_inode(struct task *task)
{
	struct call *c = &task->call;
	char path[PATH_MAX];
	struct stat st;
	bool ours;

	if (c->kind == K_TRUNCATE || c->kind == K_CHMOD || (c->kind == K_UTIMENS && c->path[0]))
		/* with its last link followed; where it was not, a symlink has neither */
		ours = c->path[0] && realpath(c->path, path) && below_root(path) && !stat(path, &st);
	else
		ours = fd_is_ours(task->pid, c->fd, &st);
	if (!ours)
		return;
	switch (c->kind) {
	case K_FTRUNCATE:
	case K_TRUNCATE:
		put(CRASH_TRUNCATE, st.st_ino, (uint64_t)st.st_size, mtime_of(&st), NULL, NULL, NULL, 0);
		break;
	case K_FALLOCATE:
		if (c->arg[1] & ~1u)
			put(CRASH_UNSEEN, 0, 0, 0, "a hole or a shift by fallocate", NULL, NULL, 0);
		else
			put(CRASH_TRUNCATE, st.st_ino, (uint64_t)st.st_size, mtime_of(&st), NULL, NULL,
			    NULL, 0);
		break;
	case K_FCHMOD:
	case K_CHMOD:
		put(CRASH_MODE, st.st_ino, st.st_mode, 0, NULL, NULL, NULL, 0);
		break;
	case K_UTIMENS:
		put(CRASH_TIME, st.st_ino, 0, mtime_of(&st), NULL, NULL, NULL, 0);
		break;
	case K_FSYNC:
	case K_DATASYNC:
		if (!ignore_fsync)
			put(c->kind == K_FSYNC ? CRASH_FSYNC : CRASH_DATASYNC, st.st_ino, 0, 0, NULL,
			    NULL, NULL, 0);
		break;
	case K_MMAP:
		put(CRASH_UNSEEN, 0, 0, 0, "a writable shared mapping", NULL, NULL, 0);
		break;
	default:
		break;
	}
}

static void after(struct task *task, int64_t result)
{
	if (result < 0 && task->call.kind != K_MMAP)
		return;
	switch (task->call.kind) {
	case K_OPEN:
		after_open(task, (int)result);
		break;
	case K_MKDIR:
	case K_SYMLINK:
	case K_LINK:
	case K_RENAME:
	case K_UNLINK:
		after_name(task);
		break;
	case K_WRITE:
	case K_PWRITE:
	case K_WRITEV:
	case K_PWRITEV:
		after_write(task, (size_t)result);
		break;
	case K_COPY:
		after_copy(task, (size_t)result);
		break;
	case K_SYNC:
		if (!ignore_fsync)
			put(CRASH_SYNC, 0, 0, 0, NULL, NULL, NULL, 0);
		break;
	case K_URING:
		put(CRASH_UNSEEN, 0, 0, 0, "io_uring", NULL, NULL, 0);
		break;
	default:
		after_inode(task);
		break;
	}
}

/* ---- tracing ------------------------------------------------------------------------------- */

static struct task *find_task(pid_t pid)
{
	struct task *free_one = NULL;

	for (int i = 0; i < MAX_TASKS; i++) {
		if (tasks[i].pid == pid)
			return &tasks[i];
		if (!tasks[i].pid && !free_one)
			free_one = &tasks[i];
	}
	if (!free_one) {
		errno = EAGAIN;
		die("too many threads");
	}
	memset(free_one, 0, sizeof(*free_one));
	free_one->pid = pid;
	return free_one;
}

static void go_on(struct task *task, int sig)
{
	ptrace(PTRACE_SYSCALL, task->pid, 0, sig); /* it may have been killed */
}

/* One at a time: paths are resolved when it is a call's turn, all else is as it will be then. */
static void enter(struct task *task)
{
	if (busy) {
		task->waiting = true;
		return;
	}
	task->waiting = false;
	classify(task);
	if (task->call.kind != K_NONE)
		busy = task;
	go_on(task, 0);
}

static bool may_matter(uint64_t nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return true;
	return false;
}

static void next_turn(void)
{
	busy = NULL;
	for (int i = 0; i < MAX_TASKS && !busy; i++)
		if (tasks[i].pid && tasks[i].waiting)
			enter(&tasks[i]);
}

static void on_syscall(struct task *task)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->pid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		task->entered = true;
		task->call.kind = K_NONE;
		task->call.nr = info.entry.nr;
		memcpy(task->call.arg, info.entry.args, sizeof(task->call.arg));
		if (may_matter(info.entry.nr))
			enter(task);
		else
			go_on(task, 0);
		return;
	}
	if (task->entered && task->call.kind != K_NONE)
		after(task, info.exit.rval);
	task->entered = false;
	go_on(task, 0);
	if (busy == task)
		next_turn();
}

static void gone(struct task *task)
{
	bool was_busy = busy == task;

	task->pid = 0;
	task->waiting = false;
	if (was_busy)
		next_turn();
}

/* Until the process that was started, and all others, are gone; its exit status. */
static int trace(pid_t child)
{
	int status, result = 125;

	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);
		struct task *task;
		int sig;

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return result;
		task = find_task(pid);
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid == child)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			gone(task);
			continue;
		}
		sig = WSTOPSIG(status);
		if (sig == (SIGTRAP | 0x80))
			on_syscall(task);
		else if (sig == SIGTRAP || (sig == SIGSTOP && !task->entered))
			go_on(task, 0); /* events of ptrace, the first stop of a new one */
		else
			go_on(task, sig);
	}
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		_exit(EXIT_SKIP);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	const char *env = getenv("CRASH_IGNORE_FSYNC");
	int status, result;
	pid_t pid;

	if (argc < 4 || !realpath(argv[2], root)) {
		fprintf(stderr, "usage: crash-record <log> <root> <command>...\n");
		return 125;
	}
	root_len = strlen(root);
	ignore_fsync = env && !strcmp(env, "1");
	log_file = fopen(argv[1], "wbe");
	if (!log_file)
		die(argv[1]);
	fputs(CRASH_MAGIC, log_file);
	snap(root);
	fflush(log_file);
	pid = start(argv + 3);
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	if (WIFEXITED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0) {
		fprintf(stderr, "crash-record: ptrace is not allowed here\n");
		return EXIT_SKIP;
	}
	find_task(pid);
	ptrace(PTRACE_SYSCALL, pid, 0, 0);
	result = trace(pid);
	if (fclose(log_file))
		die("unable to write the log");
	return result;
}
