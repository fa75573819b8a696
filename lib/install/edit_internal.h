/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSTALL_EDIT_INTERNAL_H
#define CKPT_INSTALL_EDIT_INTERNAL_H

#include "base/base.h"
#include "install/install.h"

/** What a change means for the text of a file, by its kind. Texts only, no files. */

/** Which of it is in the text. CKPT_ERROR if the text cannot be edited. */
int edit_look(enum install_state *out, const struct install_change *change,
	      const struct strbuf *text);

/** Add what is missing, unless the text has something of the user's that does the same. */
int edit_put(struct strbuf *text, const struct install_change *change);

/**
 * Remove what is exactly ours; what else is in the text stays. `bare`: nothing is left but what a
 * new file begins with.
 */
int edit_remove(struct strbuf *text, const struct install_change *change, bool *bare);

/** Whether our lines are in a hook. */
bool edit_hook_has_lines(const struct install_change *change, const struct strbuf *text);

/** Whether it runs what was put aside for it: it is of our making, whatever was added to it. */
bool edit_hook_runs_aside(const struct install_change *change, const struct strbuf *text);

/** True if it was ours as a whole; otherwise everything but our lines stays. */
bool edit_hook_remove(struct strbuf *text, const struct install_change *change);

/** What the text of git's configuration is with the values, or without them: git edits it. */
int edit_config_look(enum install_state *out, const struct install_change *change,
		     const struct strbuf *text);
int edit_config_put(struct strbuf *text, const struct install_change *change);
int edit_config_remove(struct strbuf *text, const struct install_change *change);

/**
 * Write it under git's own lock. CKPT_ERROR if that is taken, and if the file is no longer `before`
 * (NULL: there is none).
 */
int edit_config_write(int dirfd, const char *name, const struct strbuf *before,
		      const struct strbuf *text, mode_t mode);

/** Remove what a killed process left of that. */
void edit_config_tidy(int dirfd, const char *name);

/** The directory of the record, where an edit may use a temporary; NULL: none, the caller frees it. */
char *install_record_dir(void);

#endif
