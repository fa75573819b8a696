/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_OBJECTS_H
#define CKPT_STORE_OBJECTS_H

#include "base/base.h"

struct store;

/**
 * Objects of a store. Those in packs are read by packs.c, loose ones (where
 * stock git has written to the store) through libgit2. Safe from any thread
 * after objects_open(), even while another process replaces packs by others
 * with the same objects: what is not found is looked up again in the packs
 * that appeared since.
 */

/** Only stock git makes tags. */
enum object_type { OBJECT_COMMIT = 1, OBJECT_TREE = 2, OBJECT_BLOB = 3, OBJECT_TAG = 4 };

/** "commit", "tree", "blob", "tag". */
const char *objects_type_name(enum object_type type);

/** Open the object database; must be called before threads use the store. */
int objects_open(struct store *store);

/** Open it again, to see the current packs. No thread may be reading. */
int objects_reopen(struct store *store);

/** Append the contents of an object. CKPT_ENOTFOUND if it is missing, CKPT_ECORRUPT if damaged. */
int objects_read(struct strbuf *out, struct store *store, const struct oid *oid,
		 enum object_type type);

/** The same for any type. */
int objects_read_any(struct strbuf *out, enum object_type *type_out, struct store *store,
		     const struct oid *oid);

/** Pass on the contents of a blob piece by piece; see packs_stream(). */
int objects_stream(struct store *store, const struct oid *oid,
		   int (*fn)(const void *data, size_t len, void *payload), void *payload);

/** Read a whole object, of any size, and compare its name; errors as in objects_read(). */
int objects_check(struct store *store, const struct oid *oid);

/** The size of an object without reading it all. */
int objects_size(uint64_t *out, struct store *store, const struct oid *oid);

/** True if a pack has it that existed when the store was opened, or was found since. */
bool objects_exist(struct store *store, const struct oid *oid);

/** A number that changes when a pack is added, removed, replaced or truncated. */
uint64_t objects_packs_fingerprint(struct store *store);

/** One entry of a tree object. */
struct tree_entry {
	const char *name; /**< within the tree's bytes, NUL-terminated */
	size_t name_len;
	unsigned mode; /**< 040000, 0100644, 0100755, 0120000 */
	struct oid oid;
};

/** Get the next entry of a tree's bytes at `*at`; 1, 0 at the end, CKPT_ECORRUPT. */
int objects_tree_next(struct tree_entry *out, const struct strbuf *tree, size_t *at);

/**
 * The object that a line "<word><name>" of a commit or tag names, `word` with its blank; `*p`, in
 * NUL-terminated text, moves to the next line. False if the line is another one.
 */
bool objects_take_line(const char **p, const char *word, struct oid *out);

#endif
