/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_TRANSPORT_INTERNAL_H
#define CKPT_REMOTE_TRANSPORT_INTERNAL_H

#include "remote/remote.h"

/**
 * Talking to a remote, by stock git: refs/checkpoints/<project>/<machine>/<id> there, and beside it
 * refs/handoff/<project>/<machine>/<id>, the commit at HEAD of a checkpoint that was handed off.
 *
 * What was handed off last is told by the remote, not by clocks, nor by the order of a store: each
 * handoff moves refs/checkpoints-newest/<project>/<machine> and .../@every to its checkpoint, when
 * all that belongs to it has arrived.
 *
 * Clones of a project find each other by its name: the id of its root commit (the smallest, if it
 * has several), or the setting `project`.
 *
 * A command asks once what is there, and does the rest from a scratch repository, which borrows the
 * objects that go over. There git is told what both sides have already (`common`), so that only the
 * rest is sent: it looks for that among the ancestors of what goes over, and a checkpoint has none.
 *
 *  - For a push, those are the parents of what is sent (info/grafts): git leaves out what they have,
 *    and sends differences from it. The commits stay as they are. Only what the remote lists is used:
 *    any other parent would be sent, too. Of a project with 3,000 files of 8 kB, one of which had
 *    changed, the 200th checkpoint took 73 kB and 0.26 s so, 23 MB and 0.46 s otherwise, to a path
 *    and to file:// alike.
 *  - For a fetch, the other side has to do that, and stock git does if we call ourselves a shallow
 *    clone: then it takes each commit that we say we have for itself, not as part of a history.
 */
#define TRANSPORT_REFS "refs/checkpoints/"
#define TRANSPORT_HEADS "refs/handoff/"
#define TRANSPORT_NEWEST "refs/checkpoints-newest/"
#define TRANSPORT_EVERY "@every" /* no machine can be called like this */

/** What goes in place of the commit of a checkpoint, see record_encode_bare(). */
struct transport_bare {
	struct oid oid;
	struct strbuf text;
};

struct transport {
	struct session *session;
	const struct remotes_item *remote;
	bool shown; /**< git's progress goes to the terminal */
	char *project, *machine;
	struct fetched_list there; /**< checkpoints of the project */
	struct fetched_list heads; /**< commits that were handed off */
	struct fetched_list newest; /**< checkpoints that were handed off last; without ids */
	struct strlist odd;	   /**< some names below those of checkpoints that are not ours */
	struct scratch scratch;	   /**< see transport_make_scratch() */
	const char *gitdir;	   /**< another repository of ours, in place of it; or NULL */
	struct oid *common; /**< checkpoints that both sides have, a few, newest first */
	size_t common_nr;
	struct transport_bare *bare; /**< those that are needed here */
	size_t bare_nr, bare_alloc;
	uint64_t limit; /**< bytes that may arrive; 0: no limit */
	bool lost;	/**< it failed because nothing was heard */
};

/**
 * Nothing is asked yet. CKPT_ERROR, with the way to set it, if the name of the project is not known.
 * Call transport_close() in any case.
 */
int transport_open(struct transport *out, struct session *session, const struct remotes_item *remote,
		   bool shown);
void transport_close(struct transport *transport);

/** Ask what is there, or ask again. */
int transport_refresh(struct transport *transport);

/**
 * How many have the name of this machine there and are not known here, not even to the trail: they are
 * of another working directory, or of another machine that is called the same.
 */
size_t transport_count_namesakes(const struct transport *transport);

/** Find `common`. */
int transport_find_common(struct transport *transport);

/** The commit that others get: its own, or one without a prompt, which scratch repositories have then. */
struct oid transport_bare_commit(struct transport *transport, const struct ckpt_record *record);

/** Let a repository have them that was not made by transport_make_scratch(). */
int transport_lend_bare(const struct transport *transport, struct scratch *scratch);

/** Make the scratch repository, which has the objects of the store, of the project, or of both. */
int transport_make_scratch(struct transport *transport, bool store, bool project);

/** In it, `common` are the parents of these commits, as far as a push is concerned. */
int transport_graft(struct transport *transport, const struct push_item *items, size_t nr);

/**
 * Run `git <words> -- <url> <specs>` in the scratch repository; `out` has all it says. CKPT_ERROR,
 * naming the remote, with the reason that git gives.
 */
int transport_run(struct strbuf *out, struct transport *transport, const char *const words[],
		  const struct strlist *specs);

/** Let a fetch into that repository tell the other side that these commits (in hex) are here. */
int transport_write_haves(const struct scratch *scratch, const struct strlist *commits);

/** Whether that one is the newest of its machine. */
bool transport_is_newest(const struct fetched_list *there, size_t at);

/* --- push.c, fetch.c: what the commands do --- */

/** Asks what is there. `head`: NULL, or a commit of the project that is to be beside the first of them there. */
int push_to(struct push_result *out, struct transport *transport, const struct strlist *names,
	    const struct push_opts *opts, const char *head);

/** It is known what is there. */
int fetch_from(struct fetch_result *out, struct transport *transport, const struct strlist *names,
	       bool all);

/* --- push_doubt.c --- */

/**
 * Why a checkpoint should not leave this machine without being asked twice: a sentence that the
 * caller frees, or NULL. All that a push sends of it is searched: files by their names, as a save
 * does it, wherever they are kept; everything else as text, whichever part of a checkpoint it is.
 * `prompts`: those of agents go along.
 */
int push_doubt(char **out, struct session *session, const struct ckpt_record *record, bool prompts);

/**
 * The same of the commit at its HEAD, with all that lead to it and that no remote has; `published`:
 * there are none. `why` may be NULL: then only that is asked.
 */
int push_doubt_history(bool *published, char **why, struct session *session, const char *commit);

#endif
