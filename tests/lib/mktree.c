/* SPDX-License-Identifier: MIT */
/*
 * Makes directory trees for tests and benchmarks; the same seed gives the same tree.
 *
 *   mktree [--seed S] [--files N] [--dirs N] [--bytes N] <dir>    a tree like a source tree
 *   mktree --odd [--seed S] [--files N] [--dirs N] <dir>          names, modes and links that hurt
 *   mktree --damage [--seed S] [--edits N] [--verbose] <dir>      random changes to such a tree
 *
 * Damage edits, removes, creates, renames, swaps kinds (file, directory, link), gives files further
 * names and changes modes.
 * It never goes into a .git. Directories stay usable by their owner, so that it needs no root.
 */

#include "mktree.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- trees like source trees --------------------------------------------------------------- */

static const char *const extensions[] = {
	".c", ".h", ".c", ".h", ".py", ".js", ".ts", ".go", ".rs", ".json", ".md", ".txt", ".html",
	".css", ".sh", ".yml", ".xml", "",
};
static const char *const binaries[] = { ".png", ".woff", ".gz", ".ico" };

static void source_dirs(char **dirs, unsigned int *depth, unsigned int n)
{
	char name[80];

	dirs[0] = strdup("");
	depth[0] = 0;
	for (unsigned int i = 1; i < n; i++) {
		unsigned int parent = i < 12 ? 0 : rnd(i);

		while (depth[parent] >= 9)
			parent = rnd(i);
		snprintf(name, sizeof(name), "%s%u", any_word(200), i);
		dirs[i] = join(dirs[parent], name);
		depth[i] = depth[parent] + 1;
		if (!make_dir(dirs[i], 0755))
			die("cannot create '%s'", dirs[i]);
	}
}

/* Sizes are log-normal as in real trees: most small, a few of some 100 KB, in all `bytes`. */
static size_t *source_sizes(unsigned int files, double bytes)
{
	double *weight = calloc(files, sizeof(*weight)), sum = 0;
	size_t *sizes = calloc(files, sizeof(*sizes));

	for (unsigned int i = 0; i < files; i++) {
		double normal = -6;

		for (int k = 0; k < 12; k++)
			normal += (double)(rnd64() >> 11) / 9007199254740992.0;
		weight[i] = exp(1.3 * normal);
		sum += weight[i];
	}
	for (unsigned int i = 0; i < files; i++)
		sizes[i] = (size_t)(bytes * weight[i] / sum);
	free(weight);
	return sizes;
}

static void make_source_tree(unsigned int files, unsigned int ndirs, double bytes)
{
	char **dirs = calloc(ndirs + 1, sizeof(*dirs)), name[96];
	unsigned int *depth = calloc(ndirs + 1, sizeof(*depth));
	size_t *sizes = source_sizes(files, bytes), largest = 0;
	char *data;

	source_dirs(dirs, depth, ndirs + 1);
	for (unsigned int i = 0; i < files; i++)
		if (sizes[i] > largest)
			largest = sizes[i];
	data = malloc(largest + 1);
	for (unsigned int i = 0; i < files; i++) {
		bool binary = rnd(25) == 0;
		const char *ext = binary ? binaries[rnd(COUNT(binaries))]
					 : extensions[rnd(COUNT(extensions))];
		/* Every directory has a file; git would not see it otherwise. */
		char *dir = dirs[i < ndirs ? i + 1 : rnd(ndirs + 1)], *path;

		snprintf(name, sizeof(name), "%s-%u%s", any_word(WORDS), i, ext);
		path = join(dir, name);
		/* One in fifty is a copy of the previous file, where the sizes allow it. */
		if (i && sizes[i] < sizes[i - 1] && rnd(25) == 0)
			sizes[i] = sizes[i - 1];
		else if (binary)
			fill_binary(data, sizes[i]);
		else
			fill_text(data, sizes[i]);
		if (!make_file(path, data, sizes[i], rnd(30) ? 0644 : 0755))
			die("cannot create '%s'", path);
		free(path);
	}
}

/* ---- main ---------------------------------------------------------------------------------- */

static unsigned long long number(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "mktree: '%s' is not a number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },  { "files", required_argument, NULL, 'f' },
		{ "dirs", required_argument, NULL, 'd' },  { "bytes", required_argument, NULL, 'b' },
		{ "edits", required_argument, NULL, 'e' }, { "odd", no_argument, NULL, 'o' },
		{ "damage", no_argument, NULL, 'x' },      { "verbose", no_argument, NULL, 'v' },
		{ 0 },
	};
	unsigned long long seed = 1, files = 0, dirs = 0, bytes = 0, edits = 0;
	bool odd = false, harm = false, verbose = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's': seed = number(optarg); break;
		case 'f': files = number(optarg); break;
		case 'd': dirs = number(optarg); break;
		case 'b': bytes = number(optarg); break;
		case 'e': edits = number(optarg); break;
		case 'o': odd = true; break;
		case 'x': harm = true; break;
		case 'v': verbose = true; break;
		default: return 2;
		}
	}
	if (optind != argc - 1) {
		fprintf(stderr, "usage: mktree [--odd | --damage] [--seed <n>] [--files <n>] "
				"[--dirs <n>] [--bytes <n>] [--edits <n>] [--verbose] <dir>\n");
		return 2;
	}
	if (!harm && mkdir(argv[optind], 0755) < 0 && errno != EEXIST)
		die("cannot create '%s'", argv[optind]);
	if (chdir(argv[optind]) < 0)
		die("cannot enter '%s'", argv[optind]);

	/* Words are the same whatever the seed, so that trees of two seeds are alike. */
	init_words();
	rng_state = seed * 0x2545f4914f6cdd1du + (harm ? 77 : 7);
	if (harm)
		damage((unsigned int)edits, verbose);
	else if (odd)
		make_odd_tree(files ? (unsigned int)files : 200, dirs ? (unsigned int)dirs : 40);
	else
		make_source_tree(files ? (unsigned int)files : 60000,
				 dirs ? (unsigned int)dirs : files ? 1 + (unsigned int)files * 3 / 40 : 4500,
				 bytes ? (double)bytes : files ? (double)files * 3400 : 2e8);
	return 0;
}
