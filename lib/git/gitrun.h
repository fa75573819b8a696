/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITRUN_H
#define CKPT_GIT_GITRUN_H

#include "base/base.h"

/**
 * Running stock git to ask it something.
 *
 * This is the only place in the program that starts git. A repository from
 * somebody else may name commands in its configuration, its attributes and its
 * environment. Whatever it names, for every git started here:
 *
 *  - nothing is fetched: no protocol is allowed, objects that a partial clone
 *    lacks stay missing, and no password is asked for;
 *  - no hook, fsmonitor program, pager, editor, external diff, textconv,
 *    credential helper, ssh command, proxy or signing program is run;
 *  - nothing is written but what the command is for: no optional lock,
 *    no trace (GIT_TRACE*, trace2.*), no reflog, no maintenance;
 *  - it sees neither the caller's GIT_* variables nor the configuration of
 *    the system and the user;
 *  - repository, worktree and index are the ones given: nothing is searched
 *    for, and core.worktree and safe.directory do not matter;
 *  - it dies with this process, and answers in English.
 *
 * A profile may relax some of that, by name:
 */
enum gitrun_profile {
	/**
	 * Nothing is relaxed. For commands that neither read nor write files of
	 * a worktree: so no filter runs either, whatever the attributes say.
	 */
	GITRUN_LOOK,

	/**
	 * Write files as the git command in progress just did: its clean,
	 * smudge and process filters run, and the user's configuration, which
	 * may define them, is read. Only for a hook, where the user's git
	 * command has run the same filters a moment ago.
	 */
	GITRUN_REPLAY,

	/**
	 * Change refs, HEAD, objects or configuration because the user asked
	 * for that by name: reflogs are written as the repository wants them,
	 * with the user's name, so the user's configuration is read. It syncs
	 * what it writes. If this process dies it is not killed but ends by
	 * itself and removes its locks.
	 */
	GITRUN_WRITE,

	/**
	 * Talk to another repository because the user asked for that by name, from a
	 * repository of ours: never from the project, whose configuration would be read.
	 * Protocols, credential helpers, proxies and ssh are those of the user's own
	 * configuration and environment; "ext::", which runs any command, is refused. It is
	 * killed, with all that it started, if it prints nothing for `patience` seconds, not even
	 * its progress; over http git itself ends it if no byte moves for so long.
	 */
	GITRUN_TRANSPORT,
};

struct gitrun {
	enum gitrun_profile profile;
	const char *gitdir;   /**< NULL: the command needs no repository */
	const char *worktree; /**< NULL: the command needs no worktree */
	const char *index;    /**< NULL: the repository's index */
	const void *input;    /**< NULL: nothing on stdin */
	size_t input_len;
	int output;	      /**< its stdout goes to this descriptor, not to `out`; 0: to `out` */
	bool shown;	      /**< its stderr goes to ours */
	bool told;	      /**< its stderr is appended to the output */
	bool replace;	      /**< honour refs/replace/, unless the caller of this program said no */
	double patience;      /**< seconds until it is killed, see GITRUN_TRANSPORT; 0: never */
	spawn_stop_fn stop;   /**< see spawn_opts */
	spawn_heard_fn heard; /**< likewise */
	void *payload;
	uint64_t file_limit; /**< likewise */
	bool *lost;	     /**< set if a transport was killed because nothing moved; may be NULL */
};

/**
 * Run `git <args>` (up to a NULL) in the worktree, or in "/", and append its
 * output to `out`. Returns 0 only if its exit status is 0; CKPT_ENOTFOUND if
 * git is not installed, CKPT_ELOCKED if it was killed.
 */
int gitrun(struct strbuf *out, const struct gitrun *how, const char *const args[]);

/** The same, with its stderr in `out`, too: if it fails, what it says is a part of the message. */
int gitrun_told(struct strbuf *out, const struct gitrun *how, const char *const args[]);

#endif
