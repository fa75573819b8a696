/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_PROC_H
#define CKPT_BASE_PROC_H

#include "base/strlist.h"

/**
 * The ancestors and the descendants of a process, as /proc shows them.
 *
 * Pids are reused; together with its start time a pid identifies one process
 * (until the next boot).
 */
struct proc {
	pid_t pid;
	pid_t parent;
	pid_t session;
	uint64_t start;      /**< in clock ticks since boot */
	char *name;          /**< of the program, as the kernel keeps it: up to 15 bytes */
	struct strlist argv; /**< as it is now; only the beginning if it is very long; may be empty */
};

struct proc_list {
	struct proc *items;
	size_t nr, alloc;
};

/**
 * Look up one process below `root`, which is "/proc" except in tests.
 * CKPT_ENOTFOUND if it does not exist, CKPT_ERROR if its data is malformed.
 * `out` must be released in any case.
 */
int proc_read(struct proc *out, const char *root, pid_t pid);
void proc_release(struct proc *proc);

/**
 * The ancestors of `pid`, nearest first, without `pid` and without processes that cannot be
 * read. Never fails: without /proc the list is empty.
 */
void proc_ancestors(struct proc_list *out, const char *root, pid_t pid);

/** The same for all that it has started, and what these have; without their `argv`. */
void proc_descendants(struct proc_list *out, const char *root, pid_t pid);
void proc_list_release(struct proc_list *list);

/** True if the process that started at `start` still has that pid. */
bool proc_alive(const char *root, pid_t pid, uint64_t start);

/**
 * Who holds a flock(2) on the open file `fd`, for a message: "process 4711
 * (git-checkpoint save)", or "another process" if /proc does not tell. The
 * caller frees it.
 */
char *proc_lock_holder(const char *root, int fd);

#endif
