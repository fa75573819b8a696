/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_FILE_INTERNAL_H
#define CKPT_HOOKS_HOOK_FILE_INTERNAL_H

#include "base/base.h"

/**
 * Our lines in a hook, which usually belongs to somebody else. Texts only, no
 * files.
 *
 * They are between two marker lines, right after the hook's first line, so
 * that they run before everything else and nothing after them must be
 * understood. Removing them leaves every other byte.
 *
 * A hook that cannot take lines (another language, a binary) is renamed, and a
 * dispatcher takes its place: our lines alone, the last of which run the
 * renamed hook.
 */

#define HOOK_FILE_BEGIN "# >>> git-checkpoint >>>\n"
#define HOOK_FILE_END "# <<< git-checkpoint <<<\n"

/** What is left of our own file without the lines. */
#define HOOK_FILE_FRAME "#!/bin/sh\n"

/**
 * Beside the hooks: a directory with links that have the hooks' names, for
 * hooks that check how they were called.
 */
#define HOOK_FILE_LINKS ".git-checkpoint"

/** Appended to the name of a hook that was renamed. */
#define HOOK_FILE_ASIDE ".pre-checkpoint"

/** True for a shell script into which lines may be inserted: its first line says so. */
bool hook_file_is_shell(const char *text, size_t len);

/** True if it contains our lines. */
bool hook_file_is_ours(const char *text, size_t len);

/** True if those lines run a renamed hook. */
bool hook_file_is_dispatcher(const char *text, size_t len);

/** Append the lines, markers too, of a shim as it is in hooks/. False if there are none. */
bool hook_file_lines(struct strbuf *out, const char *shim, size_t len);

/**
 * Replace a line "# @name: ..." here, if there is one, with the part `name` of
 * the shim `home`, which is there between two lines "# @name begins..." and "#
 * @name ends". False if `home` has no such part.
 */
bool hook_file_paste(struct strbuf *shim, const char *home, const char *name);

/**
 * Set a variable in the lines: the first `name=''`, whatever is between the
 * quotes, at the beginning of a line. False if there is no such line.
 */
bool hook_file_fill(struct strbuf *lines, const char *name, const char *value);

/** Append the text with `lines` after its first line, replacing those that were in it. */
void hook_file_insert(struct strbuf *out, const char *text, size_t len, const char *lines);

/** Append the text without our lines; false if it had none (then all of it is appended). */
bool hook_file_remove(struct strbuf *out, const char *text, size_t len);

/** Append a whole hook of ours: the lines, and for a dispatcher those that go on to `name`. */
void hook_file_shim(struct strbuf *out, const char *lines, const char *name, bool dispatcher);

#endif
