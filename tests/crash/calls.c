/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include "logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static bool ignores_fsync(void)
{
	const char *env = getenv("CRASH_IGNORE_FSYNC");

	return env && !strcmp(env, "1");
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

	return fd_path(pid, fd, path) && log_below_root(path) && fd_stat(pid, fd, st) &&
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
		log_die(name);
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
void call_enter(struct task *task)
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
		log_put(CRASH_NOTE, 0, 0, 0, c->path + strlen(CRASH_MARK), NULL, NULL, 0);
	/* A pipe may block: only what is below the root has to wait for its turn. */
	if (calls[i].path < 0 && calls[i].fd >= 0) {
		struct stat st;

		if (!fd_is_ours(task->pid, c->fd, &st))
			c->kind = K_NONE;
	}
	if (c->kind == K_OPEN && !log_below_root(c->path))
		c->kind = K_NONE; /* also what leads into the root through a link at the end */
}

bool call_may_matter(uint64_t nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return true;
	return false;
}

/* ---- after the call ------------------------------------------------------------------------ */

static void put_write(struct task *task, uint64_t offset, const void *data, size_t len)
{
	struct stat st;

	if (len && fd_is_ours(task->pid, task->call.fd, &st))
		log_put(CRASH_WRITE, st.st_ino, offset, log_mtime(&st), NULL, NULL, data, len);
}

static void after_write(struct task *task, size_t len)
{
	struct call *c = &task->call;
	bool at = c->kind == K_PWRITE || c->kind == K_PWRITEV;
	uint64_t offset = at ? c->arg[3] : fd_position(task->pid, c->fd) - len;
	char *data = malloc(len + 1);
	size_t done = 0;

	if (!data)
		log_die("malloc");
	if (c->kind == K_WRITE || c->kind == K_PWRITE) {
		if (!peek(task->pid, c->arg[1], data, len))
			log_die("unable to read what was written");
	} else {
		for (uint64_t i = 0; i < c->arg[2] && done < len; i++) {
			struct iovec part;

			if (!peek(task->pid, c->arg[1] + i * sizeof(part), &part, sizeof(part)))
				log_die("unable to read what was written");
			if (part.iov_len > len - done)
				part.iov_len = len - done;
			if (!peek(task->pid, (uintptr_t)part.iov_base, data + done, part.iov_len))
				log_die("unable to read what was written");
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
			log_die("unable to read an offset");
		offset -= len;
	} else {
		offset = fd_position(task->pid, c->fd) - len;
	}
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)task->pid, c->fd);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (!data || fd < 0 || pread(fd, data, len, (off_t)offset) != (ssize_t)len)
		log_die("unable to read back what was copied");
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
	name = log_below_root(path);
	if ((task->call.flags & O_TMPFILE) == O_TMPFILE)
		log_put(CRASH_CREATE, st.st_ino, st.st_mode, log_mtime(&st), "", NULL, NULL, 0);
	else if (task->call.flags & O_CREAT) /* replay knows whether it was there */
		log_put(CRASH_CREATE, st.st_ino, st.st_mode, log_mtime(&st), name, NULL, NULL, 0);
	if (task->call.flags & O_TRUNC)
		log_put(CRASH_TRUNCATE, st.st_ino, 0, log_mtime(&st), NULL, NULL, NULL, 0);
}

static void after_name(struct task *task)
{
	struct call *c = &task->call;
	const char *name = log_below_root(c->path), *name2 = log_below_root(c->path2);
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;

	switch (c->kind) {
	case K_MKDIR:
		if (name && !lstat(c->path, &st))
			log_put(CRASH_CREATE, st.st_ino, st.st_mode, log_mtime(&st), name, NULL, NULL, 0);
		break;
	case K_SYMLINK:
		if (!name || lstat(c->path, &st) < 0)
			break;
		len = readlink(c->path, target, sizeof(target));
		log_put(CRASH_CREATE, st.st_ino, st.st_mode, log_mtime(&st), name, NULL, target,
		    len < 0 ? 0 : (size_t)len);
		break;
	case K_LINK:
		if (name2 && !lstat(c->path2, &st))
			log_put(CRASH_LINK, st.st_ino, 0, 0, name2, NULL, NULL, 0);
		break;
	case K_RENAME:
		if (name && name2)
			log_put(CRASH_RENAME, 0, c->nr == SYS_renameat2 ? c->arg[4] : 0, 0, name, name2,
			    NULL, 0);
		else if (name || name2)
			log_put(CRASH_UNSEEN, 0, 0, 0, "a rename across the root", NULL, NULL, 0);
		break;
	case K_UNLINK:
		if (name)
			log_put(CRASH_UNLINK, 0, 0, 0, name, NULL, NULL, 0);
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
		ours = c->path[0] && realpath(c->path, path) && log_below_root(path) && !stat(path, &st);
	else
		ours = fd_is_ours(task->pid, c->fd, &st);
	if (!ours)
		return;
	switch (c->kind) {
	case K_FTRUNCATE:
	case K_TRUNCATE:
		log_put(CRASH_TRUNCATE, st.st_ino, (uint64_t)st.st_size, log_mtime(&st), NULL, NULL, NULL, 0);
		break;
	case K_FALLOCATE:
		if (c->arg[1] & ~1u)
			log_put(CRASH_UNSEEN, 0, 0, 0, "a hole or a shift by fallocate", NULL, NULL, 0);
		else
			log_put(CRASH_TRUNCATE, st.st_ino, (uint64_t)st.st_size, log_mtime(&st), NULL, NULL,
			    NULL, 0);
		break;
	case K_FCHMOD:
	case K_CHMOD:
		log_put(CRASH_MODE, st.st_ino, st.st_mode, 0, NULL, NULL, NULL, 0);
		break;
	case K_UTIMENS:
		log_put(CRASH_TIME, st.st_ino, 0, log_mtime(&st), NULL, NULL, NULL, 0);
		break;
	case K_FSYNC:
	case K_DATASYNC:
		if (!ignores_fsync())
			log_put(c->kind == K_FSYNC ? CRASH_FSYNC : CRASH_DATASYNC, st.st_ino, 0, 0, NULL,
			    NULL, NULL, 0);
		break;
	case K_MMAP:
		log_put(CRASH_UNSEEN, 0, 0, 0, "a writable shared mapping", NULL, NULL, 0);
		break;
	default:
		break;
	}
}

void call_leave(struct task *task, int64_t result)
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
		if (!ignores_fsync())
			log_put(CRASH_SYNC, 0, 0, 0, NULL, NULL, NULL, 0);
		break;
	case K_URING:
		log_put(CRASH_UNSEEN, 0, 0, 0, "io_uring", NULL, NULL, 0);
		break;
	default:
		after_inode(task);
		break;
	}
}
