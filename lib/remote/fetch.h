/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_FETCH_H
#define CKPT_REMOTE_FETCH_H

#include "base/base.h"
#include "record/record.h"
#include "tree/tree.h"

struct remotes_item;
struct session;

enum fetch_state {
	FETCH_NEW,   /**< it is here now, checked */
	FETCH_KNOWN, /**< it was here before */
	FETCH_BAD,   /**< it could not be fetched, or is not what it says: `why` */
};

struct fetch_item {
	struct fetched_item at;
	struct ckpt_record record; /**< unless it is bad */
	enum fetch_state state;
	char *why;
};

struct fetch_opts {
	bool all;
	bool shown; /**< git's progress on stderr */
};

struct fetch_result {
	struct fetch_item *items;
	size_t nr, alloc;
	struct strlist odd; /**< some refs there whose names are not those of checkpoints */
};

void fetch_result_release(struct fetch_result *result);

/**
 * Bring checkpoints of other machines in: `names` ("<machine>/<id>", "<machine>/@"), or the newest
 * of each, or all. They are hostile until they were checked, and are listed only then
 * (incoming_internal.h, store/fetched.h). One that is bad does not keep the others out.
 */
int fetch_checkpoints(struct fetch_result *out, struct session *session,
		      const struct remotes_item *remote, const struct strlist *names,
		      const struct fetch_opts *opts);

/**
 * What is wrong with the list of remotes, with what was fetched, and what a killed transfer left:
 * doctor's part about remotes. With `fix`, a damaged list is set aside, and damaged checkpoints of
 * other machines are removed, which can be fetched again. `progress` may be NULL.
 */
int remote_check(struct problems *out, struct session *session, bool fix, progress_fn progress);

/** All that were fetched, without asking anybody: by machine, newest first. */
int fetch_list(struct ckpt_records *out, struct session *session);

#endif
