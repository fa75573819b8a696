/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSTALL_ASIDE_INTERNAL_H
#define CKPT_INSTALL_ASIDE_INTERNAL_H

#include "base/base.h"

/**
 * A hook of somebody else that cannot take lines, renamed to make room for ours
 * (INSTALL_HOOK). The link that ours runs it by says that it was us who renamed
 * it. At every moment there is a hook. `name` is a file in `dirfd`, `hook` the
 * name of the hook, which a hook manager may have renamed.
 */

/** Whether there is one. */
bool aside_exists(int dirfd, const char *hook);

/**
 * CKPT_ERROR if the name is taken, and not by one that was put aside earlier and can be moved on.
 * `ours` is the text of our hook.
 */
int aside_check(int dirfd, const char *name, const char *hook, const char *ours);

/** Give it a second name, and make the link; the caller then writes over the first. */
int aside_put(int dirfd, const char *name, const char *hook, const char *ours);

/** Put it back in the place of `name`. */
int aside_put_back(int dirfd, const char *name, const char *hook);

/**
 * After all others: what is still aside gets its name back. If there is another hook by now, it is
 * put beside that, and `*kept` becomes its name. Then the link goes.
 */
int aside_settle(char **kept, int dirfd, const char *hook);

#endif
