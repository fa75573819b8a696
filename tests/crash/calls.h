/* SPDX-License-Identifier: MIT */
#ifndef CRASH_CALLS_H
#define CRASH_CALLS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** What the calls of a traced process do to files, and writing it to the log. */

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
	uint64_t flags; /* of an open */
};

struct task {
	pid_t pid;
	bool entered; /* between the stops before and after a call */
	bool waiting; /* stopped before a call that has to wait for its turn */
	struct call call;
};

/** False: the call with this number changes no file. */
bool call_may_matter(uint64_t nr);

/**
 * Before the call, of which number and arguments are set: fills in the rest. The kind is K_NONE if
 * it changes nothing that is recorded; else no other call may run until call_leave().
 */
void call_enter(struct task *task);

/** After it: what it did goes to the log. */
void call_leave(struct task *task, int64_t result);

#endif
