/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_INI_INTERNAL_H
#define CKPT_SETTINGS_INI_INTERNAL_H

#include <stdbool.h>

/**
 * Configuration files in INI form, parsed by inih.
 *
 *     key = value       ; a comment, also with #, if white space is before it
 *         key = value   (indented, as git users do)
 *     [section]
 *     [section "name"]
 *
 * Lines may be of any length and end in LF or CRLF; a byte order mark is
 * skipped. Nothing is quoted and no line is continued: a value is what stands
 * between the "=" and the end of the line or a comment.
 */

/**
 * One key. `section` is "" before the first one, else what stands in the
 * brackets: `capture "db"`. All three live only during the call. To fail, set
 * an error and return its code: reading ends and ini_read() returns it.
 */
typedef int (*inifile_fn)(const char *section, const char *key, const char *value, unsigned line,
			  void *payload);

/**
 * Call `fn` for every key of the file, in its order. CKPT_ENOTFOUND if there
 * is no such file; a malformed line fails with a sentence that begins
 * "<path>:<line>: ". A symbolic link is followed.
 */
int ini_read(const char *path, inifile_fn fn, void *payload);

/**
 * NULL if commands in it may be run, else why not. It has to belong to this
 * user, or to root: with `sudo -E` the files of somebody else are read, but what
 * they say is not run. And it must not lie in `worktree` (a real path, or NULL),
 * where it may have come with what somebody else made.
 */
const char *ini_distrust(const char *path, const char *worktree);

#endif
