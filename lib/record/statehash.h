/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_STATEHASH_H
#define CKPT_RECORD_STATEHASH_H

#include "base/base.h"

struct wt_dir;
struct wt_entry;

/**
 * The state hash: one number for every path, mode and content of a tree.
 *
 * Each directory has a hash: the SHA-256 over one line for each of its entries,
 * in byte order of name: "<mode, 6 octal digits> <sha256> <name>" and a NUL.
 * The sha256 is that of a file's contents, of a link's target, or a directory's
 * own hash, with the mode 040000. The state hash is the root's. A directory in
 * which nothing changed keeps its hash, so that the cost follows the change.
 * */
enum {
	STATEHASH_SIZE = 7 + 64 + 1, /* "sha256:" and hex and NUL */
	STATEHASH_VERSION = 2,	     /* the name of this algorithm in JSON */
};

/** Of a tree whose entries all carry their SHA-256; returns `out`. Directories are `hashed` afterwards. */
char *statehash(char out[STATEHASH_SIZE], struct wt_dir *root);

/** Part of a tree: files, links, and directories of which nothing below is in the list. */
struct statehash_item {
	char *path;
	const struct wt_entry *entry;
};

/** The state hash that a tree of these alone would have; they are put in another order. */
char *statehash_items(char out[STATEHASH_SIZE], struct statehash_item *items, size_t nr);

/** The state hash of the bytes that were fed to `sha256`, which is freed. Returns `out`. */
char *statehash_end(char out[STATEHASH_SIZE], struct digest *sha256);

/**
 * One line for each file, link and empty directory, with its whole path, in byte order of path,
 * passed on in pieces: everything that is needed to compute the state hash.
 */
typedef int (*statehash_fn)(const char *data, size_t len, void *payload);
int statehash_lines(const struct wt_dir *root, statehash_fn fn, void *payload);

#endif
