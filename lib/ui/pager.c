/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include "git/git.h"

#include <signal.h>

static pid_t pager_pid;
static int saved_stdout = -1;
static bool at_exit;

static const char *choose(const struct gitconfig *config)
{
	const char *command = env_git("GIT_PAGER");

	/* Not from the repository, and not from "git -c", which a caller can be made to pass on. */
	if (!command && config)
		command = gitconfig_get(config, "core.pager", GITCONFIG_GLOBAL);
	if (!command)
		command = getenv("PAGER");
	return command ? command : "less";
}

/*
 * False if the command is a plain word that is not a program: the shell would
 * complain and the output would be lost. Anything else is up to the shell.
 */
static bool can_run(const char *command)
{
	size_t len = strcspn(command, " \t");
	char *program;
	bool found;

	for (size_t i = 0; i < len; i++)
		if (strchr("|&;<>()$`\\\"'*?[#~=%!{/", command[i]))
			return true;
	program = xmemdupz(command, len);
	found = spawn_available(program);
	free(program);
	return found;
}

void pager_start(const struct gitconfig *config)
{
	const char *command;
	int fd;

	if (pager_pid || !isatty(STDOUT_FILENO))
		return;
	command = choose(config);
	command += strspn(command, " \t");
	if (!*command || !strcmp(command, "cat") || !can_run(command))
		return;
	fflush(stdout);
	progress_clear();
	saved_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (saved_stdout < 0)
		return;
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	/* Without a pager the answer is still an answer: not a failure. */
	if (spawn_sink(&pager_pid, &fd, command)) {
		pager_pid = 0;
		close(saved_stdout);
		saved_stdout = -1;
		return;
	}
	term_hold();
	dup2(fd, STDOUT_FILENO);
	close(fd);
	/* A user who quits the pager has seen enough; a caller may have had SIGPIPE ignored. */
	signal(SIGPIPE, SIG_DFL);
	if (!at_exit) {
		at_exit = true;
		atexit(pager_end);
	}
}

void pager_end(void)
{
	if (!pager_pid)
		return;
	fflush(stdout);
	/* Replaces the pipe, so that the pager sees the end of its input. */
	dup2(saved_stdout, STDOUT_FILENO);
	close(saved_stdout);
	saved_stdout = -1;
	spawn_wait(pager_pid);
	pager_pid = 0;
	term_unhold();
}

/* Let stdout be the terminal; returns what it was, or -1 if it is one already. */
static int turn_to_terminal(void)
{
	int was, tty;

	fflush(stdout);
	if (isatty(STDOUT_FILENO))
		return -1;
	was = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	tty = was < 0 ? -1 : open("/dev/tty", O_WRONLY | O_CLOEXEC);
	if (tty < 0) {
		fs_close(was);
		return -1;
	}
	dup2(tty, STDOUT_FILENO);
	close(tty);
	return was;
}

int pager_show(const struct gitconfig *config, int (*print)(void *payload), void *payload)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int was = turn_to_terminal(), err;

	sigaction(SIGPIPE, NULL, &before);
	pager_start(config);
	sigaction(SIGPIPE, &ignore, NULL);
	err = print(payload);
	fflush(stdout);
	pager_end();
	sigaction(SIGPIPE, &before, NULL);
	clearerr(stdout);
	if (was >= 0) {
		dup2(was, STDOUT_FILENO);
		close(was);
	}
	return err;
}
