/* SPDX-License-Identifier: MIT */
#include "base/spawn.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/quote.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
	SAID_MAX = 4096, /* bytes of stderr to keep */
	LINES_SHOWN = 10,
	DRAIN_MAX = 1 << 20, /* read from stderr after the end; do not wait for whoever goes on
				 * writing */
	ROUND_MS = 200,	     /* how often ^C and the deadline are checked */
	END_ROUND_MS = 5,    /* how often to check whether it has ended */
	GRACE_ROUNDS = 200,  /* of END_ROUND_MS, between SIGTERM and SIGKILL */
};

struct command {
	pid_t pid;
	int in, out, err; /* our ends, -1: closed */
	double deadline;  /* 0: none */
	int64_t timeout;
	const char *name;
	int (*take)(const void *data, size_t len, void *payload);
	void *payload;
	struct strbuf said;
	char *piece;
	struct sigaction old_pipe;
};

static void close_fd(int *fd)
{
	fs_close(*fd);
	*fd = -1;
}

/* --- starting --- */

static void exec_shell(const struct command_opts *opts, int in, int out, int err)
{
	/* Without a terminal a command that wants to ask for a password fails instead of hanging. */
	setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	env_restore_umask();
	env_restore_path();
	/* Ignored, by us or by our caller, it would make `dump | head` complain. */
	signal(SIGPIPE, SIG_DFL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || chdir(opts->dir) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", opts->command, (char *)NULL);
	_exit(127);
}

/* One end for the command, and ours, which does not block. */
static int make_pipe(int *theirs, int *ours, bool we_write)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ckpt_error_errno("unable to create a pipe");
	*theirs = fds[we_write ? 0 : 1];
	*ours = fds[we_write ? 1 : 0];
	if (fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
		return ckpt_error_errno("unable to set up a pipe");
	return 0;
}

int command_start(struct command **out, const struct command_opts *opts)
{
	struct command *command = xcalloc(1, sizeof(*command));
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int in = -1, to = -1, said = -1, err;

	command->in = command->out = command->err = -1;
	command->take = opts->take;
	command->payload = opts->payload;
	command->timeout = opts->timeout;
	command->name = opts->name ? opts->name : "the command";
	command->deadline = opts->timeout ? clock_monotonic() + (double)opts->timeout : 0;
	command->piece = xmalloc(FS_CHUNK);
	strbuf_init(&command->said);
	/* A command that stops reading must not kill us. */
	sigaction(SIGPIPE, &ignore, &command->old_pipe);
	err = make_pipe(&said, &command->err, false);
	if (!err && opts->take) {
		err = make_pipe(&to, &command->out, false);
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} else if (!err) {
		err = make_pipe(&in, &command->in, true);
	}
	if (!err) {
		command->pid = fork();
		if (!command->pid)
			exec_shell(opts, in, to < 0 ? said : to, said);
		if (command->pid < 0)
			err = ckpt_error_errno("unable to start '%s'", opts->command);
	}
	close_fd(&in);
	close_fd(&to);
	close_fd(&said);
	if (err)
		command_free(command);
	else
		*out = command;
	return err;
}

/* --- ending it --- */

/* True if it has ended; it is not reaped yet, so that its pid still names it and its group. */
static bool has_ended(const struct command *command)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid == command->pid;
}

/* True if it has failed: further output is of no use. */
static bool has_failed(const struct command *command)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid == command->pid && (info.si_code != CLD_EXITED || info.si_status);
}

static int reap_shell(struct command *command)
{
	int status = 0;

	while (waitpid(command->pid, &status, 0) < 0 && errno == EINTR)
		;
	command->pid = 0;
	return status;
}

static void send_all(const struct command *command, int sig)
{
	/* Not a process group yet: only in the first moment. */
	if (kill(-command->pid, sig) < 0)
		kill(command->pid, sig);
}

static void end_all(struct command *command)
{
	struct timespec pause = { .tv_nsec = END_ROUND_MS * 1000000L };

	if (command->pid <= 0)
		return;
	send_all(command, SIGTERM);
	close_fd(&command->in);
	close_fd(&command->out);
	close_fd(&command->err);
	for (int i = 0; i < GRACE_ROUNDS && !has_ended(command); i++)
		nanosleep(&pause, NULL);
	/* Even if the shell is gone: what it started may not have listened. */
	send_all(command, SIGKILL);
	reap_shell(command);
}

void command_free(struct command *command)
{
	if (!command)
		return;
	end_all(command);
	close_fd(&command->in);
	close_fd(&command->out);
	close_fd(&command->err);
	sigaction(SIGPIPE, &command->old_pipe, NULL);
	strbuf_release(&command->said);
	free(command->piece);
	free(command);
}

/* --- while it runs --- */

static void keep_tail(struct command *command, const char *data, size_t len)
{
	struct strbuf *said = &command->said;

	if (len > SAID_MAX) {
		data += len - SAID_MAX;
		len = SAID_MAX;
	}
	strbuf_add(said, data, len);
	if (said->len > SAID_MAX) {
		memmove(said->buf, said->buf + said->len - SAID_MAX, SAID_MAX);
		strbuf_setlen(said, SAID_MAX);
	}
}

/* Bytes read; 0 if there are none now; closes at the end. */
static size_t read_some(struct command *command, int *fd)
{
	ssize_t n = read(*fd, command->piece, FS_CHUNK);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_fd(fd);
	return n > 0 ? (size_t)n : 0;
}

static int check_time(struct command *command)
{
	char text[CLOCK_ISO_SIZE];

	if (cancel_signal()) {
		end_all(command);
		return ckpt_error_set(CKPT_ECANCELLED, "interrupted");
	}
	if (!command->deadline || clock_monotonic() < command->deadline)
		return 0;
	end_all(command);
	return ckpt_error_set(CKPT_ERROR, "%s did not finish within %s and was killed",
			      command->name,
			      clock_format_duration(text, command->timeout));
}

/* Wait until something can be read, or written if `write`; read its output and stderr. */
static int pass_output(struct command *command, bool write, int round_ms)
{
	struct pollfd fds[3] = {
		{ .fd = command->err, .events = POLLIN },
		{ .fd = command->out, .events = POLLIN },
		{ .fd = write ? command->in : -1, .events = POLLOUT },
	};
	int err = check_time(command);
	size_t len;

	if (err)
		return err;
	if (poll(fds, 3, round_ms) < 0 && errno != EINTR)
		return ckpt_error_errno("unable to wait for %s", command->name);
	if (command->err >= 0 && fds[0].revents) {
		len = read_some(command, &command->err);
		keep_tail(command, command->piece, len);
	}
	if (command->out >= 0 && fds[1].revents) {
		len = read_some(command, &command->out);
		if (len)
			err = command->take(command->piece, len, command->payload);
	}
	return err;
}

int command_write(struct command *command, const void *data, size_t len)
{
	const char *p = data;
	int err = 0;

	while (len && !err && command->in >= 0) {
		ssize_t n = write(command->in, p, len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			close_fd(&command->in);
			break;
		}
		/* Even if it takes everything at once: ^C and the deadline must be checked. */
		err = pass_output(command, true, len ? ROUND_MS : 0);
	}
	return err;
}

static int set_how_it_ended(const char *name, int status)
{
	if (WIFSIGNALED(status))
		return ckpt_error_set(CKPT_ERROR, "%s was killed by signal %d "
						  "(%s)", name, WTERMSIG(status),
				      strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		return ckpt_error_set(CKPT_ERROR, "%s failed with status %d", name,
				      WEXITSTATUS(status));
	return 0;
}

int command_finish(struct command *command)
{
	size_t drained = 0, len = 1;
	int err = 0;

	close_fd(&command->in);
	/* Its output is complete when no process can print any more. */
	while (!err && command->out >= 0 && !has_failed(command))
		err = pass_output(command, false, ROUND_MS);
	while (!err && !has_ended(command))
		err = pass_output(command, false, END_ROUND_MS);
	if (err) {
		end_all(command);
		return err;
	}
	while (command->err >= 0 && len && drained < DRAIN_MAX) {
		len = read_some(command, &command->err);
		keep_tail(command, command->piece, len);
		drained += len;
	}
	return set_how_it_ended(command->name, reap_shell(command));
}

void command_said(struct strbuf *out, const struct command *command)
{
	struct strbuf clean = STRBUF_INIT;
	const char *from;
	int lines = 0;

	utf8_printable(&clean, command->said.buf, command->said.len, "\n\t", '?');
	strbuf_trim(&clean);
	for (from = clean.buf + clean.len; from > clean.buf; from--)
		if (from[-1] == '\n' && ++lines == LINES_SHOWN)
			break;
	if (*from)
		strbuf_addf(out, "\n%s", from);
	strbuf_release(&clean);
}
