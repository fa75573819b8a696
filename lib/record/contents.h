/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_CONTENTS_H
#define CKPT_RECORD_CONTENTS_H

struct snapshot;
struct strlist;

/**
 * Compute the SHA-256 of every file of a checkpoint from its stored bytes, with
 * `threads` threads; loads the whole tree. Afterwards statehash() and its like
 * can be used on it.
 */
int contents_hash(struct snapshot *snapshot, unsigned threads);

/** The same for these paths and what is below them alone. */
int contents_hash_paths(struct snapshot *snapshot, const struct strlist *paths, unsigned threads);

#endif
