/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_INCOMING_INTERNAL_H
#define CKPT_REMOTE_INCOMING_INTERNAL_H

#include "look/look.h"
#include "session/session.h"

/**
 * Checkpoints that came from outside, in a repository of their own (scratch.h) until they are
 * known to be what they say. Nothing about them is believed before that:
 *
 *  - the commit and the commit of its metadata have the form that this program gives them, and
 *    lead nowhere else;
 *  - trees have only names, kinds and an order that a save makes; names are not ".git", in no
 *    spelling that the file system takes for it; there are no more paths than `maxFiles`, however
 *    the trees are nested;
 *  - every object has the contents that its name says, the state hashes are those recorded, and
 *    the state of the repository is one that git can have (look/verify.h, gitstate/gitstate.h).
 */
struct incoming {
	struct session *session;
	struct session apart; /**< the same, with the other repository as its store */
	struct scratch scratch;
	struct strlist linked; /**< packs of the store that are there, too */
	struct strlist arrived; /**< packs that incoming_count() has let in */
	uint64_t bytes;		/**< what their objects are, inflated */
	struct verify verify;
};

/** Make the repository. Call incoming_end() in any case. */
int incoming_begin(struct incoming *out, struct session *session);
void incoming_end(struct incoming *incoming);

/** Let it have what the store has, so that only the rest of what both sides have need arrive. */
int incoming_share(struct incoming *incoming, const struct oid *common, size_t nr);

/**
 * After objects have arrived: CKPT_ERROR, and these removed, if all that has come would be more than
 * maxFetchSize as files, however small it is as deltas and deflated.
 */
int incoming_count(struct incoming *incoming);

/** CKPT_ERROR, with what to do about it. */
int incoming_refuse_size(const struct session *session);

/** Once its objects are there. */
int incoming_open(struct incoming *incoming);

/** CKPT_ECORRUPT, with what is wrong, if it is not a sound checkpoint. */
int incoming_check(struct incoming *incoming, const struct ref_item *ref);

/**
 * Bring all objects that these checkpoints need into the store, durably. They were checked. The
 * store must be locked.
 */
int incoming_adopt(struct incoming *incoming, const struct ref_list *refs);

/* --- incoming_check.c: what is looked at before anything counts --- */

enum { INCOMING_REFS_MAX = 1000000 };

/**
 * Parse what `git ls-remote` says of refs below `prefix` ("refs/checkpoints/<project>/"); it is what
 * the remote says, and may be anything. Below refs/checkpoints-newest/ there is no id. Sorted. Refs whose names are not of ours are left out, and a
 * few of them named in `odd` (may be NULL).
 */
int incoming_parse_refs(struct fetched_list *out, struct strlist *odd, const char *text, size_t len,
			const char *prefix);

/** What the head of a git bundle says; it may be from anybody. */
struct incoming_name {
	char *name;
	struct oid commit;
};

struct incoming_bundle {
	struct ref_list refs;	   /**< checkpoints, in the order of the file */
	struct incoming_name *names; /**< given names that can be one */
	size_t names_nr, names_alloc;
	struct strlist pinned; /**< ids, sorted */
	size_t lines;	       /**< refs, whatever they are */
};

enum {
	INCOMING_BUNDLE_HEAD_MAX = 4 << 20, /**< bytes; a longer head is refused */
	INCOMING_BUNDLE_REFS_MAX = 10000,
};

/**
 * Parse the head: version 2, or 3 with SHA-1, in the first `len` bytes of a file. CKPT_ERROR, with
 * the reason, if it is not a bundle, is damaged, or needs commits that it does not have.
 */
int incoming_parse_bundle(struct incoming_bundle *out, const char *data, size_t len);
void incoming_bundle_release(struct incoming_bundle *bundle);

/** The form of a checkpoint, before anything of it is read that could be without end. */
int incoming_check_form(struct incoming *incoming, const struct ref_item *ref);

/** Whether a restore could use such a path: not absolute, not empty, no "..", no ".git". */
bool incoming_path_valid(const char *path);

#endif
