/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_CONFIG_INTERNAL_H
#define CKPT_HOOKS_INSTALL_CONFIG_INTERNAL_H

#include "base/base.h"
#include "hooks/install.h"
#include "hooks/install_record_internal.h"

struct gitconfig;
struct install_where;

/** The hooks' part of the repository's configuration: the guard, and hooks of git 2.54. */

/** True if this machine's git runs hooks that are in the configuration. */
bool install_config_supported(void);

/** The file as it was read, and as it should be. */
struct install_config {
	struct strbuf before, text;
};

#define INSTALL_CONFIG_INIT              \
	{                                \
		STRBUF_INIT, STRBUF_INIT \
	}

/** Append the file; a user's need not exist. */
int install_config_read(struct strbuf *out, const struct install_where *where);

/**
 * The value of a key (lower case) without us: that in `text`, the file without our changes,
 * otherwise that of the system's and the user's files.
 */
bool install_config_before(struct strbuf *out, const struct strbuf *text,
			   const struct gitconfig *config, const char *section, const char *key);

void install_config_release(struct install_config *config);

/** True if nothing is in the way of a guard here. */
bool install_config_has_room(const struct install_record *record, const struct install_where *where,
			     const struct gitconfig *config);

/**
 * The configuration as it should be, from the record's choices. The necessary
 * changes are added to `record->edits`: until it is in place, a record with the
 * old and the new edits can undo both. `record->chain` becomes the program that
 * is asked after ours. If the guard cannot be installed, a note says why, and
 * `record->guard` is cleared; an installed guard stays if only a file other than
 * the repository's overrides it, which other worktrees may not have.
 */
int install_config_plan(struct install_config *out, struct install_record *record,
			const struct install_where *where, const struct gitconfig *config,
			const char *const names[], struct strlist *notes);

/** The configuration without the changes in the record. */
int install_config_undone(struct install_config *out, const struct install_record *record,
			  const struct install_where *where);

/**
 * Write it under git's own lock, if it differs. Fails if the file was changed
 * since it was read.
 */
int install_config_write(const struct install_config *config, const struct install_where *where);

/** Whether git asks the guard; if not, why, and what to do about it (constants). */
enum hooks_state install_config_guard_state(const struct install_where *where,
					    const struct gitconfig *config, const char **why_out,
					    const char **advice_out);

/** The same for a hook of the configuration. */
enum hooks_state install_config_hook_state(const struct install_where *where,
					   const struct gitconfig *config, const char *name,
					   const char **why_out, const char **advice_out);

#endif
