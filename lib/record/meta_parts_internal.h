/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_META_PARTS_INTERNAL_H
#define CKPT_RECORD_META_PARTS_INTERNAL_H

#include "base/base.h"

struct ckpt_meta;
struct pack;
struct store;

/** The parts from which meta.c and meta_rules.c make the tree of the metadata; only for these. */

/** Append any text as a name in a tree, and back. */
void meta_encode(struct strbuf *out, const char *text);
void meta_decode(struct strbuf *out, const char *name);

/** The entry "rules", if there are any. */
int meta_add_rules(struct strbuf *tree, struct pack *pack, const struct ckpt_meta *meta);
int meta_read_rules(struct ckpt_meta *meta, struct store *store, const struct oid *oid);

#endif
