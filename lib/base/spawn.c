/* SPDX-License-Identifier: MIT */
#include "base/spawn.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
	EXIT_NOT_FOUND = 127,
	STOP_INTERVAL = 100, /* milliseconds */
};

bool spawn_available(const char *program)
{
	const char *path = getenv("PATH");
	struct strbuf file = STRBUF_INIT;
	bool found = false;

	while (path && *path && !found) {
		size_t dir = strcspn(path, ":");

		strbuf_reset(&file);
		strbuf_add(&file, path, dir);
		strbuf_addch(&file, '/');
		strbuf_addstr(&file, program);
		found = dir && !access(file.buf, X_OK);
		path += dir;
		path += *path == ':';
	}
	strbuf_release(&file);
	return found;
}

int spawn_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void exec_captured(int in, int fd, const struct spawn_opts *opts, const char *const argv[])
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	struct rlimit limit = { opts->file_limit, opts->file_limit };

	if (opts->file_limit)
		(void)setrlimit(RLIMIT_FSIZE, &limit);
	/* It must not go on writing when nothing waits for it any more. */
	(void)prctl(PR_SET_PDEATHSIG, opts->tidies ? SIGTERM : SIGKILL);
	if (null < 0 || dup2(in < 0 ? null : in, 0) < 0 ||
	    (!opts->shown && dup2(opts->told ? fd : null, 2) < 0) ||
	    dup2(opts->output > 0 ? opts->output : fd, 1) < 0)
		_exit(126);
	if (opts->dir && chdir(opts->dir) < 0)
		_exit(126);
	/* What is read is never translated; the character set, which filters see, stays. */
	(void)setenv("LANGUAGE", "C", 1);
	for (size_t i = 0; opts->env && opts->env[i]; i++)
		(void)putenv((char *)opts->env[i]);
	execvp(argv[0], (char *const *)argv);
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : 126);
}

/* False: there is no output yet, and it should be killed. */
static bool wait_for_output(int fd, spawn_stop_fn stop, void *payload)
{
	struct pollfd output = { .fd = fd, .events = POLLIN };

	while (stop && poll(&output, 1, STOP_INTERVAL) <= 0)
		if (stop(payload))
			return false;
	return true;
}

/* fork(2) with a pipe between the two, or -1 with the error set. */
static pid_t fork_with_pipe(int pipefd[2], const char *name)
{
	pid_t pid;

	if (pipe2(pipefd, O_CLOEXEC) < 0) {
		(void)ckpt_error_errno("unable to create a pipe");
		return -1;
	}
	pid = fork();
	if (pid < 0) {
		(void)ckpt_error_errno("unable to start '%s'", name);
		close(pipefd[0]);
		close(pipefd[1]);
	}
	return pid;
}

/* `in` is what it reads; -1: nothing. */
static int run_captured(struct strbuf *out, int in, const struct spawn_opts *opts,
			const char *const argv[])
{
	int pipefd[2], status;
	bool stopped = false;
	pid_t pid;

	pid = fork_with_pipe(pipefd, argv[0]);
	if (pid < 0)
		return CKPT_ERROR;
	if (!pid)
		exec_captured(in, pipefd[1], opts, argv);
	close(pipefd[1]);
	if (opts->pid_out)
		*opts->pid_out = pid;
	for (;;) {
		ssize_t n;

		stopped = !wait_for_output(pipefd[0], opts->stop, opts->payload);
		if (stopped) {
			kill(pid, SIGKILL);
			break;
		}
		strbuf_grow(out, 65536);
		n = read(pipefd[0], out->buf + out->len, out->alloc - out->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		strbuf_setlen(out, out->len + (size_t)n);
		if (opts->heard)
			opts->heard(out->buf + out->len - n, (size_t)n, opts->payload);
	}
	close(pipefd[0]);
	status = spawn_wait(pid);
	if (opts->status_out)
		*opts->status_out = status;
	if (stopped && cancel_check())
		return CKPT_ECANCELLED;
	if (stopped)
		return ckpt_error_set(CKPT_ELOCKED, "'%s' was stopped", argv[0]);
	if (status == EXIT_NOT_FOUND)
		return ckpt_error_set(CKPT_ENOTFOUND, "unable to run '%s': not found", argv[0]);
	if (status)
		return ckpt_error_set(CKPT_ERROR, "'%s %s' failed with status %d", argv[0],
				      argv[1] ? argv[1] : "", status);
	return 0;
}

int spawn_capture(struct strbuf *out, const char *dir, const char *const argv[])
{
	const struct spawn_opts opts = { .dir = dir };

	return run_captured(out, -1, &opts, argv);
}

int spawn_run(struct strbuf *out, const struct spawn_opts *opts, const char *const argv[])
{
	int fd, err;

	if (!opts->input)
		return run_captured(out, -1, opts, argv);
	/* A file in memory rather than a pipe: it need not be written while it is read. */
	fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || fs_write_all(fd, opts->input, opts->input_len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		err = ckpt_error_errno("unable to store the input of '%s'", argv[0]);
	else
		err = run_captured(out, fd, opts, argv);
	fs_close(fd);
	return err;
}

int spawn_sink(pid_t *pid_out, int *fd_out, const char *command)
{
	int pipefd[2];
	pid_t pid;

	pid = fork_with_pipe(pipefd, command);
	if (pid < 0)
		return CKPT_ERROR;
	if (!pid) {
		if (dup2(pipefd[0], 0) < 0)
			_exit(126);
		env_restore_umask();
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(EXIT_NOT_FOUND);
	}
	close(pipefd[0]);
	*pid_out = pid;
	*fd_out = pipefd[1];
	return 0;
}

int spawn_shell(const char *command, const char *dir)
{
	pid_t pid = fork();

	if (pid < 0)
		return EXIT_NOT_FOUND;
	if (!pid) {
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		/* stdout is the answer of this program, not of the command. */
		if (null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0 || chdir(dir) < 0)
			_exit(126);
		env_restore_umask();
		env_restore_path();
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(EXIT_NOT_FOUND);
	}
	return spawn_wait(pid);
}

static void exec_editor(const char *command, const char *path)
{
	char *line = xstrfmt("%s \"$@\"", command);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* What is left in a pipe are answers for us. */
	if ((!isatty(STDIN_FILENO) && (null < 0 || dup2(null, 0) < 0)) || dup2(2, 1) < 0)
		_exit(126);
	env_restore_umask();
	execl("/bin/sh", "sh", "-c", line, command, path, (char *)NULL);
	_exit(EXIT_NOT_FOUND);
}

int spawn_editor(const char *command, const char *path)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	int status = EXIT_NOT_FOUND;
	pid_t pid;

	sigemptyset(&ignore.sa_mask);
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	pid = fork();
	if (!pid) {
		/* A handler becomes the default. */
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		exec_editor(command, path);
	}
	if (pid > 0)
		status = spawn_wait(pid);
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return status;
}

bool spawn_detached(const char *const argv[])
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid;

	if (null < 0 || access(argv[0], X_OK) < 0) {
		fs_close(null);
		return false;
	}
	/* Other threads may be at work: nothing here may need what they hold. */
	pid = fork();
	if (!pid) {
		setsid();
		if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
			_exit(126);
		/* What others gave us, a lock for example, must not live as long as this. */
		(void)close_range(3, ~0U, 0);
		/* Another call of this program must find the same store and the same settings. */
		env_restore_umask();
		execve(argv[0], (char *const *)argv, env_given());
		_exit(EXIT_NOT_FOUND);
	}
	close(null);
	return pid > 0;
}
