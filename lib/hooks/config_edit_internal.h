/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_CONFIG_EDIT_INTERNAL_H
#define CKPT_HOOKS_CONFIG_EDIT_INTERNAL_H

#include "base/base.h"

#include <stdbool.h>

/**
 * Changes to the text of a git configuration file that can be taken back so
 * that not a byte is different. Texts only, no files; `git config` would
 * rewrite line ends and leave an empty section behind.
 *
 * A section is named "core" or, with a subsection, "hook.<subsection>"; a key
 * is given in any case of letters.
 */

/** What was changed, to be kept for config_edit_undo(). */
struct config_edit {
	char *section;
	char *key;
	char *value; /**< ours */
	char *old;   /**< what stood in its place, "key = value"; NULL: there was no such key */
	bool header; /**< the section is ours, too */
};

void config_edit_release(struct config_edit *edit);

/**
 * Set a key: in place of its last value, else behind the section's last key,
 * else in a new section at the end. What was done is put into `edit`.
 */
void config_edit_set(struct strbuf *text, struct config_edit *edit, const char *section,
		     const char *key, const char *value);

/**
 * Take it back. If the key has got another value since, nothing is changed:
 * that is somebody else's. False then.
 */
bool config_edit_undo(struct strbuf *text, const struct config_edit *edit);

/**
 * Whether `after`, which is `before` with edits made to it in their order, can
 * be trusted: git reads every other key as before, and taking the edits back
 * gives `before`, byte by byte. False as well if git could not read `before`.
 */
bool config_edit_check(const struct strbuf *before, const struct strbuf *after,
		       const struct config_edit *edits, size_t nr);

/** Append the last value of a key ("true" for one that stands alone); false if there is none. */
bool config_edit_get(struct strbuf *out, const struct strbuf *text, const char *section,
		     const char *key);

/** How often a key is set to a value. */
size_t config_edit_count(const struct strbuf *text, const char *section, const char *key,
			 const char *value);

#endif
