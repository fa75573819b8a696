/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_DIFFSTAT_H
#define CKPT_UI_DIFFSTAT_H

#include "base/base.h"

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
