/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENTS_H
#define CKPT_AGENTS_AGENTS_H

#include "agents/agent_hook.h"
#include "agents/agent_mcp.h"
#include "base/base.h"

struct restore_guard;
struct store;

/**
 * Entries in the settings of coding agents: before and after each tool, when the user asks for
 * something and when it is done, the agent runs what agent_hook.h describes.
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

/** The supported names, in the order to show them; the list ends with NULL. */
const char *const *agents_names(void);

/** For an unknown agent: CKPT_ERROR, "agent 'x' is not supported; use one of ...". */
int agents_check(const char *name);

/** Add the entry to the agent's settings. This and the next two check the name, too. */
int agents_install(struct agents_result *out, const struct agents_opts *opts);

/** Remove it; edits that others made in between stay. */
int agents_uninstall(struct agents_result *out, const struct agents_opts *opts);

enum agents_state {
	AGENTS_ABSENT,
	AGENTS_INSTALLED,
	AGENTS_OUTDATED,   /**< of an older version; agents_install() brings it up to date */
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

/** What went wrong last when the agent's hook ran, and when; NULL: nothing. The caller frees it. */
char *agents_trouble(struct store *store, const char *agent, int64_t *at);

/** A restore leaves the settings that have our entry as they are, if the checkpoint's have not. */
extern const struct restore_guard agents_guard;

/** Touch nothing: `path` is the file it belongs in and `text` what a new one would contain. */
int agents_print(struct agents_result *out, const struct agents_opts *opts);

/*
 * In this folder:
 *
 *   agent_hook agent_input  a checkpoint for an event; reading that from a stream
 *   agent_event agent_tools  what an agent tells; whether to save, from event and tool
 *   agent_trouble           what went wrong, told once
 *   agents agents_status agents_notes  adding and removing entries; which there are; what to know
 *   agents_guard            they survive a restore
 *   agent_table agent_own   all agents; files of ours for some of them
 *   agent_entry agent_json agent_toml agent_settings  one entry; where it is; the file
 *   agent_mcp agent_mcp_entry  the server of lib/mcp in their settings
 *   jsonedit jsonedit_check  editing JSON that people wrote
 */

#endif
