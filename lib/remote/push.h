/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_PUSH_H
#define CKPT_REMOTE_PUSH_H

#include "base/base.h"
#include "record/record.h"

struct remotes_item;
struct session;

enum push_state {
	PUSH_SENT,    /**< it is there now; of a dry run: it would be */
	PUSH_THERE,   /**< it was there before */
	PUSH_REFUSED, /**< it may have secrets: `why` */
	PUSH_FAILED,  /**< the remote did not take it: `why` */
};

struct push_item {
	struct ckpt_record record;
	enum push_state state;
	char *why;
};

struct push_opts {
	bool all, pinned; /**< in place of names */
	bool force;	  /**< send what may have secrets, too */
	bool dry_run;
	bool prune;	  /**< remove what this store had, and removed according to its log */
	bool shown;	  /**< git's progress on stderr */
};

struct push_result {
	struct push_item *items;
	size_t nr, alloc;
	uint64_t bytes; /**< about what has to go over */
	struct strlist pruned; /**< ids */
};

void push_result_release(struct push_result *result);

/**
 * Send checkpoints (`names`; none: "@") to a remote. CKPT_EREFUSED if one that was named may have
 * secrets. No lock is held meanwhile; retention spares them.
 */
int push_checkpoints(struct push_result *out, struct session *session,
		     const struct remotes_item *remote, const struct strlist *names,
		     const struct push_opts *opts);

/** Remove all that a machine has on a remote; with `dry_run`, only list the ids. */
int push_remove_machine(struct strlist *out, struct session *session,
			const struct remotes_item *remote, const char *machine, bool dry_run);

/**
 * Why a checkpoint should not leave this machine without being asked twice: a sentence that the
 * caller frees, or NULL.
 */
int push_doubt(char **out, struct session *session, const struct ckpt_record *record);

/**
 * The same of the commit at its HEAD, with all that lead to it and that no remote has; `published`:
 * there are none. `why` may be NULL: then only that is asked.
 */
int push_doubt_history(bool *published, char **why, struct session *session, const char *commit);

#endif
