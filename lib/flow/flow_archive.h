/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_ARCHIVE_H
#define CKPT_FLOW_FLOW_ARCHIVE_H

#include "base/base.h"
#include "record/record.h"

/** Archived workflows. */

enum { FLOW_ARCHIVES_MAX = 5 };

struct flow_archive {
	char *path; /**< absolute */
	int64_t archived_at;
	bool corrupt;
	bool readable;           /**< `state` is set */
	struct flow_state state;
};

struct flow_archives {
	struct flow_archive *items; /**< in the order of archiving */
	size_t nr, alloc;
};

/** All archived workflows, but no copy of the live one. */
int flow_archives_read(struct flow_archives *out, struct store *store);
void flow_archives_release(struct flow_archives *archives);

/**
 * Copy the files into the archive as they are. The copy counts once phase.json
 * is gone or about another workflow. The caller frees `path_out`.
 */
int flow_archive_copy(char **path_out, struct store *store, const struct flow *flow,
		      bool corrupt);

/**
 * The files of an archived workflow become those of the live one, of which there must be none; the
 * copy in the archive stays. `archive` is one of flow_archives_read(). CKPT_ECORRUPT if its state
 * cannot be read.
 */
int flow_archive_put_back(struct store *store, const struct flow_archive *archive);

/** Remove it from the archive. */
int flow_archive_remove(struct store *store, const struct flow_archive *archive);

/** Remove all but the last FLOW_ARCHIVES_MAX; corrupt ones neither count nor go. */
void flow_archive_trim(struct store *store);

#endif
