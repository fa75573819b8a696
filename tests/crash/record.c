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

#include "calls.h"
#include "logfile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TASKS = 512, EXIT_SKIP = 77 };

static struct task tasks[MAX_TASKS];
static struct task *busy; /* within a call that changes files */

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
		log_die("too many threads");
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
	call_enter(task);
	if (task->call.kind != K_NONE)
		busy = task;
	go_on(task, 0);
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
		if (call_may_matter(info.entry.nr))
			enter(task);
		else
			go_on(task, 0);
		return;
	}
	if (task->entered && task->call.kind != K_NONE)
		call_leave(task, info.exit.rval);
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
		log_die("fork");
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
	int status, result;
	pid_t pid;

	if (argc < 4) {
		fprintf(stderr, "usage: crash-record <log> <root> <command>...\n");
		return 125;
	}
	log_open(argv[1], argv[2]);
	pid = start(argv + 3);
	if (waitpid(pid, &status, 0) < 0)
		log_die("waitpid");
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
	log_close();
	return result;
}
