/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_CHANGES_INTERNAL_H
#define CKPT_CMD_CHANGES_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct diff;
struct session;

/** The ways to show a difference, on stdout. */

int changes_print_patch(struct diff *diff);
int changes_print_stat(struct diff *diff);

/** "M\t<path>" per line; with `nul`, "M\0<path>\0" as with `git diff -z`. */
void changes_print_names(const struct diff *diff, bool nul);

/** [{"file","status"}] */
json_t *changes_json(const struct diff *diff);

/** The same for what changed in a checkpoint since the previous one of its scope. */
int changes_print_stat_of(struct session *session, const struct ckpt_record *record);
int changes_print_patch_of(struct session *session, const struct ckpt_record *record);
int changes_json_of(json_t **out, struct session *session, const struct ckpt_record *record);

#endif
