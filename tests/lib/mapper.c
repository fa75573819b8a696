/* SPDX-License-Identifier: MIT */

/*
 * mapper <file>: write to a file through memory alone
 *
 * Maps the file, closes it, and puts each line that it reads from standard input at the start of
 * the mapping, of the same length each time; says "ok" when that is done. Only the first write
 * changes the times of the file, until the kernel has written it back.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	char line[256], *map;
	struct stat st;

	/* The contents of a new file may reach the disk with the journal; those of an old file do not. */
	if (fd < 0 || fsync(fd) < 0 || fstat(fd, &st) < 0)
		die("mapper");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	close(fd);
	while (fgets(line, sizeof(line), stdin)) {
		size_t len = strlen(line);

		memcpy(map, line, len < (size_t)st.st_size ? len : (size_t)st.st_size);
		if (puts("ok") < 0 || fflush(stdout))
			die("mapper");
	}
	return 0;
}
