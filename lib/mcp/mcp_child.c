/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_child_internal.h"

#include "base/base.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { SAID_MAX = 4096 };

/* This very program, even if another version was installed in its place meanwhile. */
#define PROGRAM "/proc/self/exe"

static void run(const struct mcp_child *child, int out, int dir, char **argv, char **environment)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(child->said, STDERR_FILENO) < 0 || fchdir(dir) < 0)
		_exit(126);
	signal(SIGPIPE, SIG_DFL);
	env_restore_umask();
	execve(PROGRAM, argv, environment);
	_exit(127);
}

static int spawn(struct mcp_child *child, const struct strlist *words, int dir)
{
	char **argv = xcalloc(words->nr + 2, sizeof(*argv)), **environment;
	int ends[2] = { -1, -1 }, err = 0;

	/* Paths are names, not patterns. */
	environment = env_given_for_directory("GIT_LITERAL_PATHSPECS=1");
	argv[0] = (char *)"git-checkpoint";
	memcpy(argv + 1, words->items, words->nr * sizeof(*argv));
	child->said = memfd_create("stderr", MFD_CLOEXEC);
	if (child->said < 0 || pipe2(ends, O_CLOEXEC) < 0)
		err = ckpt_error_errno("unable to run the command");
	child->pid = err ? -1 : fork();
	if (!child->pid)
		run(child, ends[1], dir, argv, environment);
	if (!err && child->pid < 0)
		err = ckpt_error_errno("unable to run the command");
	if (child->pid < 0)
		child->pid = 0;
	fs_close(ends[1]);
	if (err)
		fs_close(ends[0]);
	else
		child->out = ends[0];
	free(argv);
	free(environment);
	return err;
}

int mcp_child_start(struct mcp_child *out, const struct strlist *words, int dir, size_t limit)
{
	int err;

	*out = (struct mcp_child)MCP_CHILD_INIT;
	out->limit = limit;
	err = spawn(out, words, dir);
	if (err)
		mcp_child_release(out);
	return err;
}

void mcp_child_stop(struct mcp_child *child)
{
	if (child->pid)
		kill(child->pid, SIGTERM);
}

bool mcp_child_read(struct mcp_child *child)
{
	char piece[65536];
	ssize_t got = read(child->out, piece, sizeof(piece));

	if (got < 0)
		return errno != EINTR && errno != EAGAIN;
	if (child->overflowed || child->output.len + (size_t)got > child->limit)
		child->overflowed = true; /* read on, so that it can end by itself */
	else
		strbuf_add(&child->output, piece, (size_t)got);
	return got == 0;
}

/* The sentence of a failure comes last. */
static void last_line(struct strbuf *out, int fd)
{
	static const char *const kinds[] = { "fatal: ", "error: " };
	char text[SAID_MAX];
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t got = fs_pread_full(fd, text, sizeof(text),
				    size > (off_t)sizeof(text) ? size - (off_t)sizeof(text) : 0);
	ssize_t start;

	while (got > 0 && text[got - 1] == '\n')
		got--;
	for (start = got; start > 0 && text[start - 1] != '\n'; start--)
		;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (got - start > (ssize_t)strlen(kinds[i]) &&
		    !strncmp(text + start, kinds[i], strlen(kinds[i])))
			start += (ssize_t)strlen(kinds[i]);
	if (got > start)
		utf8_printable(out, text + start, (size_t)(got - start), "", '?');
}

int mcp_child_end(struct mcp_child *child, struct strbuf *said)
{
	int status = spawn_wait(child->pid);

	child->pid = 0;
	last_line(said, child->said);
	return status;
}

void mcp_child_release(struct mcp_child *child)
{
	if (child->pid) {
		mcp_child_stop(child);
		(void)spawn_wait(child->pid);
	}
	fs_close(child->out);
	fs_close(child->said);
	strbuf_release(&child->output);
	*child = (struct mcp_child)MCP_CHILD_INIT;
}
