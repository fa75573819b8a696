/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_STATEHASH_H
#define CKPT_RECORD_STATEHASH_H

#include "base/base.h"

struct wt_dir;
struct wt_entry;

/**
 * The state hash: SHA-256 over one line for each captured entry, in byte order
 * of path: "<mode, 6 octal digits> <sha256 of contents or link target> <path>"
 * and a NUL.
 */
enum { STATEHASH_SIZE = 7 + 64 + 1 }; /* "sha256:" and hex and NUL */

/** Of a tree whose entries all carry their SHA-256; returns `out`. */
char *statehash(char out[STATEHASH_SIZE], const struct wt_dir *root);

/** Append the line of one entry; `len` is that of its path. */
void statehash_line(struct strbuf *out, const char *path, size_t len, const struct wt_entry *entry);

/** The state hash of the lines that were fed to `sha256`, which is freed. Returns `out`. */
char *statehash_end(char out[STATEHASH_SIZE], struct digest *sha256);

/** The bytes that are hashed, passed on in pieces. */
typedef int (*statehash_fn)(const char *data, size_t len, void *payload);
int statehash_lines(const struct wt_dir *root, statehash_fn fn, void *payload);

#endif
