/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_EDIT_INTERNAL_H
#define CKPT_SETTINGS_EDIT_INTERNAL_H

#include "base/base.h"

/**
 * Changes to the text of a settings file. Comments, other keys, indentation and line endings stay as
 * they are.
 */

/**
 * Set a plain key: in place of its last value, or, if it has none or with `add`, after the last
 * key before the first section. A comment after the old value stays.
 */
void edit_set(struct strbuf *text, const char *key, const char *value, bool add);

/** Remove all lines of a plain key; returns how many there were. */
size_t edit_unset(struct strbuf *text, const char *key);

/** How many lines set the plain key. */
size_t edit_count(const struct strbuf *text, const char *key);

#endif
