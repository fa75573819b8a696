/* SPDX-License-Identifier: MIT */
#include "base/libmem.h"

#include "base/alloc.h"
#include "base/libgit2.h"
#include "base/std.h"

#include <git2/sys/alloc.h>
#include <jansson.h>
#include <libdeflate.h>

static void *git_gmalloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return xmalloc(size);
}

static void *git_grealloc(void *ptr, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return xrealloc(ptr, size);
}

static void git_gfree(void *ptr)
{
	free(ptr);
}

#if LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR <= 5
/* Overflow is checked by the libraries themselves. */
static void *git_array(void *ptr, size_t nr, size_t size)
{
	return size && nr > SIZE_MAX / size ? NULL : xrealloc(ptr, nr * size);
}

static void *git_gcalloc(size_t nr, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return xcalloc(nr, size);
}

static char *git_gsubstrdup(const char *str, size_t len, const char *file, int line)
{
	(void)file;
	(void)line;
	return xmemdupz(str, len);
}

static char *git_gstrdup(const char *str, const char *file, int line)
{
	return git_gsubstrdup(str, strlen(str), file, line);
}

static char *git_gstrndup(const char *str, size_t len, const char *file, int line)
{
	return git_gsubstrdup(str, strnlen(str, len), file, line);
}

static void *git_greallocarray(void *ptr, size_t nr, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return git_array(ptr, nr, size);
}

static void *git_gmallocarray(size_t nr, size_t size, const char *file, int line)
{
	return git_greallocarray(NULL, nr, size, file, line);
}
#endif

/* This interface has changed before, and is not stable. */
void libmem_install_git(void)
{
#if LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR != 6
	static git_allocator allocator = {
		.gmalloc = git_gmalloc,
		.grealloc = git_grealloc,
		.gfree = git_gfree,
#if LIBGIT2_VER_MINOR <= 5
		.gcalloc = git_gcalloc,
		.gstrdup = git_gstrdup,
		.gstrndup = git_gstrndup,
		.gsubstrdup = git_gsubstrdup,
		.greallocarray = git_greallocarray,
		.gmallocarray = git_gmallocarray,
#endif
	};

	libgit2.libgit2_opts(GIT_OPT_SET_ALLOCATOR, &allocator);
#endif
}

void libmem_install(void)
{
	json_set_alloc_funcs(xmalloc, free);
	libdeflate_set_memory_allocator(xmalloc, free);
}
