/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include "session/session.h"

#include <signal.h>
#include <sys/wait.h>

enum {
	NOT_EXECUTABLE = 126,
	NOT_FOUND = 127,
	ECHO_NS = 100 * 1000 * 1000, /* how far apart two signals may be that are the same */
	ECHOES_MAX = 20,
};

/* What would end or stop us, and what continues us. */
static const int passed[] = { SIGHUP,  SIGINT,	SIGQUIT, SIGTERM,
			      SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT };

/* The original signal handlers. */
struct signals {
	sigset_t waited; /* those passed on, and SIGCHLD */
	sigset_t mask;
};

static struct sigaction pipe_before = { .sa_handler = SIG_DFL };

void run_unheard(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN };

	sigaction(SIGPIPE, &action, &pipe_before);
}

/* From here on they are held until asked for. */
static void signals_hold(struct signals *signals)
{
	sigemptyset(&signals->waited);
	sigaddset(&signals->waited, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		sigaddset(&signals->waited, passed[i]);
	sigprocmask(SIG_BLOCK, &signals->waited, &signals->mask);
}

static void signals_let_go(const struct signals *signals)
{
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

/* In the child: as we found them. Our handlers must not swallow a signal that comes before exec. */
static void signals_give_back(const struct signals *signals)
{
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++) {
		struct sigaction action;

		if (!sigaction(passed[i], NULL, &action) && action.sa_handler != SIG_IGN)
			signal(passed[i], SIG_DFL);
	}
	sigaction(SIGPIPE, &pipe_before, NULL);
	cancel_give_back_child();
	signals_let_go(signals);
}

/* What git says of one repository means nothing in another directory. */
static void leave_repository(const char *dir)
{
	static const char *const names[] = {
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR",
		"GIT_GRAFT_FILE",		    "GIT_INDEX_FILE", "GIT_INDEX_VERSION",
		"GIT_NAMESPACE",		    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
		"GIT_QUARANTINE_PATH",		    "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
		"OLDPWD",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
	setenv("PWD", dir, 1);
}

/* Does not return; why it failed is written to `fd`, which exec closes. */
static void exec_child(char *const argv[], const char *dir, unsigned flags,
		       const struct signals *signals, int fd)
{
	int null = -1;

	if (flags & RUN_ASIDE)
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if ((!(flags & RUN_ASIDE) || (null >= 0 && dup2(null, 0) >= 0)) &&
	    (!(flags & (RUN_ASIDE | RUN_TO_STDERR)) || dup2(2, 1) >= 0)) {
		environ = env_given();
		if (flags & RUN_APART)
			leave_repository(dir);
		if (!dir || !chdir(dir)) {
			signals_give_back(signals);
			env_restore_umask();
			execvp(argv[0], argv);
		}
	}
	/* If it cannot be reported, the status must do. */
	(void)!write(fd, &errno, sizeof(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* True if the shell waits for us with the terminal in our hands. */
static bool in_foreground(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	bool foreground = fd >= 0 && tcgetpgrp(fd) == getpgrp();

	fs_close(fd);
	return foreground;
}

/* The state of the command has changed: true if it has ended. */
static bool look_after(int *status, pid_t pid, bool asked_to_stop)
{
	for (;;) {
		pid_t got = waitpid(pid, status, WNOHANG | WUNTRACED);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			*status = 0;
			return true;
		}
		if (!got)
			return false;
		if (!WIFSTOPPED(*status))
			return true;
		/* Elsewhere nothing would know that we must be continued along with it. */
		if (asked_to_stop || in_foreground())
			raise(SIGSTOP);
	}
}

/* Wait for the command, and pass on what is sent to us meanwhile; true if something was. */
static bool attend_child(int *status, pid_t pid, const sigset_t *waited)
{
	bool told = false, asked_to_stop = false;

	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(waited, &info);

		if (sig < 0)
			continue;
		if (sig == SIGCHLD) {
			if (look_after(status, pid, asked_to_stop))
				return told;
			continue;
		}
		if (sig == SIGTSTP || sig == SIGCONT)
			asked_to_stop = sig == SIGTSTP;
		/* What the kernel sends on behalf of the terminal goes to the whole group. */
		if (info.si_code > 0)
			continue;
		kill(pid, sig);
		told = told || sig != SIGCONT;
	}
}

/*
 * A sender that signals a process and then its group, as timeout(1) does,
 * signals us twice; the command may be gone before the second one arrives.
 * That must not stop what is done next.
 */
static void drop_echoes(const sigset_t *waited, bool told)
{
	struct timespec wait = { 0, told ? ECHO_NS : 0 };

	for (int i = 0; i < ECHOES_MAX && sigtimedwait(waited, NULL, &wait) > 0; i++)
		;
}

static int start_child(pid_t *pid_out, int *error_out, char *const argv[], const char *dir,
		       unsigned flags, const struct signals *signals)
{
	int pipefd[2];
	ssize_t got;

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return ckpt_error_errno("unable to create a pipe");
	*pid_out = fork();
	if (*pid_out < 0) {
		int err = ckpt_error_errno("unable to start '%s'", argv[0]);

		close(pipefd[0]);
		close(pipefd[1]);
		return err;
	}
	if (!*pid_out)
		exec_child(argv, dir, flags, signals, pipefd[1]);
	close(pipefd[1]);
	got = fs_read_full(pipefd[0], error_out, sizeof(*error_out));
	if (got != sizeof(*error_out))
		*error_out = 0;
	close(pipefd[0]);
	return 0;
}

int run_child(struct run_child *out, char *const argv[], const char *dir, unsigned flags)
{
	double begin = clock_monotonic();
	struct signals signals;
	int status = 0, err;
	pid_t pid = -1;

	memset(out, 0, sizeof(*out));
	signals_hold(&signals);
	/* Up to here a signal was for us; from here on it is for the command. */
	err = cancel_check();
	if (!err)
		err = start_child(&pid, &out->error, argv, dir, flags, &signals);
	if (!err) {
		bool told = attend_child(&status, pid, &signals.waited);

		drop_echoes(&signals.waited, told);
		out->started = !out->error;
		out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		out->exit_status = out->signal ? 128 + out->signal : WEXITSTATUS(status);
	}
	signals_let_go(&signals);
	out->seconds = clock_monotonic() - begin;
	return err;
}

int run_find_again(struct session *out, const char *worktree, mode_t mode)
{
	int err = session_open(out, SESSION_STORE);

	if (!err && !strcmp(out->worktree, worktree))
		return 0;
	if (!err)
		session_close(out);
	if ((mkdir(worktree, mode & 07777) < 0 && errno != EEXIST) || chdir(worktree) < 0)
		return ckpt_error_errno("unable to go back to '%s'", worktree);
	err = session_open(out, SESSION_STORE);
	if (!err && strcmp(out->worktree, worktree)) {
		err = ckpt_error_set(CKPT_ERROR, "'%s' now belongs to the working directory '%s'",
				     worktree, out->worktree);
		session_close(out);
	}
	return err;
}
