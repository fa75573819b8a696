/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_INCOMING_INTERNAL_H
#define CKPT_REMOTE_INCOMING_INTERNAL_H

#include "base/base.h"
#include "look/look.h"
#include "session/session.h"
#include "store/store.h"

struct session;

/**
 * Checkpoints that came from outside, in a repository of their own (scratch.h) until they are
 * known to be what they say. Nothing about them is believed before that:
 *
 *  - the commit and the commit of its metadata have the form that this program gives them, and
 *    lead nowhere else;
 *  - trees have only names, kinds and an order that a save makes; names are not ".git", in no
 *    spelling that the file system takes for it; there are no more paths than `maxFiles`, however the trees are nested;
 *  - every object has the contents that its name says, the state hashes are those recorded, and
 *    the state of the repository is one that git can have (look/verify.h, gitstate/gitstate.h).
 */
struct incoming {
	struct session *session;
	struct session apart; /**< the same, with the other repository as its store */
	struct scratch scratch;
	struct strlist linked; /**< packs of the store that are there, too */
	struct verify verify;
};

/** Make the repository. Call incoming_end() in any case. */
int incoming_begin(struct incoming *out, struct session *session);
void incoming_end(struct incoming *incoming);

/** Let it have what the store has, so that only the rest need arrive of what is `there`. */
int incoming_share(struct incoming *incoming, const struct fetched_list *there);

/** Once its objects are there. */
int incoming_open(struct incoming *incoming);

/** CKPT_ECORRUPT, with what is wrong, if it is not a sound checkpoint. */
int incoming_check(struct incoming *incoming, const struct ref_item *ref);

/**
 * Bring all objects that these checkpoints need into the store, durably. They were checked. The
 * store must be locked.
 */
int incoming_adopt(struct incoming *incoming, const struct ref_list *refs);

/* --- incoming_tree.c --- */

struct incoming_limits {
	uint64_t paths; /**< how many more may be met; counts down */
	bool folds;	/**< the worktree is where ".GIT" and ".git" are the same */
};

/** A commit has just these lines before its message, in this order. `parent`: one parent, or none. */
int incoming_check_commit(struct store *store, const struct oid *oid, bool parent,
			  struct oid *tree_out);

/** Everything that a tree leads to, by name; contents of files are not read. */
int incoming_check_tree(struct incoming_limits *limits, struct store *store,
			const struct oid *tree);

/** Whether a restore could use such a path: not absolute, not empty, no "..", no ".git". */
bool incoming_path_valid(const char *path);

#endif
