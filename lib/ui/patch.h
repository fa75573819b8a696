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

/* --- diffstat.c --- */

/** The histogram of `git diff --stat`: one line per file, then the totals. */

struct diffstat_file {
	const char *path;
	const char *from;      /**< the old path if it was renamed, or NULL */
	size_t added, removed; /**< lines; ignored if `binary` */
	bool binary;
	unsigned long long old_size, new_size; /**< bytes if `binary`; both 0: the content is the same */
};

/** Append the name as it is shown; that of a rename is "old => new" or "dir/{old => new}/file". */
void diffstat_name(struct strbuf *out, const struct diffstat_file *file);

/** Append the last line alone: " 2 files changed, 3 insertions(+), 1 deletion(-)". */
void diffstat_summary(struct strbuf *out, const struct diffstat_file *files, size_t nr);

/** Append it to `out`, fitted into `width` columns, coloured or not. */
void diffstat_format(struct strbuf *out, const struct diffstat_file *files, size_t nr,
		     unsigned width, bool color);

/**
 * Print to stdout with the width and colour of the terminal, or 80 columns and no colour without
 * one.
 */
void diffstat_print(const struct diffstat_file *files, size_t nr);

#endif
