/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_INI_H
#define CKPT_SETTINGS_INI_H

#include "base/base.h"

/**
 * Configuration files in INI form, parsed by inih.
 *
 *     key = value       ; a comment, also with #, if white space is before it
 *         key = value   (indented, as git users do)
 *     [section]
 *     [section "name"]
 *
 * Lines may have any length and end in LF or CRLF; a byte order mark is
 * skipped. There is no quoting and no line continuation: a value is the text
 * between the "=" and the end of the line or a comment.
 */

/**
 * One key. `section` is "" before the first section, otherwise the text in the
 * brackets: `capture "db"`. All three are valid only during the call. To fail,
 * set an error and return its code: reading stops and ini_read() returns it.
 */
typedef int (*inifile_fn)(const char *section, const char *key, const char *value, unsigned line,
			  void *payload);

/**
 * Call `fn` for every key of the file, in order. CKPT_ENOTFOUND if the file
 * does not exist; for a malformed line the message begins with "<path>:<line>:
 * ". A symbolic link is followed.
 */
int ini_read(const char *path, inifile_fn fn, void *payload);

/** The same for a text; `path` is for messages. */
int ini_parse_text(const char *text, size_t len, const char *path, inifile_fn fn, void *payload);

/**
 * NULL if commands in the file may be run, otherwise why not. It must belong to
 * this user or to root: with `sudo -E` another user's files are read, but their
 * commands are not run. And it must not be in `worktree` (a real path, or NULL),
 * where somebody else may have put it, nor a link on the way to it.
 */
const char *ini_distrust(const char *path, const char *worktree);

#endif
