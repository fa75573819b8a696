/* SPDX-License-Identifier: MIT */

/*
 * crash-replay look <dir>
 *     print what is in a directory, for comparison
 * crash-replay run [-m <model>] [-s <seed>] [-n <states>|-a] [-f <failures>] <log> <root> <checker>...
 *     bring states that a power cut may leave (model.h) into <root>, one after the other, and run
 *     the checker on each: <checker>... <phase> <state>. Cuts are made in phases, which begin at
 *     marks in the log (crashlog.h), but not in those whose name begins with `-`. The checker
 *     exits with 0, or with 10 to see the same state once more, as <phase> <state> again, or else
 *     the state is a failure and its output is shown.
 *       -n <states>    so many, taken by chance from <seed>
 *       -a             each cut with each choice, and some by chance
 *       -f <failures>  stop after so many (5)
 * crash-replay one <log> <root> <state>
 *     bring back a state, by the name that a failure has
 */

#include "model.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHECKER_MORE = 10, RANDOM_OF_EACH_CUT = 4, MAX_PENDING = 400 };

struct run {
	struct history *history;
	const char *root;
	char **checker;
	int models; /* bits */
	uint64_t seed;
	size_t wanted; /* 0: all */
	size_t max_failures;
	size_t states, same, failures;
	uint64_t *seen; /* hashes */
	size_t seen_size;
};

static void __attribute__((noreturn)) fatal(const char *what)
{
	fprintf(stderr, "crash-replay: %s\n", what);
	exit(125);
}

/* Whether this tree in this phase is new. */
static bool remember(struct run *run, uint64_t hash)
{
	size_t i;

	hash += !hash;
	if (run->states * 2 >= run->seen_size) {
		uint64_t *old = run->seen;
		size_t old_size = run->seen_size;

		run->seen_size = old_size ? old_size * 2 : 1024;
		run->seen = calloc(run->seen_size, sizeof(*run->seen));
		if (!run->seen)
			fatal("out of memory");
		for (size_t k = 0; k < old_size; k++) {
			if (!old[k])
				continue;
			for (i = old[k] % run->seen_size; run->seen[i]; i = (i + 1) % run->seen_size)
				;
			run->seen[i] = old[k];
		}
		free(old);
	}
	for (i = hash % run->seen_size; run->seen[i]; i = (i + 1) % run->seen_size)
		if (run->seen[i] == hash)
			return false;
	run->seen[i] = hash;
	return true;
}

/* Exit status of the checker; its output goes to stdout only if it failed. */
static int check(struct run *run, const char *phase, const char *name, const char *again)
{
	char *argv[32], *output = NULL;
	size_t argc = 0, len = 0;
	char part[4096];
	int pipefd[2], status;
	ssize_t n;
	pid_t pid;

	for (; run->checker[argc] && argc < 24; argc++)
		argv[argc] = run->checker[argc];
	argv[argc++] = (char *)phase;
	argv[argc++] = (char *)name;
	argv[argc++] = (char *)again;
	argv[argc] = NULL;
	fflush(stdout);
	if (pipe2(pipefd, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		fatal(strerror(errno));
	if (!pid) {
		dup2(pipefd[1], 1);
		dup2(pipefd[1], 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipefd[1]);
	while ((n = read(pipefd[0], part, sizeof(part))) > 0) {
		output = realloc(output, len + (size_t)n);
		if (!output)
			fatal("out of memory");
		memcpy(output + len, part, (size_t)n);
		len += (size_t)n;
	}
	close(pipefd[0]);
	if (waitpid(pid, &status, 0) < 0)
		fatal(strerror(errno));
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	if (status && status != CHECKER_MORE) {
		printf("FAILED: phase %s, state %s%s%s:\n", phase, name, again ? " " : "",
		       again ? again : "");
		fwrite(output, len, 1, stdout);
		fflush(stdout);
	}
	free(output);
	return status;
}

static void try_state(struct run *run, const struct phase *phase, enum model model, size_t cut,
		      enum choice choice, uint64_t n)
{
	struct state state;
	char name[128];
	int status;

	state_build(&state, run->history, model, cut, choice, n);
	if (!remember(run, state_hash(&state) ^ (phase->first * 0x9e3779b97f4a7c15u))) {
		run->same++;
		state_release(&state);
		return;
	}
	snprintf(name, sizeof(name), "%s:%zu:%s:%llu", model_names[model], cut, choice_names[choice],
		 (unsigned long long)n);
	run->states++;
	tree_write(run->root, &state);
	status = check(run, phase->name, name, NULL);
	if (status == CHECKER_MORE) {
		tree_write(run->root, &state);
		status = check(run, phase->name, name, "again");
	}
	if (status)
		run->failures++;
	state_release(&state);
	if (run->failures >= run->max_failures) {
		printf("%zu states, stopped after %zu failures\n", run->states, run->failures);
		exit(1);
	}
}

static void try_all(struct run *run, const struct phase *phase)
{
	for (size_t cut = phase->first; cut < phase->end; cut++)
		for (int m = 0; m < 3; m++) {
			size_t pending = history_pending(run->history, cut);

			if (!(run->models & (1 << m)))
				continue;
			if (pending > MAX_PENDING)
				pending = MAX_PENDING;
			for (int c = CHOOSE_NONE; c < CHOOSE_LOSE; c++)
				try_state(run, phase, (enum model)m, cut, (enum choice)c, 0);
			for (size_t i = 0; i < pending; i++) {
				try_state(run, phase, (enum model)m, cut, CHOOSE_LOSE, i);
				try_state(run, phase, (enum model)m, cut, CHOOSE_KEEP, i);
			}
			for (int i = 0; i < RANDOM_OF_EACH_CUT; i++)
				try_state(run, phase, (enum model)m, cut, CHOOSE_RAND, chance(&run->seed));
		}
}

static void try_some(struct run *run, const struct phase **phases, size_t nr)
{
	size_t tries = 0;

	while (run->states < run->wanted && tries++ < run->wanted * 20) {
		const struct phase *phase = phases[tries % nr];
		size_t cut = phase->first + (size_t)(chance(&run->seed) % (phase->end - phase->first));
		size_t pending = history_pending(run->history, cut);
		enum choice choice = (enum choice)(chance(&run->seed) % CHOICES);
		enum model model;
		uint64_t n;

		if (chance(&run->seed) % 2)
			choice = CHOOSE_RAND;
		do
			model = (enum model)(chance(&run->seed) % 3);
		while (!(run->models & (1 << model)));
		n = chance(&run->seed);
		if (choice == CHOOSE_LOSE || choice == CHOOSE_KEEP)
			n %= pending ? pending : 1;
		else if (choice != CHOOSE_RAND)
			n = 0;
		try_state(run, phase, model, cut, choice, n);
	}
}

static int cmd_run(struct run *run, const char *log)
{
	const struct phase *phases;
	const struct phase **cut;
	size_t nr, cut_nr = 0;

	run->history = history_read(log);
	nr = history_phases(run->history, &phases);
	cut = calloc(nr + 1, sizeof(*cut));
	if (!cut)
		fatal("out of memory");
	for (size_t i = 0; i < nr; i++)
		if (phases[i].name[0] != '-')
			cut[cut_nr++] = &phases[i];
	if (!cut_nr)
		fatal("the log has no mark");
	if (run->wanted)
		try_some(run, cut, cut_nr);
	else
		for (size_t i = 0; i < cut_nr; i++)
			try_all(run, cut[i]);
	printf("%zu states (%zu more were the same) of %zu calls in %zu phases, %zu failed\n",
	       run->states, run->same, history_length(run->history), cut_nr, run->failures);
	free(cut);
	return run->failures ? 1 : 0;
}

static int cmd_one(const char *log, const char *root, char *name)
{
	char *model = strtok(name, ":"), *cut = strtok(NULL, ":"), *choice = strtok(NULL, ":");
	char *n = strtok(NULL, ":");
	struct state state;
	int m, c;

	if (!n)
		fatal("not the name of a state");
	for (m = 0; m < 3 && strcmp(model, model_names[m]); m++)
		;
	for (c = 0; c < CHOICES && strcmp(choice, choice_names[c]); c++)
		;
	if (m == 3 || c == CHOICES)
		fatal("not the name of a state");
	state_build(&state, history_read(log), (enum model)m, strtoul(cut, NULL, 10), (enum choice)c,
		    strtoull(n, NULL, 10));
	tree_write(root, &state);
	state_release(&state);
	return 0;
}

static int model_bits(const char *name)
{
	for (int i = 0; i < 3; i++)
		if (!strcmp(name, model_names[i]))
			return 1 << i;
	fatal("unknown model");
}

int main(int argc, char **argv)
{
	struct run run = { .models = 7, .wanted = 100, .max_failures = 5, .seed = 1 };
	int opt, models = 0;

	if (argc == 3 && !strcmp(argv[1], "look")) {
		tree_print(argv[2]);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "one"))
		return cmd_one(argv[2], argv[3], argv[4]);
	if (argc < 2 || strcmp(argv[1], "run"))
		fatal("look, run or one");
	while ((opt = getopt(argc - 1, argv + 1, "+m:s:n:af:")) != -1)
		switch (opt) {
		case 'm':
			models |= model_bits(optarg);
			break;
		case 's':
			run.seed = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			run.wanted = strtoul(optarg, NULL, 10);
			break;
		case 'a':
			run.wanted = 0;
			break;
		case 'f':
			run.max_failures = strtoul(optarg, NULL, 10);
			break;
		default:
			return 125;
		}
	argv += 1 + optind;
	argc -= 1 + optind;
	if (argc < 3)
		fatal("run needs a log, a root and a checker");
	if (models)
		run.models = models;
	run.root = argv[1];
	run.checker = argv + 2;
	return cmd_run(&run, argv[0]);
}
