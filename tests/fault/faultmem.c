/* SPDX-License-Identifier: MIT */

/*
 * Loaded with LD_PRELOAD, this makes memory run out at an exact place.
 *
 *   FAULT_MALLOC_AT     the allocation to fail, counted from 1; without it they are only counted
 *   FAULT_MALLOC_STICKY 1: from that one on, all fail
 *   FAULT_COUNT_FILE    at exit the number of allocations is written here
 *
 * malloc, calloc, realloc and the aligned ones count, of the program and of its libraries, but not
 * what libc does inside itself. Only the process that was started is touched, not those that it
 * starts, and only from its main() on: a program that the loader could not start proves nothing.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What glibc calls them itself: no looking up, which would allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *ptr, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool active, sticky;
static unsigned long fault_at;
static atomic_ulong counted;
static pid_t owner;

__attribute__((constructor)) static void setup(void)
{
	const char *at = getenv("FAULT_MALLOC_AT"), *pid = getenv("FAULT_MALLOC_PID");
	const char *stick = getenv("FAULT_MALLOC_STICKY");
	char number[32];

	owner = getpid();
	if (!at || (pid && atol(pid) != (long)owner))
		return;
	snprintf(number, sizeof(number), "%ld", (long)owner);
	setenv("FAULT_MALLOC_PID", number, 1);
	fault_at = strtoul(at, NULL, 10);
	sticky = stick && !strcmp(stick, "1");
	active = true;
}

static void report(void)
{
	const char *file = getenv("FAULT_COUNT_FILE");
	char text[32];
	int fd, len;

	if (!active || !file || getpid() != owner)
		return;
	active = false;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	len = snprintf(text, sizeof(text), "%lu\n", atomic_load(&counted));
	if (fd < 0 || syscall(SYS_write, fd, text, (size_t)len) != len)
		fprintf(stderr, "faultmem: cannot write the count\n");
	if (fd >= 0)
		syscall(SYS_close, fd);
}

__attribute__((destructor)) static void report_at_exit(void)
{
	report();
}

/* _exit runs no destructors, yet the count is wanted. */
__attribute__((noreturn)) void fault_exit(int status) __asm__("_exit");
void fault_exit(int status)
{
	report();
	for (;;)
		syscall(SYS_exit_group, status);
}

static bool fails(void)
{
	unsigned long n;

	if (!active || getpid() != owner)
		return false;
	n = atomic_fetch_add(&counted, 1) + 1;
	if (!fault_at || (sticky ? n < fault_at : n != fault_at))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *ptr, size_t size)
{
	return size && fails() ? NULL : __libc_realloc(ptr, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *ptr = fails() ? NULL : __libc_memalign(alignment, size);

	if (!ptr)
		return ENOMEM;
	*out = ptr;
	return 0;
}
