/* SPDX-License-Identifier: MIT */
#include "base/fs.h"

#include <sys/mman.h>

/* A page of new memory costs as much as mapping a file. */
enum { SMALL = 4096 };

/* `errno` is set on failure. */
static struct map read_small(int fd, size_t size)
{
	unsigned char *data = xmalloc(size);
	ssize_t n = fs_pread_full(fd, data, size, 0);

	if (n == (ssize_t)size)
		return (struct map){ data, size };
	if (n >= 0)
		errno = EINVAL;
	free(data);
	return (struct map){ 0 };
}

struct map map_file(int dirfd, const char *path)
{
	struct stat st;
	int fd = fs_open_regular(&st, dirfd, path, O_NOFOLLOW);
	int saved = errno;
	struct map map = { 0 };

	if (fd >= 0) {
		saved = EINVAL;
		if (st.st_size > 0 && st.st_size <= SMALL) {
			map = read_small(fd, (size_t)st.st_size);
			saved = errno;
		} else if (st.st_size > 0) {
			void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

			saved = errno;
			if (data != MAP_FAILED)
				map = (struct map){ data, (size_t)st.st_size };
		}
		close(fd);
	}
	errno = saved;
	return map;
}

void map_release(struct map *map)
{
	if (map->data && map->size <= SMALL)
		free((void *)map->data);
	else if (map->data)
		munmap((void *)map->data, map->size);
	*map = (struct map){ 0 };
}
