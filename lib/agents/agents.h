/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENTS_H
#define CKPT_AGENTS_AGENTS_H

#include "base/base.h"

struct restore_kept;

/**
 * Entries in the settings of coding agents: before and after each tool, when the user asks for
 * something and when it is done, the agent runs agent_hook_run().
 *
 * Every other byte of a settings file stays as it is. A file that cannot be
 * parsed is refused before anything is touched. If a settings file is a
 * symbolic link, its target is written.
 */
struct agents_opts {
	const char *agent; /**< as the user typed it */
	const char *root;  /**< the root of the worktree; not needed with `user` */
	const char *primary; /**< of a linked worktree: the root of the primary one; otherwise NULL */
	bool user;	   /**< the settings in the home directory instead of the worktree's */
	bool mcp;	   /**< the server `git-checkpoint mcp`, not the hooks */
};

enum agents_change {
	AGENTS_UNCHANGED, /**< the entry already existed, or there was none to remove */
	AGENTS_EDITED,	  /**< the settings file existed and was edited */
	AGENTS_CREATED,	  /**< there was no settings file before */
	AGENTS_REMOVED,	  /**< uninstalled, and the file (and its directory, if empty) is gone */
	AGENTS_NO_FILE,	  /**< this agent (generic) has no settings file: only `text` is set */
};

/** The result. Begin with AGENTS_RESULT_INIT, end with agents_result_release(). */
struct agents_result {
	enum agents_change change;
	struct strbuf path; /**< the settings file, absolute; empty for `generic` */
	struct strbuf text; /**< agents_print(), and `generic`: what to show on stdout, whole lines */
	struct strlist notes; /**< what the user should know or still has to do, one line each */
};

#define AGENTS_RESULT_INIT { AGENTS_UNCHANGED, STRBUF_INIT, STRBUF_INIT, STRLIST_INIT }

void agents_result_release(struct agents_result *result);

/** A bound on the number of agents. */
enum { AGENTS_MAX = 64 };

/** The supported names, in the order to show them; the list ends with NULL. */
const char *const *agents_names(void);
/** Of those, the ones whose servers can be edited. */
const char *const *agents_mcp_names(void);

/** The agent whose client of servers has this name; NULL if none is known. */
const char *agents_of_client(const char *client);

/** For an unknown agent: CKPT_ERROR, "agent 'x' is not supported; use one of ...". */
int agents_check(const char *name);
/** The same for servers, also if they are not in the project, or not in the home directory. */
int agents_mcp_check(const char *name, bool user);

/** Add the entry to the agent's settings. This and the next two check the name, too. */
int agents_install(struct agents_result *out, const struct agents_opts *opts);

/** Remove it; edits that others made in between stay. */
int agents_uninstall(struct agents_result *out, const struct agents_opts *opts);

enum agents_state {
	AGENTS_ABSENT,
	AGENTS_INSTALLED,
	AGENTS_OUTDATED,   /**< not all of it; agents_install() brings it up to date */
	AGENTS_UNREADABLE, /**< the settings cannot be read or parsed, so the agent may run nothing */
};

/** "absent", "installed", "outdated", "unreadable" */
const char *agents_state_name(enum agents_state state);

/** What the settings of one agent have. */
struct agents_status {
	const char *agent;
	char *path; /**< of the settings, existing or not; in the worktree relative to its root */
	enum agents_state state;
	bool works; /**< nothing is known that prevents it */
	bool untracked; /**< git does not put it into the worktrees that it makes */
	char *why;  /**< if it does not work, although it is there: a sentence; otherwise NULL */
};

struct agents_statuses {
	struct agents_status *items;
	size_t nr, alloc;
};

/**
 * Of all agents that have settings: those in the worktree with this root, in the order of
 * agents_names(), and after each those in the home directory unless the entry is absent there.
 * `primary` as in agents_opts.
 */
void agents_look(struct agents_statuses *out, const char *root, const char *primary);
void agents_statuses_release(struct agents_statuses *statuses);

/** The settings that a restore leaves as they are if the checkpoint's lack our entry. */
const struct restore_kept *agents_kept(void);

/** Touch nothing: `path` is the file it belongs in and `text` what a new one would contain. */
int agents_print(struct agents_result *out, const struct agents_opts *opts);

/* --- agent_hook.c --- */

/**
 * What an entry in the settings of an agent runs: read the event, and take a checkpoint in the
 * directory that it names if something may change, or has changed.
 */

struct agent_hook {
	const char *entry; /**< the agent whose settings have it */
	const char *event; /**< its name, where the agent does not tell it; or NULL */
	int input;	   /**< a descriptor */
};

enum agent_hook_outcome {
	AGENT_HOOK_NOTHING, /**< the event needs no checkpoint */
	AGENT_HOOK_SAVED,
	AGENT_HOOK_UNCHANGED,
	AGENT_HOOK_FAILED,
};

struct agent_hook_result {
	enum agent_hook_outcome outcome;
	bool late;    /**< AGENT_HOOK_FAILED: it took too long */
	bool again;   /**< AGENT_HOOK_FAILED: the user has heard the same in this session */
	char *why;    /**< AGENT_HOOK_FAILED: a sentence */
	char *answer; /**< for stdout, whole lines or empty; it never decides about a tool */
};

/** Never fails: problems are in `out`. The current directory may be another one afterwards. */
void agent_hook_run(struct agent_hook_result *out, const struct agent_hook *hook,
		    deadline_give_up_fn give_up);
void agent_hook_result_release(struct agent_hook_result *result);

/**
 * For `give_up`: the work goes on in the background. Returns what to say, or NULL if the user has
 * heard it in this session.
 */
char *agent_hook_give_up(const char *why);

/** What to print; `why` is what the user has to know, or NULL. The caller frees it. */
char *agent_hook_answer(const char *entry, const char *why);

/*
 * In this folder:
 *
 *   agents agents_data      adding and removing entries, and which there are; what is known of each
 *                           agent, from <name>.json
 *   agent_hook agent_event  a checkpoint for an event; what an agent tells
 */

#endif
