/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LOOSE_REFS_INTERNAL_H
#define CKPT_STORE_LOOSE_REFS_INTERNAL_H

#include "base/base.h"

struct ref_list;
struct store;
struct loose_refs;

/**
 * The checkpoints whose refs are files of their own, by id; for refs.c alone. They are read once for
 * a command that asks several times: whoever makes, replaces or removes one of the files changes the
 * times of their directory; what a bad disk does to one shows to the next command. Valid until the next
 * call.
 */
int loose_refs_read(const struct ref_list **out, struct store *store);

/** One of them is about to change. */
void loose_refs_forget(struct store *store);

void loose_refs_free(struct loose_refs *loose);

#endif
