/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_TREES_H
#define CKPT_STORE_TREES_H

struct pack;
struct wt_dir;

/**
 * Build the trees of all directories that are not known, with `threads`
 * threads, and add them to the pack; without a pack they are only named. All
 * files below must be known.
 */
int trees_build(struct wt_dir *root, struct pack *pack, unsigned threads);

#endif
