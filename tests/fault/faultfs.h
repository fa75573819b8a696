/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_FAULTFS_H
#define CKPT_TESTS_FAULTFS_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum call {
	CALL_WRITE = 1 << 0,
	CALL_PWRITE = 1 << 1,
	CALL_FSYNC = 1 << 2,
	CALL_FDATASYNC = 1 << 3,
	CALL_RENAME = 1 << 4,
	CALL_CREATE = 1 << 5,
	CALL_FTRUNCATE = 1 << 6,
	CALL_CLOSE = 1 << 7,
	CALL_READ = 1 << 8,
	CALL_PREAD = 1 << 9,
	CALL_LINK = 1 << 10,
	CALL_UNLINK = 1 << 11,
	CALL_MKDIR = 1 << 12,
	CALL_CHMOD = 1 << 13,
	CALL_OPEN = 1 << 14,
};

enum action {
	PASS, /* not concerned, or not yet */
	FAIL, /* errno is set */
	HALF, /* transfer half */
};

/* What is not wrapped must not stand in for anything of the program under test. */
#pragma GCC visibility push(hidden)

_Noreturn void die(const char *what, const char *value);

/** Whether this is the process that was started, not one that it started. */
bool is_owner(void);

/* ---- faultfs.c: the decision, to be asked before a call ---- */

enum action on_fd(enum call call, int fd);
enum action on_path(enum call call, int dirfd, const char *path);
enum action on_two_paths(enum call call, int fd1, const char *path1, int fd2, const char *path2);

/** Whether FAULT_PATH speaks of it; `path` may be NULL for the file of `fd`. */
bool is_wanted(int fd, const char *path);

/* ---- faultfs_paths.c ---- */

/** Read FAULT_LACKS. */
void paths_setup(void);

/* ---- faultfs_names.c: names that a power cut may take away, for FAULT_NAMES_FILE ---- */

void names_setup(void);
void names_report(void);

/** After a call that gave something a name: the result is handed through. */
int named(int rc, int dirfd, const char *path);
int renamed(int rc, int fd1, const char *from, int fd2, const char *to);
void note_name(int dirfd, const char *path);

/** A directory that was synced keeps its names. */
int synced(int rc, int fd);

/** Before a call that may make a file: was it there? */
bool is_there(int dirfd, const char *path);

#pragma GCC visibility pop

/*
 * WRAP(int, fsync, (int fd)) { ... next_fsync()(fd) ... } defines the symbol `fsync`. The C name
 * is another one, since the headers rename functions themselves (pread becomes pread64).
 * next_x() is the next definition after this one, looked up once.
 */
#define WRAP(ret, symbol, args)                                                                    \
	typedef ret(*symbol##_fn) args;                                                            \
	static symbol##_fn next_##symbol(void)                                                     \
	{                                                                                          \
		static _Atomic(symbol##_fn) cached;                                                \
		symbol##_fn fn = atomic_load(&cached);                                             \
                                                                                                   \
		if (!fn) {                                                                         \
			*(void **)&fn = dlsym(RTLD_NEXT, #symbol);                                 \
			if (!fn)                                                                   \
				die("no such function", #symbol);                                  \
			atomic_store(&cached, fn);                                                 \
		}                                                                                  \
		return fn;                                                                         \
	}                                                                                          \
	ret fault_##symbol args __asm__(#symbol);                                                  \
	ret fault_##symbol args

#endif
