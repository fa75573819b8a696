/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_FS_H
#define CKPT_BASE_FS_H

#include "base/strbuf.h"
#include "base/strlist.h"

/**
 * Reading and writing files: the one place where durability is decided.
 *
 * Paths are relative to `dirfd` (AT_FDCWD for plain paths). Descriptors are
 * close-on-exec; a symbolic link in the last component of a path is never
 * followed. Error messages name the path.
 *
 * A file that must never be seen half-written is written to a temporary beside
 * its final name, synced and renamed, and then the directory is synced: after
 * a power loss either the old file exists or the new one.
 */

enum fs_durability {
	FS_FAST,    /**< atomic for other processes; may be lost in a power cut */
	FS_DURABLE, /**< survives a power cut once the call has returned */
};

/** The names of all temporaries of this program begin with this. */
#define FS_TEMP_PREFIX "tmp_ckpt_"

/**
 * Open a regular file for reading, and nothing else: opening a FIFO blocks, and
 * a device may have no end. `flags` may be O_NOFOLLOW; `st_out` may be NULL.
 * Returns a descriptor, or -1 with errno: EINVAL if it is not a regular file.
 */
int fs_open_regular(struct stat *st_out, int dirfd, const char *path, int flags);

/** Whether two results of stat(2) are of the same file, which has not changed in between. */
bool fs_same_file(const struct stat *a, const struct stat *b);

/**
 * Whether any change after `now` (clock_file_ns()) will show in the times of the file: not if it was
 * changed a moment ago.
 */
bool fs_is_settled(const struct stat *st, int64_t now);

/** Report that fs_open_regular() failed; CKPT_ENOTFOUND if the file does not exist. */
int fs_open_failed(const char *path);

/**
 * Whether this `errno` says nothing about the file, only that descriptors or memory ran
 * out: the file must not be mistaken for damaged or missing.
 */
bool fs_is_lack(int error);

/** Append the whole file to `out`. CKPT_ENOTFOUND if it does not exist. Leaves `errno`. */
int fs_read_file(struct strbuf *out, int dirfd, const char *path);

/** How contents are read: whole up to FS_WHOLE_MAX, larger ones FS_CHUNK by FS_CHUNK. */
enum { FS_CHUNK = 256 << 10, FS_WHOLE_MAX = 4 << 20 };

/** No file that a person writes is larger. */
enum { FS_TEXT_MAX = 64 << 20 };

/** The same for a file that a person wrote: a file over FS_TEXT_MAX is refused. */
int fs_read_text(struct strbuf *out, int dirfd, const char *path);

/** The same for a user's file (a configuration), which may also be a symbolic link or /dev/null. */
int fs_read_linked(struct strbuf *out, const char *path);

/** Write a whole file atomically, with permission bits `mode` whatever the umask. */
int fs_write_file(int dirfd, const char *path, const void *data, size_t len, mode_t mode,
		  enum fs_durability durability);

/**
 * Append in one write(2), so that lines of concurrent processes do not mix. If
 * the file does not end in a newline (a torn line), one is inserted. The name
 * of a new file is durable; its contents may be lost in a power cut.
 */
int fs_append_line(int dirfd, const char *path, const char *line, size_t len, mode_t mode);

/**
 * What root creates among a user's files must belong to that user, or the user
 * could not read it. Gives a new file or directory to the owner of the
 * directory `dir` of `dirfd`; does nothing for other users.
 */
int fs_give_to_owner(int fd, int dirfd, const char *dir);

/**
 * mkdirat(2) with exactly this mode, whatever the umask, and the owner of the directory that
 * contains it; sets `errno`. It may be lost in a power cut until that directory is synced.
 */
int fs_mkdir(int dirfd, const char *path, mode_t mode);

/**
 * Make sure that a directory exists durably: fs_mkdir() if it does not exist, then sync the
 * directory that contains it, in any case: the process that created it may have been killed
 * before it did so.
 */
int fs_ensure_dir(int dirfd, const char *path, mode_t mode);

/** Create a temporary in directory `dir` of `dirfd`; put its path into `path_out`. */
int fs_temp_open(int *fd_out, struct strbuf *path_out, int dirfd, const char *dir, mode_t mode);

/** Rename `from` to `to` and, if durable, sync the directory `dir` they are in. */
int fs_rename(int dirfd, const char *from, const char *to, const char *dir,
	      enum fs_durability durability);

/** write(2), pwrite(2) and read(2) until everything is done; return 0 or -1 with errno. */
int fs_write_all(int fd, const void *data, size_t len);
int fs_pwrite_all(int fd, const void *data, size_t len, off_t offset);

/**
 * True if another process can write to the file that `fd` reads: has it open
 * for writing, or mapped. Also false where this cannot be determined: on file
 * systems without leases, and for files of another user.
 */
bool fs_has_writer(int fd);

/** Read until `len` bytes were read or the file ends; returns the number read, or -1 with errno. */
ssize_t fs_read_full(int fd, void *data, size_t len);
ssize_t fs_pread_full(int fd, void *data, size_t len, off_t offset);

/** close(2) a descriptor, unless it is negative; `errno` stays as it is. */
void fs_close(int fd);

int fs_sync_dir(int dirfd, const char *path);

/** Sync the directory that contains `path`, so that its name is durable. */
int fs_sync_holder(int dirfd, const char *path);

/** fs_ensure_dir() for a directory and all its parents, each with `mode` if it is created. */
int fs_mkdir_p(const char *path, mode_t mode);

/**
 * Append the names in directory `path` of `dirfd` for which `wanted` is true (NULL: all), without
 * "." and "..", in no particular order. `flags` may be O_NOFOLLOW. All names are read before the
 * function returns, so the caller may remove files, and no descriptor stays open. Returns 0, or -1
 * with errno if the directory cannot be read to its end; what was read until then has been added.
 */
int fs_names(struct strlist *out, int dirfd, const char *path, int flags,
	     bool (*wanted)(const char *name));

/**
 * Remove a file, or a directory with everything below it; it is not an error if it does not exist.
 */
int fs_remove_tree(int dirfd, const char *path);

/** Whether fs_temp_open() makes such names: a user's file may have the same prefix. */
bool fs_is_temp(const char *name);

/** Remove the temporaries of dead processes from a directory that this process has locked. */
void fs_sweep_temps(int dirfd, const char *dir);

/** Bytes on disk of a directory with everything below it. */
unsigned long long fs_disk_usage(int dirfd, const char *path);

bool fs_is_dir(const char *path);

/** What the umask leaves of `mode`, for the user's files; the owner's bits are all kept. */
mode_t fs_usual_mode(mode_t mode);

/* --- line by line: lines.c --- */

/**
 * A file read line by line, with a small buffer: for files with thousands of lines of which little is
 * kept. New memory costs more than reading.
 */
struct line_file {
	int fd;
	char *buf;
	size_t size, at, end; /**< what was read and not given out is from `at` to `end` */
	bool torn;	      /**< the last line given out does not end in a newline */
	int error;	      /**< the errno with which reading failed, or 0 */
};

/** A regular file, not a link. Fails as fs_read_file() does; lines_close() is needed in any case. */
int lines_open(struct line_file *out, int dirfd, const char *path);

/**
 * The next line, without its newline; it may have NULs, and its bytes may be changed until the next
 * call. False at the end, or if reading fails.
 */
bool lines_next(struct line_file *lines, char **line, size_t *len);

void lines_close(struct line_file *lines);

/* --- in memory: map.c --- */

/** A file in memory that nobody changes in place. */
struct map {
	const unsigned char *data; /**< aligned as malloc(3) does it */
	size_t size;
};

/** Read or map a file; no data, and `errno`, if it does not exist, is empty (EINVAL) or not a file. */
struct map map_file(int dirfd, const char *path);

/** There may be no data. */
void map_release(struct map *map);

/* --- with holes: sparse.c --- */

/**
 * Write a new, empty file from beginning to end, with holes for long runs of
 * zeros: holes take no disk space and read the same. Where the original file
 * had holes is not known.
 */
struct sparse {
	int fd;
	off_t at;      /**< written, or left as a hole, up to here */
	size_t zeros;  /**< zeros after that, not yet written */
};

#define SPARSE_INIT(fd_) { .fd = (fd_) }

/** Append; 0, or -1 with errno. */
int sparse_write(struct sparse *sparse, const void *data, size_t len);

/** Finish: set the size of the file. 0, or -1 with errno. */
int sparse_finish(struct sparse *sparse);

#endif
