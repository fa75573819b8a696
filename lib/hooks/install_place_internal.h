/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_PLACE_INTERNAL_H
#define CKPT_HOOKS_INSTALL_PLACE_INTERNAL_H

#include "base/base.h"
#include "hooks/install.h"
#include "hooks/install_record_internal.h"

/**
 * One hook file: our lines in it, or a dispatcher in its place, and how to undo
 * that. What a file is, is determined from its contents; the record says what
 * it was.
 *
 * Every step leaves something that install_place_remove() can undo.
 */

/**
 * Fails if install_place_plan() would, after an install_place_remove() of
 * `entry`, what the record has of it (NULL: nothing). Changes no file.
 */
int install_place_check(const struct install_entry *entry, const char *path);

/** Read what is at `path` and make an entry of it. Changes no file. */
int install_place_plan(struct install_record *record, const char *path, const char *name);

/** Insert our lines, as the entry says; if they are already there, update them. */
int install_place_put(const struct install_entry *entry, const char *lines);

/**
 * Remove our lines, wherever the file is now: also where a hook manager renamed it
 * to (<hook>.old, <hook>.legacy). What the user should know goes to `notes`.
 */
int install_place_remove(const struct install_entry *entry, struct strlist *notes);

/**
 * Whether git would run our lines; a reason in `why_out` (a constant) if not, or if another
 * hook runs them; otherwise "".
 */
enum hooks_state install_place_state(const char *path, const char **why_out);

#endif
