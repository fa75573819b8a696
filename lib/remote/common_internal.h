/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_COMMON_INTERNAL_H
#define CKPT_REMOTE_COMMON_INTERNAL_H

#include "base/base.h"
#include "store/store.h"

struct ckpt_record;

/**
 * What both sides have already, so that only the rest is sent.
 *
 * Git looks for that among the ancestors of what goes over, and a checkpoint has none: without help,
 * it sends every file each time.
 *
 * For a push, git is told that checkpoints which both sides have are parents of what is sent
 * (GIT_GRAFT_FILE): it leaves out what they have, and sends differences from it. The commits stay as
 * they are. Only what the remote lists is used: any other parent would be sent, too.
 *
 * For a fetch, the other side has to do that, and stock git does if we call ourselves a shallow
 * clone: then it takes each commit that we say we have for itself, not as part of a history.
 */
struct common {
	struct oid *commits; /**< a few, newest first */
	size_t nr;
};

/** `there` is what the remote has of the project. */
int common_find(struct common *out, struct store *store, const struct fetched_list *there);
void common_release(struct common *common);

/** Append the line about a checkpoint to a graft file; nothing if there is nothing in common. */
void common_graft(struct strbuf *out, const struct common *common,
		  const struct ckpt_record *record);

/** Append the file "shallow" of a repository that fetches; likewise. */
void common_shallow(struct strbuf *out, const struct common *common);

#endif
