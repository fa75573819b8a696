/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_REMOTE_H
#define CKPT_REMOTE_REMOTE_H

#include "record/record.h"

struct session;

/**
 * Checkpoints beyond this store: files that carry one, the project's own branches, and
 * repositories on other machines.
 *
 * In this folder:
 *
 *   remotes, transport       where to; talking to it by stock git, one session for each command
 *   push, push_doubt         sending checkpoints, and removing them there; what should stay here
 *   fetch                    bringing in those of other machines; what is wrong with them, for doctor
 *   handoff                  one of each, with the commit at HEAD, to go on elsewhere
 *   incoming, incoming_check what came from outside, apart until it is verified; all that is looked at
 *   import, export           a file that has one: bundle, patch, tar
 *   branch, flat             one as a commit of the project; one as git would commit it
 */

/* --- remotes.c --- */

/**
 * The repositories that checkpoints of a store are pushed to and fetched from: the member "remotes" of
 * checkpoint/state, an array of objects with "name", "url" and "push_auto".
 */
struct remotes_item {
	char *name, *url;
	bool push_auto; /**< saves push to it by themselves */
};

struct remotes {
	struct remotes_item *items; /**< in the order in which they were added */
	size_t nr, alloc;
};

/** CKPT_ECORRUPT if it is damaged. Without a store there are none. */
int remotes_read(struct remotes *out, struct store *store);
void remotes_release(struct remotes *remotes);
const struct remotes_item *remotes_find(const struct remotes *remotes, const char *name);

/** Letters, digits, '.', '_' and '-', beginning with a letter or a digit. */
bool remotes_name_valid(const char *name);

/** CKPT_EREFUSED if the name is taken, CKPT_ERROR for a URL that is not used ("ext::"). */
int remotes_add(struct session *session, const char *name, const char *url, bool push_auto);

/**
 * The URL that the project has for one of its own remotes; the caller frees it. CKPT_EREFUSED unless
 * it is on another machine: the project's configuration may come from anybody, and hooks of a
 * repository on this disk run.
 */
int remotes_of_project(char **url_out, struct session *session, const char *name);

/** CKPT_ENOTFOUND if there is none of that name. */
int remotes_remove(struct session *session, const char *name);

/** All of them: for a list that is damaged, whose file is set aside. The store must be locked. */
int remotes_forget(struct store *store);

/**
 * The remote for a command: the one of that name (NULL: the only one there is). CKPT_ERROR, with
 * what can be done, if there is none, or if one has to be named.
 */
int remotes_choose(const struct remotes_item **out, const struct remotes *remotes,
		   const char *name);

/** The same if the first of some words may be its name; `rest` gets the others. */
int remotes_choose_first(const struct remotes_item **out, struct strlist *rest,
			 const struct remotes *remotes, const struct strlist *words);

/** A path relative to `base` as an absolute one, since git runs elsewhere; other URLs as they are. */
char *remotes_absolute(const char *url, const char *base);

/** A URL for people and for JSON: without a password in it. The caller frees it. */
char *remotes_shown(const char *url);

/** A text that may have it without that password. The caller frees it. */
char *remotes_hide(const char *text, const char *url);

/* for tests */
int remotes_from_json(struct remotes *out, const json_t *array);
json_t *remotes_to_json(const struct remotes *remotes);

/* --- push.c --- */

enum push_state {
	PUSH_SENT,    /**< it is there now; of a dry run: it would be */
	PUSH_THERE,   /**< it was there before */
	PUSH_REFUSED, /**< it may have secrets: `why` */
	PUSH_FAILED,  /**< the remote did not take it: `why` */
};

struct push_item {
	struct ckpt_record record;
	struct oid sent; /**< the commit that others get: its own, or that without a prompt */
	enum push_state state;
	char *why;
};

struct push_opts {
	bool all, pinned; /**< in place of names */
	bool force;	  /**< send what may have secrets, too */
	bool prompts;	  /**< send what coding agents were asked, too */
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

/** 0: these may be removed. */
typedef int (*push_confirm_fn)(const struct strlist *ids, const char *remote, const char *machine);

/** Remove all that a machine has on a remote, after asking; `out` gets the ids. */
int push_remove_machine(struct strlist *out, struct session *session,
			const struct remotes_item *remote, const char *machine,
			push_confirm_fn confirm);

/* --- fetch.c --- */

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
	size_t namesakes; /**< some there have the name of this machine, and are not known here */
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

/** All that were fetched, without asking anybody: by machine, then by id. */
int fetch_list(struct ckpt_records *out, struct session *session);

/* --- handoff.c --- */

/**
 * A checkpoint for another machine, with the commit at its HEAD beside it, unless one of the project's
 * own remotes has that as far as is known here. The commit goes from and to the project through a
 * repository of ours, so the project's configuration has no say.
 */

/**
 * Push both; `head` tells whether the commit went along. CKPT_EREFUSED if one of them may have
 * secrets, unless `force`. Nothing is written in the project.
 */
int handoff_give(bool *head, struct session *session, const struct remotes_item *remote,
		 const struct ckpt_record *record, bool force, bool shown);

/**
 * Fetch the newest checkpoint of `machine` (NULL: of any other machine, of several that with the
 * newest id), verify it, and bring the commit into the project unless it is there; `head` tells.
 * CKPT_ENOTFOUND if there is none, or if nobody has the commit.
 */
int handoff_take(struct ckpt_record *out, bool *head, struct session *session,
		 const struct remotes_item *remote, const char *machine, bool shown);

/* --- export.c --- */

/** A checkpoint as a file that other programs understand. */
enum export_format {
	/**
	 * What `git apply` turns the recorded HEAD into the files of the checkpoint with; outside
	 * git, or if there was no commit yet, what makes them from nothing. Paths that the
	 * checkpoint does not cover, and submodules, are not mentioned.
	 */
	EXPORT_PATCH,
	/** All files, with every permission bit. The same checkpoint gives the same bytes. */
	EXPORT_TAR,
	/** Everything: import_bundle() and stock git read it. */
	EXPORT_BUNDLE,
};

struct export_result {
	uint64_t bytes;
	char *against;		 /**< of a patch: the commit it is against, or NULL */
	struct strlist warnings; /**< what the file does not have */
};

void export_result_release(struct export_result *result);

/**
 * Write it to `file`, which has the old contents or the new ones, whatever happens; NULL: to
 * stdout, where a failure may leave a part. A damaged checkpoint is not exported.
 */
int export_checkpoint(struct export_result *out, struct session *session,
		      const struct ckpt_record *record, enum export_format format,
		      const char *file);

/* --- import.c --- */

struct import_result {
	struct ckpt_record *items; /**< those that are new here */
	size_t nr, alloc;
	struct strlist known;	 /**< ids of those that were here before */
	struct strlist warnings;
};

void import_result_release(struct import_result *result);

/**
 * Take the checkpoints of a bundle into the store, all of them or none. What is in the bundle is
 * hostile until it is known to be what it says (incoming_internal.h); CKPT_ERROR, naming the
 * checkpoint and what is wrong, otherwise. The session needs a store, which may be empty.
 *
 * They keep their ids and are listed as what they were, but "@" never means one, and limits on
 * numbers do not count them.
 */
int import_bundle(struct import_result *out, struct session *session, const char *file);

/* --- branch.c --- */

struct branch_result {
	char *ref;		 /**< "refs/heads/<name>" */
	char *commit;		 /**< what it is */
	char *parent;		 /**< the recorded HEAD, or NULL */
	size_t ignored;		 /**< files of the checkpoint that were left out, because a rule says so */
	struct strlist warnings; /**< about others that were left out */
};

void branch_result_release(struct branch_result *result);

/**
 * Make a commit of a checkpoint in the project, on top of the HEAD that it recorded, and a branch
 * that leads to it. HEAD, the index and the worktree stay as they are, and no hook runs.
 *
 * Left out are empty directories, ignored files, and untracked ones that look like secrets.
 * Submodules of the recorded HEAD stay what they are there. CKPT_EREFUSED if the branch exists;
 * CKPT_ERROR outside git, for a name that no branch can have, and if the project lacks the
 * recorded commit.
 */
int branch_make(struct branch_result *out, struct session *session,
		const struct ckpt_record *record, const char *name);

#endif
