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

#endif
