/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_INTERNAL_H
#define CKPT_FLOW_FLOW_INTERNAL_H

#include "flow/flow.h"

/** What moving on and resuming after an interruption share. */

/** Lock the store; CKPT_ENOTFOUND if there is none. */
int flow_lock(struct session *session);

/** After a change, or a failure: write the copy of the state, unlock the store; returns `err`. */
int flow_close(struct flow_result *out, struct session *session, int err);

/** True if the output exists now. */
bool flow_output_exists(const struct session *session, const char *path);

/** Put the live workflow into the archive; `flow` is it, NULL if it is unusable. */
int flow_put_away(struct flow_result *out, struct session *session, const struct flow *flow);

/* --- flow_files.c --- */

/**
 * The directories of workflows in a store; each has a phase.json and a
 * workflow.json:
 *
 *     checkpoint/flow/        the live one; exists if its phase.json does
 *     checkpoint/flow-next/   a new one, until the old one is in the archive
 *     checkpoint/flow-archive/<n>_<time>_<workflow>/   archived
 *     checkpoint/flow-archive/<n>_<time>.corrupt/      archived, unusable
 *
 * A workflow is put into the archive, or taken back, by renaming its directory.
 * If one takes the place of another, the new one is prepared in flow-next; it
 * is the live one from the moment at which the other one is renamed, wherever
 * this process is killed. Whoever changes anything holds the lock of the store.
 */

/** With the lock just taken: finish what a killed process began. */
int flow_files_settle(struct store *store);

/** Put a new workflow into flow-next; flow_files_settle() makes it the live one. */
int flow_files_prepare(struct flow *flow, struct store *store);

/** Replace phase.json by the state; `text` follows. */
int flow_files_write(struct flow *flow, struct store *store);

/** Replace phase.json by this text. */
int flow_files_write_text(struct store *store, const struct strbuf *text);

/** Put the live one into the archive, as corrupt if `flow` is NULL. The caller frees `path_out`. */
int flow_files_archive(char **path_out, struct store *store, const struct flow *flow);

/**
 * Make an archived workflow the live one, of which there must be none; `out` is read from it.
 * CKPT_ECORRUPT if it cannot be used; then it stays where it is.
 */
int flow_files_take_back(struct flow *out, struct store *store, const struct flow_archive *archive);

/** Remove all but the last FLOW_ARCHIVES_MAX; corrupt ones neither count nor go. */
void flow_files_trim(struct store *store);

/* the copy of phase.json in a directory that the user chose */

/**
 * Turn a directory that a user typed into what a plan holds. CKPT_EREFUSED if
 * it has a phase.json that is not ours.
 */
int flow_mirror_dir(char **out, const struct session *session, const char *typed);

/** Write the copy of the live workflow, if it has one. */
int flow_mirror_write(const struct session *session);

/** Remove the copy, unless somebody changed it. */
void flow_mirror_remove(const struct session *session, const struct flow *flow);

#endif
