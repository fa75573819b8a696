/* SPDX-License-Identifier: MIT */
#include "watch/watch_child_internal.h"

#include "base/base.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>

/* This very program, even if another version was installed in its place meanwhile. */
#define PROGRAM "/proc/self/exe"
#define NAME "git-checkpoint"

enum { ANSWER_MAX = 16 << 20 };

static void run(const struct watch_child *child, int dirfd, const char *reason, char **environment)
{
	const char *const argv[] = { NAME,    "save", "--automatic", "--json", "--source",
				     "watch", "-m",   reason,	     NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(child->out, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || fchdir(dirfd) < 0)
		_exit(126);
	env_restore_umask();
	execve(PROGRAM, (char *const *)argv, environment);
	_exit(127);
}

bool watch_child_start(struct watch_child *out, int dirfd, const char *reason)
{
	char **environment = env_given_for_directory(NULL);

	*out = (struct watch_child){ .pidfd = -1, .out = memfd_create("answer", MFD_CLOEXEC) };
	if (out->out >= 0)
		out->pid = fork();
	if (out->out >= 0 && !out->pid)
		run(out, dirfd, reason, environment);
	free(environment);
	if (out->pid > 0) {
		out->pidfd = pidfd_open(out->pid, 0);
		if (out->pidfd >= 0)
			return true;
		watch_child_stop(out);
		return false;
	}
	fs_close(out->out);
	*out = (struct watch_child){ .pid = 0, .pidfd = -1, .out = -1 };
	return false;
}

int watch_child_end(json_t **answer, struct watch_child *child)
{
	off_t size = lseek(child->out, 0, SEEK_END);
	struct strbuf text = STRBUF_INIT;
	int status = spawn_wait(child->pid);

	*answer = NULL;
	if (size > 0 && size < ANSWER_MAX) {
		strbuf_grow(&text, (size_t)size + 1);
		if (fs_pread_full(child->out, text.buf, (size_t)size, 0) == size)
			*answer = json_loadb(text.buf, (size_t)size, 0, NULL);
	}
	strbuf_release(&text);
	fs_close(child->out);
	fs_close(child->pidfd);
	*child = (struct watch_child){ .pid = 0, .pidfd = -1, .out = -1 };
	return status;
}

void watch_child_stop(struct watch_child *child)
{
	json_t *answer;

	if (!child->pid)
		return;
	kill(child->pid, SIGTERM);
	(void)watch_child_end(&answer, child);
	json_decref(answer);
}
