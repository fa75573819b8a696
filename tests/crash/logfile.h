/* SPDX-License-Identifier: MIT */
#ifndef CRASH_LOGFILE_H
#define CRASH_LOGFILE_H

#include "crashlog.h"

#include <stddef.h>
#include <sys/stat.h>

/** The log that crash-record writes. What fails ends the program. */

/** Begin a log with all that is below `dir`. */
void log_open(const char *file, const char *dir);
void log_close(void);

/** NULL for a path that is not there. */
void log_put(enum crash_op op, uint64_t ino, uint64_t a, uint64_t b, const char *path,
	     const char *path2, const void *data, size_t len);

/** An absolute path as the log has it, or NULL if it is not below the root. */
const char *log_below_root(const char *path);

uint64_t log_mtime(const struct stat *st);

/** Say what failed, with errno. */
void log_die(const char *what) __attribute__((noreturn));

#endif
