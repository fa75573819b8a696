/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_COMPOSE_INTERNAL_H
#define CKPT_RESTORE_COMPOSE_INTERNAL_H

#include "restore/compose.h"

struct pack;
struct store;
struct strlist;
struct worktree_state;

/** The other side of compose.h: for compose*.c and restore_compose.c alone. */

enum compose_what { COMPOSE_PUT, COMPOSE_DIR, COMPOSE_MODE, COMPOSE_REMOVE };

struct compose_change {
	char *path;
	enum compose_what what;
	struct wt_entry entry; /**< COMPOSE_PUT: all but the name; otherwise only the mode */
	char *data;	       /**< contents that the store may not have; NULL: it has them */
	size_t len;
	size_t order; /**< of two for one path, the later one counts */
};

struct compose {
	struct store *store;
	const struct worktree_state *state;
	unsigned threads;
	struct compose_change *items;
	size_t nr, alloc;
	size_t said;		   /**< how often something was said, forgotten or not */
	struct strlist *conflicts; /**< "<why>\n<path>" */
	struct arena arena;	   /**< of `root`, as far as it is not the scan's */
	struct wt_dir *root;	   /**< what was composed */
	struct wt_dir **dirs;	   /**< those that are not the scan's */
	size_t dirs_nr, dirs_alloc;
};

struct compose *compose_new(struct store *store, const struct worktree_state *state,
			    unsigned threads, struct strlist *conflicts);
void compose_free(struct compose *compose);

/** Make `root` of what was said, with every name and hash; nothing is written. */
int compose_build(struct compose *compose);

/** Append the contents of what shall be at a path, after compose_build(). */
int compose_read_new(struct strbuf *out, const struct compose *compose, const char *path,
		     const struct wt_entry *entry);

/** Add what the store does not have to a pack, after compose_build(). */
int compose_pack(struct compose *compose, struct pack *pack);

/** How many bytes that may be. */
uint64_t compose_bytes(const struct compose *compose);

/** compose_tree.c: the tree alone. The changes are sorted, each path once. */
void compose_make_tree(struct compose *compose);

/** The order in which everything below a path follows it. */
int compose_compare_paths(const char *a, const char *b);

#endif
