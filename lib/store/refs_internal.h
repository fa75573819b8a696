/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_REFS_INTERNAL_H
#define CKPT_STORE_REFS_INTERNAL_H

#include "base/base.h"

struct store;

/** One ref, `<dir>/<name>`: for refs.c and names.c. */

/** Written in one go; the directory must exist. */
int refs_write(struct store *store, const char *dir, const char *name, const struct oid *commit,
	       enum fs_durability durability);

/** Loose and packed; it is not an error if it does not exist. */
int refs_remove(struct store *store, const char *dir, const char *name);

#endif
