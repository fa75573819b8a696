/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_FS_H
#define CKPT_BASE_FS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * Reading and writing files: the one place where durability is decided.
 *
 * Paths are relative to `dirfd` (AT_FDCWD for plain paths). Descriptors are
 * close-on-exec, the last component of a path is never followed if it is a
 * symbolic link. Failures name the path.
 *
 * A file that must never be seen half-written is made as a temporary beside
 * its final name, synced, renamed, and the directory synced, in that order:
 * after a power loss there is the old file or the new one.
 */

enum fs_durability {
	FS_FAST,    /**< atomic towards other processes; may be lost with the power */
	FS_DURABLE, /**< survives a power loss once the call has returned */
};

/** Every temporary that this program makes has a name that begins with this. */
#define FS_TEMP_PREFIX "tmp_ckpt_"

/**
 * Open a regular file to read it, and nothing else: to open a FIFO waits for
 * ever, and a device may have no end. `flags` may be O_NOFOLLOW; `st_out` may be
 * NULL. Returns a descriptor, or -1 with errno: EINVAL if it is something else.
 */
int fs_open_regular(struct stat *st_out, int dirfd, const char *path, int flags);

/** What fs_open_regular() could not open, as a sentence; CKPT_ENOTFOUND if it is not there. */
int fs_open_failed(const char *path);

/**
 * Whether a failure with this `errno` says nothing about the file, only that there are no
 * descriptors or no memory now: the file must not be taken for damaged or missing.
 */
bool fs_is_lack(int error);

/** Append the whole file to `out`. CKPT_ENOTFOUND if it is not there. Leaves `errno`. */
int fs_read_file(struct strbuf *out, int dirfd, const char *path);

/** No file that a person writes is larger. */
enum { FS_TEXT_MAX = 64 << 20 };

/** The same for a file that a person wrote: one over FS_TEXT_MAX is refused. */
int fs_read_text(struct strbuf *out, int dirfd, const char *path);

/** The same for one of the user's own (a configuration): also a symbolic link, or /dev/null. */
int fs_read_linked(struct strbuf *out, const char *path);

/** Write a whole file atomically, with permission bits `mode` whatever the umask. */
int fs_write_file(int dirfd, const char *path, const void *data, size_t len, mode_t mode,
		  enum fs_durability durability);

/**
 * Append in one write(2), so that lines of concurrent processes do not mix.
 * If the file does not end in a newline (a torn line), one is put in between.
 * The name of a new file lasts; what is in it may be lost with the power.
 */
int fs_append_line(int dirfd, const char *path, const char *line, size_t len, mode_t mode);

/**
 * What root makes among somebody's files is that somebody's: else it could not
 * be read by the one it is for. Gives a new file or directory to whom directory
 * `dir` of `dirfd` belongs; of others than root it is theirs anyway.
 */
int fs_give_to_owner(int fd, int dirfd, const char *dir);

/**
 * mkdirat(2), with just this mode, whatever the umask, and the owner of the directory that it is
 * in; sets `errno`. It may be lost with the power until that directory is synced.
 */
int fs_mkdir(int dirfd, const char *path, mode_t mode);

/**
 * Make sure that a directory is there for good: fs_mkdir() if it is not, and the directory that
 * it is in is synced, in any case: who made it may have been killed before he came to that.
 */
int fs_ensure_dir(int dirfd, const char *path, mode_t mode);

/** Create a temporary in directory `dir` of `dirfd`; its path is put into `path_out`. */
int fs_temp_open(int *fd_out, struct strbuf *path_out, int dirfd, const char *dir, mode_t mode);

/** Rename `from` to `to` and, if durable, sync the directory `dir` they are in. */
int fs_rename(int dirfd, const char *from, const char *to, const char *dir,
	      enum fs_durability durability);

/** write(2), pwrite(2) and read(2) until all is done; return 0 or -1 with errno. */
int fs_write_all(int fd, const void *data, size_t len);
int fs_pwrite_all(int fd, const void *data, size_t len, off_t offset);

/**
 * True if somebody can write to the file that `fd` reads: has it open for that,
 * or mapped. False also where this cannot be told: on file systems without
 * leases, and of files of another user.
 */
bool fs_has_writer(int fd);

/** Read until `len` bytes are there or the file ends; the number read, or -1 with errno. */
ssize_t fs_read_full(int fd, void *data, size_t len);
ssize_t fs_pread_full(int fd, void *data, size_t len, off_t offset);

int fs_sync_dir(int dirfd, const char *path);

/** Sync the directory that `path` is in, so that its name lasts. */
int fs_sync_holder(int dirfd, const char *path);

/** fs_ensure_dir() for a directory and all that lead to it, each with `mode` if it is made. */
int fs_mkdir_p(const char *path, mode_t mode);

/** Remove a file or a directory with all below it; nothing there is no failure. */
int fs_remove_tree(int dirfd, const char *path);

/** Whether fs_temp_open() makes such names: a user may have files that only begin like them. */
bool fs_is_temp(const char *name);

/** Remove the temporaries of dead processes from a directory that this process has locked. */
void fs_sweep_temps(int dirfd, const char *dir);

/** Bytes on disk of a directory with all below it. */
unsigned long long fs_disk_usage(int dirfd, const char *path);

bool fs_is_dir(const char *path);

/** What the umask leaves of `mode`, for files of the user; all that is the owner's. */
mode_t fs_usual_mode(mode_t mode);

#endif
