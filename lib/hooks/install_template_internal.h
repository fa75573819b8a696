/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_TEMPLATE_INTERNAL_H
#define CKPT_HOOKS_INSTALL_TEMPLATE_INTERNAL_H

#include "base/base.h"
#include "hooks/install.h"

struct install_record;
struct install_where;

/**
 * The template directory (init.templateDir) from which git copies hooks into
 * new repositories, for a git that has no hooks in its configuration.
 *
 * It contains the user's own template, or else git's, and for each hook a file
 * whose only line runs the script in our directory. So what is copied never has
 * to be renewed, and does nothing once that script is gone.
 */
#define INSTALL_TEMPLATE "template"

/** Append that line, with its end. */
void install_template_line(struct strbuf *out, const struct install_where *where, const char *name);

/**
 * Make a new one beside it from `record->template_from`, for these hooks. Fails if a hook in there
 * cannot take the line, and if somebody changed the existing one.
 */
int install_template_prepare(const struct install_record *record, const struct install_where *where,
			     const char *const names[]);

/** Put the new one in place, and set the digests in the record. */
int install_template_place(struct install_record *record, const struct install_where *where);

/** Remove what is beside it, not yet or no longer in place. */
int install_template_clean(const struct install_where *where);

/** Whether the user's template was changed since. */
bool install_template_outdated(const struct install_record *record);

/** Remove it; if somebody changed it, it stays, and a note says so. */
int install_template_remove(const struct install_record *record, const struct install_where *where,
			    struct strlist *notes);

/** Whether git would run our line in the hook file `path`; a constant in `why_out` if not. */
enum hooks_state install_template_state(const char *path, const struct install_where *where,
					const char *name, const char **why_out);

#endif
