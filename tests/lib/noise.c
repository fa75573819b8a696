/* SPDX-License-Identifier: MIT */

/*
 * noise <bytes>: bytes that do not compress, on standard output
 *
 * Each call gives different bytes, but with the same TEST_SEED the same calls of a test case give
 * the same bytes again: a counter in the scratch directory of the case, $T, tells the calls apart.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static uint64_t next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

/* The number of earlier calls; 0 if they are not counted. */
static uint64_t count_call(const char *dir)
{
	char path[4096], text[32] = "";
	uint64_t calls;
	int fd;

	if (!dir || snprintf(path, sizeof(path), "%s/noise.calls", dir) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	calls = strtoull(text, NULL, 10);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)calls + 1);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		perror("noise");
	close(fd);
	return calls;
}

int main(int argc, char **argv)
{
	static uint64_t block[8192];
	const char *seed = getenv("TEST_SEED");
	unsigned long long left;
	uint64_t state;

	if (argc != 2) {
		fprintf(stderr, "usage: noise <bytes>\n");
		return 2;
	}
	left = strtoull(argv[1], NULL, 10);
	state = (seed ? strtoull(seed, NULL, 10) : 1) * 0x2545f4914f6cdd1du;
	state += count_call(getenv("T")) * 0x100000001b3u;
	while (left) {
		size_t size = left < sizeof(block) ? (size_t)left : sizeof(block);
		const char *p = (const char *)block;

		for (size_t i = 0; i * sizeof(*block) < size; i++)
			block[i] = next(&state);
		left -= size;
		while (size) {
			ssize_t wrote = write(STDOUT_FILENO, p, size);

			if (wrote < 0) {
				/* a reader that has enough */
				if (errno != EPIPE)
					perror("noise");
				return 1;
			}
			p += wrote;
			size -= (size_t)wrote;
		}
	}
	return 0;
}
