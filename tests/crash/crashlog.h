/* SPDX-License-Identifier: MIT */
#ifndef CRASH_LOG_H
#define CRASH_LOG_H

#include <stdint.h>

/**
 * What tests/crash/record.c writes and tests/crash/replay.c reads: first the tree below the
 * root as it was before the command, parents before children, then what the command and all
 * that it started did to it, in the order in which the kernel did it.
 *
 * Paths are relative to the root, "" is the root itself. Inodes are known by the number that
 * the file system gave them; a number that comes up again in a CREATE stands for a new inode.
 */

#define CRASH_MAGIC "crash-log 1\n"

/** A mkdir of this and a name leaves a mark in the log; nothing is made. */
#define CRASH_MARK "/.crash-mark/"

enum crash_op {
	CRASH_SNAP = 'S',     /**< an inode of the first tree: ino, a = mode, b = mtime, data */
	CRASH_CREATE = 'C',   /**< a new inode: ino, a = mode, data = target of a symlink; path "" if unnamed */
	CRASH_LINK = 'L',     /**< another name for ino */
	CRASH_RENAME = 'R',   /**< path to path2, a = flags of renameat2(2) */
	CRASH_UNLINK = 'U',   /**< path goes, file or directory */
	CRASH_WRITE = 'W',    /**< ino, a = offset, data, b = mtime */
	CRASH_TRUNCATE = 'T', /**< ino, a = size, b = mtime */
	CRASH_MODE = 'M',     /**< ino, a = mode */
	CRASH_TIME = 'I',     /**< ino, b = mtime */
	CRASH_FSYNC = 'F',    /**< ino */
	CRASH_DATASYNC = 'D', /**< ino */
	CRASH_SYNC = 'A',     /**< everything */
	CRASH_NOTE = 'N',     /**< path = text of the mark */
	CRASH_UNSEEN = 'X',   /**< path = what was done that cannot be recorded */
};

struct crash_rec {
	uint32_t op;
	uint32_t path_len, path2_len, data_len;
	uint64_t ino, a, b;
	/* path, path2 and data follow, none ended by NUL */
};

#endif
