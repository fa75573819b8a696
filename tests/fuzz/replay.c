/* SPDX-License-Identifier: MIT */

/*
 * main() for a fuzz target where there is no libFuzzer: hands it each file of a
 * directory of seeds, and so many mutations of each, which are the same in every run.
 *
 * fuzz_<name> <directory> [<mutations> [<seed>]]
 */

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state;

static unsigned below(unsigned n)
{
	uint64_t x = state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return (unsigned)((x ^ (x >> 32)) >> 33) % n;
}

/* In memory of exactly its size, so that a sanitizer sees what goes beyond. */
static void feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* One change of a kind that parsers stumble over; `buf` has room for twice the size. */
static size_t mutate(uint8_t *buf, size_t size)
{
	static const uint8_t telling[] = { 0, 1, 0x7f, 0x80, 0xff, '\n', '\r', '"', '\\', '/', '[', ' ' };
	size_t at = size ? below((unsigned)size) : 0, len;

	switch (size ? below(7) : 6) {
	case 0:
		buf[at] ^= (uint8_t)(1u << below(8));
		return size;
	case 1:
		buf[at] = telling[below(sizeof(telling))];
		return size;
	case 2:
		buf[at] = (uint8_t)below(256);
		return size;
	case 3: /* cut */
		return at;
	case 4: /* take a piece out */
		len = 1 + below((unsigned)(size - at));
		memmove(buf + at, buf + at + len, size - at - len);
		return size - len;
	case 5: /* a piece twice */
		len = 1 + below((unsigned)(size - at));
		memmove(buf + at + len, buf + at, size - at);
		return size + len;
	default:
		memmove(buf + at + 1, buf + at, size - at);
		buf[at] = telling[below(sizeof(telling))];
		return size + 1;
	}
}

static size_t replay(const char *path, unsigned mutations)
{
	static uint8_t seed[1 << 20], buf[(1 << 20) * 17];
	FILE *file = fopen(path, "rbe");
	size_t size;

	if (!file) {
		perror(path);
		exit(1);
	}
	size = fread(seed, 1, sizeof(seed), file);
	fclose(file);
	feed(seed, size);
	for (unsigned i = 0; i < mutations; i++) {
		size_t len = size;

		memcpy(buf, seed, size);
		for (unsigned n = 1 + below(4); n; n--)
			len = mutate(buf, len);
		feed(buf, len);
	}
	return 1 + mutations;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
	unsigned mutations = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	struct dirent **names = NULL;
	size_t fed = 0, seeds = 0;
	int nr = argc > 1 ? scandir(argv[1], &names, NULL, by_name) : -1;

	if (nr < 0) {
		fprintf(stderr, "usage: %s <directory> [<mutations> [<seed>]]\n", argv[0]);
		return 1;
	}
	state = argc > 3 ? strtoull(argv[3], NULL, 10) : 0x5eed;
	feed((const uint8_t *)"", 0);
	for (int i = 0; i < nr; i++) {
		char path[PATH_MAX];

		if (names[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
			fed += replay(path, mutations);
			seeds++;
		}
		free(names[i]);
	}
	free(names);
	printf("%zu seeds, %zu inputs\n", seeds, fed);
	return !seeds;
}
