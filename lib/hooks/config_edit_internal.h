/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_CONFIG_EDIT_INTERNAL_H
#define CKPT_HOOKS_CONFIG_EDIT_INTERNAL_H

#include "base/base.h"

/**
 * Changes to the text of a git configuration file that can be reverted byte
 * for byte. Texts only, no files; `git config` would rewrite line endings and
 * leave an empty section.
 *
 * A section is named "core" or, with a subsection, "hook.<subsection>"; keys
 * are not case-sensitive.
 */

/** What was changed, to be kept for config_edit_undo(). */
struct config_edit {
	char *section;
	char *key;
	char *value; /**< ours */
	char *old;   /**< what was in its place, "key = value"; NULL: there was no such key */
	bool header; /**< we added the section, too */
};

void config_edit_release(struct config_edit *edit);

/**
 * Set a key: in place of its last value, otherwise after the section's last
 * key, otherwise in a new section at the end. `edit` records what was done.
 */
void config_edit_set(struct strbuf *text, struct config_edit *edit, const char *section,
		     const char *key, const char *value);

/**
 * Revert it. If the key has another value by now, nothing is changed, since
 * somebody else set it; returns false.
 */
bool config_edit_undo(struct strbuf *text, const struct config_edit *edit);

/**
 * Whether `after`, which is `before` with these edits in order, can be
 * trusted: git reads every other key as before, and reverting the edits gives
 * `before`, byte for byte. Also false if git could not read `before`.
 */
bool config_edit_check(const struct strbuf *before, const struct strbuf *after,
		       const struct config_edit *edits, size_t nr);

/** Append the last value of a key ("true" for a key without a value); false if it is not set. */
bool config_edit_get(struct strbuf *out, const struct strbuf *text, const char *section,
		     const char *key);

/** How often a key, "core.pager" in lower case, is set to a value. */
size_t config_edit_count(const struct strbuf *text, const char *key, const char *value);

#endif
