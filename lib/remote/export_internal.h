/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_EXPORT_INTERNAL_H
#define CKPT_REMOTE_EXPORT_INTERNAL_H

#include "remote/export.h"

/** One for each format: write everything to `fd`. */

int export_patch(struct export_result *out, struct session *session,
		 const struct ckpt_record *record, int fd);
int export_tar(struct session *session, const struct ckpt_record *record, int fd);

/* --- parts, for tests --- */

struct tar_entry {
	const char *path; /**< without a slash at the end */
	size_t path_len;
	char type;	  /**< '0' file, '2' link, '5' directory */
	unsigned mode;
	uint64_t size;	  /**< of a file */
	const char *target; /**< of a link */
	size_t target_len;
	int64_t mtime;
};

enum { TAR_BLOCK = 512 };

/**
 * Append the header of an entry, whole blocks: in ustar format, after a pax header for what does
 * not fit into it.
 */
void export_tar_header(struct strbuf *out, const struct tar_entry *entry);

#endif
