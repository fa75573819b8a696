/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_PATCH_H
#define CKPT_UI_PATCH_H

#include "base/base.h"

/**
 * One file's change as a patch, exactly as `git diff` prints it: `git apply`
 * takes it. Nothing is converted, and attributes are not used.
 *
 * A NULL path means that the file does not exist on this side; the other
 * fields of this side are then ignored. Modes are those of the state hash,
 * with all permission bits (0100600). A directory has no content and no place
 * in a patch: it counts as missing, except that the permissions of a directory
 * on both sides are shown.
 *
 * Content is given whole. NULL with a length other than 0 stands for content
 * too large to be read: it is shown as binary, and equal if the ids are.
 */
struct patch_input {
	const char *old_path, *new_path;
	unsigned old_mode, new_mode;
	struct oid old_oid, new_oid;
	const char *old_data, *new_data;
	size_t old_len, new_len;
	unsigned similarity; /**< percent, if the paths differ: a rename */
};

enum patch_ignore {
	PATCH_ALL_SPACE = 1 << 0,    /**< -w */
	PATCH_SPACE_CHANGE = 1 << 1, /**< -b */
	PATCH_SPACE_AT_EOL = 1 << 2,
	PATCH_BLANK_LINES = 1 << 3,
};

/** How lines are compared and shown. */
struct patch_opts {
	unsigned context; /**< lines around a change */
	unsigned ignore;  /**< patch_ignore */
	bool color;
	bool reverse; /**< label it as `git diff -R`: from b/ to a/ */
};

#define PATCH_OPTS_INIT      \
	{                    \
		.context = 3 \
	}

/** Append the patch to `out`; nothing if nothing differs, or nothing that is not ignored. */
int patch_print(struct strbuf *out, const struct patch_input *in, const struct patch_opts *opts);

/** Count the lines; `binary_out` true: there are none to count, both are 0. */
int patch_count(size_t *added_out, size_t *removed_out, bool *binary_out,
		const struct patch_input *in, const struct patch_opts *opts);

#endif
