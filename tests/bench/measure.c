/* SPDX-License-Identifier: MIT */

/*
 * Runs a command and appends one line to a file: seconds of wall clock time, peak resident memory
 * in KB (the largest of the command and all that it waited for), exit status.
 *
 *   measure <file> <command>...
 *
 * Exits as the command did.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start, seconds;
	int status, code;
	pid_t pid;
	FILE *out;

	if (argc < 3) {
		fprintf(stderr, "usage: measure <file> <command>...\n");
		return 129;
	}
	/* What has been written before must not be paid for by what is measured now. */
	sync();
	start = now();
	pid = fork();
	if (pid < 0) {
		fprintf(stderr, "measure: cannot fork: %s\n", strerror(errno));
		return 128;
	}
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "measure: cannot run '%s': %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno != EINTR)
			return 128;
	}
	seconds = now() - start;
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

	out = fopen(argv[1], "a");
	if (!out || fprintf(out, "%.6f %ld %d\n", seconds, usage.ru_maxrss, code) < 0 || fclose(out)) {
		fprintf(stderr, "measure: cannot write '%s': %s\n", argv[1], strerror(errno));
		return 128;
	}
	return code;
}
