/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_MODES_H
#define CKPT_RECORD_MODES_H

#include "base/base.h"

struct wt_dir;

/**
 * The permission bits that a git tree cannot hold.
 *
 * As bytes: a line with the bits that most files, executable files and
 * directories have, then one record for each path with other bits:
 *
 *     file 644 exec 755 dir 755\n
 *     600 <path>\0
 *
 * in byte order of path. Equal trees with equal modes give equal bytes.
 */
struct mode_item {
	const char *path;
	uint16_t mode;
};

struct modes {
	uint16_t file, exec, dir;
	struct mode_item *items; /**< sorted by path */
	size_t nr;
	char *text; /**< the paths point into it */
};

/** Append the bytes for a scanned tree. */
void modes_encode(struct strbuf *out, const struct wt_dir *root);

/** CKPT_ECORRUPT if the bytes are malformed. */
int modes_parse(struct modes *out, const char *data, size_t len);
/** Those of a scanned tree. */
int modes_of_tree(struct modes *out, const struct wt_dir *root);
void modes_release(struct modes *modes);

/** Permission bits of a path whose mode in the tree is `git_mode`. */
uint16_t modes_lookup(const struct modes *modes, const char *path, unsigned git_mode);

/** The records of paths below a directory, "" for the root; `nr_out` is their number. */
const struct mode_item *modes_below(const struct modes *modes, const char *dir, size_t *nr_out);

/**
 * The paths, sorted, whose records differ. False if the common bits differ, so
 * that any path may.
 */
bool modes_differing(struct strlist *out, const struct modes *a, const struct modes *b);

#endif
