/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITRUN_H
#define CKPT_GIT_GITRUN_H

#include "base/base.h"

/**
 * Stock git, as a program that is asked something.
 *
 * This is the only place in the program that starts git. A repository that
 * somebody else made may name commands in its configuration, its attributes
 * and its environment; whatever it names, for each git that is started here:
 *
 *  - nothing is fetched: no protocol is allowed, objects that a partial clone
 *    lacks stay missing, nobody is asked for a password;
 *  - no hook, fsmonitor program, pager, editor, external diff, textconv,
 *    credential helper, ssh command, proxy or signing program is run;
 *  - nothing is written but what the command itself is for: no optional lock,
 *    no trace (GIT_TRACE*, trace2.*), no reflog, no maintenance;
 *  - GIT_* variables of the caller do not reach it, neither does the
 *    configuration of the system and the user;
 *  - repository, worktree and index are the ones given: nothing is searched
 *    for, and core.worktree and safe.directory do not matter;
 *  - it dies with this process, and answers in English.
 *
 * A profile may loosen some of that, by name:
 */
enum gitrun_profile {
	/**
	 * Nothing loosened. For commands that neither read nor write files of a
	 * worktree: so no filter runs either, whatever the attributes say.
	 */
	GITRUN_LOOK,

	/**
	 * Write files out as the git command that is under way just did: its
	 * clean, smudge and process filters run, and the user's configuration
	 * counts, which may define them. Only for a hook, where the user's own
	 * git command has run the very same filters a moment ago.
	 */
	GITRUN_REPLAY,
};

struct gitrun {
	enum gitrun_profile profile;
	const char *gitdir;   /**< NULL: the command needs no repository */
	const char *worktree; /**< NULL: the command needs none */
	const char *index;    /**< NULL: the repository's own */
	const void *input;    /**< NULL: nothing on stdin */
	size_t input_len;
	bool shown;	      /**< its stderr is ours */
	bool replace;	      /**< refs/replace/ counts, unless the caller of this program said no */
	double patience;      /**< it is ended if it is silent after so many seconds; 0: never */
	spawn_stop_fn stop;   /**< see spawn_opts */
	void *payload;
};

/**
 * Run `git <args>` (up to a NULL) in the worktree, or in "/", and append what
 * it prints to `out`. Returns 0 only if it exits with 0; CKPT_ENOTFOUND if
 * there is no git, CKPT_ELOCKED if it was ended.
 */
int gitrun(struct strbuf *out, const struct gitrun *how, const char *const args[]);

#endif
