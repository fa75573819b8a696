/* SPDX-License-Identifier: MIT */
/*
 * answer [-a] [-t <text>] <command> [<answer>...]
 *
 * Runs a shell command on a pseudo terminal of 80 columns. Each time it asks, which is when the last
 * thing on the terminal is "[y/N] " or "[y,n,...]? ", the next answer is typed. When there are none left,
 * the end of file is typed; with -a, the last answer again. What appears is printed.
 *
 * -t types a text before the command starts, as somebody does who does not wait.
 *
 * Exits as the command does, with 128 and the signal as a shell would, or with 99 if the terminal
 * cannot be had.
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

enum { FAILED = 99, TAIL = 32 };

static void die(const char *what)
{
	fprintf(stderr, "answer: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

static void type(int master, const char *text)
{
	if (write(master, text, strlen(text)) != (ssize_t)strlen(text))
		die("unable to type");
}

/* The last bytes that appeared, as a string. */
static void remember(char tail[TAIL], const char *text, size_t len)
{
	size_t held = strlen(tail), keep;

	if (len >= TAIL) {
		text += len - (TAIL - 1);
		len = TAIL - 1;
	}
	keep = held < TAIL - 1 - len ? held : TAIL - 1 - len;
	memmove(tail, tail + held - keep, keep);
	memcpy(tail + keep, text, len);
	tail[keep + len] = '\0';
}

static bool asks(const char tail[TAIL])
{
	const char *open = strstr(tail, "[y/N");
	size_t len = strlen(tail);

	if (len >= 3 && !strcmp(tail + len - 3, "]? "))
		return true;
	return open && len >= 2 && !strcmp(tail + len - 2, "] ") && !strchr(open, '\n');
}

static void converse(int master, char **answers, bool again)
{
	char buf[4096], tail[TAIL] = "";
	ssize_t n;

	while ((n = read(master, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		fwrite(buf, 1, (size_t)n, stdout);
		fflush(stdout);
		remember(tail, buf, (size_t)n);
		if (!asks(tail))
			continue;
		tail[0] = '\0';
		if (!*answers) {
			type(master, "\004");
			continue;
		}
		type(master, *answers);
		type(master, "\n");
		if (!again || answers[1])
			answers++;
	}
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const char *early = NULL;
	bool again = false;
	int master, terminal, status, opt;
	pid_t pid;

	while ((opt = getopt(argc, argv, "+at:")) != -1) {
		if (opt == 'a')
			again = true;
		else if (opt == 't')
			early = optarg;
		else
			return FAILED;
	}
	if (argc == optind)
		return FAILED;
	if (openpty(&master, &terminal, NULL, NULL, &size) < 0)
		die("unable to open a terminal");
	if (early) {
		struct pollfd ready = { .fd = terminal, .events = POLLIN };

		/* What was typed has to be there when the command starts. */
		type(master, early);
		if (poll(&ready, 1, 60000) != 1)
			die("the terminal did not take what was typed");
	}
	pid = fork();
	if (pid < 0)
		die("unable to fork");
	if (!pid) {
		close(master);
		if (login_tty(terminal) < 0)
			_exit(FAILED);
		execl("/bin/sh", "sh", "-c", argv[optind], (char *)NULL);
		_exit(FAILED);
	}
	close(terminal);
	converse(master, argv + optind + 1, again);
	if (waitpid(pid, &status, 0) != pid)
		die("unable to wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
