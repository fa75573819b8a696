/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_TRANSPORT_INTERNAL_H
#define CKPT_REMOTE_TRANSPORT_INTERNAL_H

#include "base/base.h"
#include "store/store.h"

struct remotes_item;
struct session;

/**
 * Talking to a remote: refs/checkpoints/<project>/<machine>/<id> there, by stock git.
 *
 * Clones of a project find each other by its name: the id of its root commit (the smallest, if it
 * has several), or the setting `project`.
 */
#define TRANSPORT_REFS "refs/checkpoints/"

/** Beside it, the commit at HEAD of a checkpoint that was handed off. */
#define TRANSPORT_HEADS "refs/handoff/"

/** CKPT_ERROR, with the way to set it, if it is not known. The caller frees it. */
int transport_project(char **out, struct session *session);

/** The name of this machine; the caller frees it. */
char *transport_machine(const struct session *session);

struct transport {
	struct session *session;
	const struct remotes_item *remote;
	const char *gitdir; /**< a repository of ours */
	bool shown;	    /**< git's progress goes to the terminal */
	uint64_t limit;	    /**< bytes that may arrive; 0: no limit */
	bool *lost;	    /**< set if it failed because nothing was heard; may be NULL */
	const struct strbuf *grafts; /**< see common_internal.h; NULL: none */
};

/**
 * Run git, whose arguments name the remote by its URL; `out` has all it says. CKPT_ERROR, naming
 * the remote, with the reason that git gives.
 */
int transport_run(struct strbuf *out, const struct transport *transport, const char *const args[]);

/**
 * What a remote has below `prefix` ("refs/checkpoints/<project>/"), sorted. Refs whose names are
 * not of ours are left out, and named in `odd` (may be NULL), a few of them.
 */
int transport_list(struct fetched_list *out, struct strlist *odd,
		   const struct transport *transport, const char *prefix);

/** Whether that one is the newest of its machine. */
bool transport_is_newest(const struct fetched_list *there, size_t at);

/* --- for tests --- */

enum { TRANSPORT_REFS_MAX = 1000000 };

/** Parse what `git ls-remote` says; it is what the remote says, and may be anything. */
int transport_parse_list(struct fetched_list *out, struct strlist *odd, const char *text,
			 size_t len, const char *prefix);

#endif
