/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include "base/std.h"

static bool (*on_failure)(void);

void alloc_on_failure(bool (*fn)(void))
{
	on_failure = fn;
}

/*
 * At once, and without memory or locks: whatever an orderly exit would call may need what this
 * thread, in the middle of a library, holds.
 */
static void *must(void *ptr, size_t size)
{
	char text[96];
	int len;

	if (ptr || !size)
		return ptr;
	if (on_failure && on_failure())
		_exit(128);
	len = snprintf(text, sizeof(text), "fatal: out of memory, tried to allocate %zu bytes\n", size);
	len = (int)write(STDERR_FILENO, text, (size_t)len);
	_exit(128);
}

void *xmalloc(size_t size)
{
	return must(malloc(size), size);
}

void *xcalloc(size_t count, size_t size)
{
	return must(calloc(count, size), count && size ? count : 0);
}

void *xrealloc(void *ptr, size_t size)
{
	return must(realloc(ptr, size), size);
}

void *xhave(void *ptr)
{
	return must(ptr, 1);
}

char *xstrdup(const char *str)
{
	return xmemdupz(str, strlen(str));
}

char *xmemdupz(const void *data, size_t len)
{
	char *copy = xmalloc(len + 1);

	if (len)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

char *xstrfmt(const char *fmt, ...)
{
	va_list ap;
	char *out = NULL;

	va_start(ap, fmt);
	if (vasprintf(&out, fmt, ap) < 0)
		out = NULL;
	va_end(ap);
	return must(out, 1);
}

size_t alloc_grow_size(size_t alloc, size_t need)
{
	size_t next = alloc < 16 ? 16 : alloc + alloc / 2;

	return next < need ? need : next;
}
