/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_ENTRY_INTERNAL_H
#define CKPT_AGENTS_AGENT_ENTRY_INTERNAL_H

#include "base/base.h"

/** Which agents are supported, and the entry for the settings of each. */

/**
 * What did not exist before us and must be removed with our entry. The words are after "added:" in
 * the command itself, which ignores them and where they stay with the entry wherever the file is
 * copied.
 */
enum added {
	ADDED_EVENT = 1 << 0,	/**< the array for the event */
	ADDED_HOOKS = 1 << 1,	/**< the object around it */
	ADDED_FILE = 1 << 2,	/**< the whole file */
	ADDED_DIR = 1 << 3,	/**< the directory that contains it */
	ADDED_LINE = 1 << 4,	/**< white space between otherwise empty brackets */
	ADDED_DIR2 = 1 << 5,	/**< instead of ADDED_DIR: two directories, one in the other */
	ADDED_DIR3 = 1 << 6,
	ADDED_DIR4 = 1 << 7,
	ADDED_PRIMARY = 1 << 8, /**< the entry in the primary worktree of the repository */
};

/** The flag for so many directories, of 0 to AGENT_DIRS_MAX, and the reverse. */
enum { AGENT_DIRS_MAX = 4 };
unsigned agent_dirs_flag(int dirs);
int agent_dirs_of(unsigned added);

enum { AGENT_EVENTS = 8 };

/** How an agent is told about our command. */
enum agent_format {
	AGENT_NO_FILE, /**< not at all: a line of shell for people */
	AGENT_GROUPS,  /**< JSON: an event has groups with a matcher, and these have commands */
	AGENT_FLAT,    /**< JSON: an event has commands */
	AGENT_OWN,     /**< files of our own */
};

/** A file that is ours as a whole. */
struct agent_own {
	const char *file; /**< below the directory */
	mode_t mode;
	const char *text; /**< with AGENT_OWN_NOTE where it tells what was added */
};

#define AGENT_OWN_NOTE "@ADDED@"

struct agent {
	const char *name;
	enum agent_format format;
	const char *dir, *file;	  /**< of the settings */
	const char *user_dir;	  /**< in the home directory, if it has another name there */
	const char *toml;	  /**< a second file that may contain hooks */
	const struct agent_own *own; /**< AGENT_OWN: up to one without a name; `file` is the main one */
	unsigned flags;		  /**< for jsonedit_check() */
	const char *events[AGENT_EVENTS + 1]; /**< the first is before a tool */
	bool tells_event;	  /**< the command names it, since what the agent tells does not */
	const char *rescue;	  /**< after the command, for who takes a missing program for a no */
	bool version;		  /**< a file has "version": 1 */
	bool shows;		  /**< "show_output": true makes what is said visible */
	bool typed;		  /**< "type": "command" is needed (AGENT_FLAT) */
	const char *title;	  /**< a name that the format has for each hook, or NULL */
	const char *command_key, *timeout_key; /**< NULL: "command", "timeout" */
	int timeout;		  /**< in the unit of the format; 0: it has none */
	/** Of older versions: for which tools, the way to the project, the answer. */
	const char *matcher, *enter, *after;
	const char *variable;	  /**< moves the directory of the user's settings */
	const char *note;	  /**< what is still to be done, in the agent's own words */
	bool from_root;		  /**< read only where it is started at the top of the project */
};

/** How an entry looks; only the current one has more than the first event. */
enum agent_version {
	AGENT_FIRST,
	AGENT_SECOND, /**< with AGENT_OPTION */
	AGENT_THIRD,  /**< runs agent-hook for every tool, but without what rescues the tool */
	AGENT_CURRENT,
};

#define AGENT_OPTION " --automatic"

/** All of them; ends with an entry without a name. */
extern const struct agent agent_table[];

/** Append the path of its settings, or of the directory that they are in (`file` NULL). */
void agent_settings(struct strbuf *out, const char *base, const struct agent *agent,
		    const char *file, bool user);

/** By name; CKPT_ERROR with a message that lists all. */
int agent_find(const struct agent **out, const char *name);

/** How deeply an entry must be wrapped. */
enum agent_depth {
	AGENT_ENTRY, /**< the entry itself, for the array of its event */
	AGENT_EVENT, /**< an array with it, for the object of all hooks */
	AGENT_HOOKS, /**< an object with that, for the root */
};

/** The entry for one event; a new reference. */
json_t *agent_entry(const struct agent *agent, unsigned added, enum agent_depth depth,
		    const char *event);

/** Append a whole settings file with nothing but the entries. */
void agent_file(struct strbuf *out, const struct agent *agent, unsigned added);

/** Append the line that takes a checkpoint, for agents without settings. */
void agent_line(struct strbuf *out, const struct agent *agent);

/** Whether a text contains a command like ours, whoever wrote it. */
bool agent_mentioned(const struct agent *agent, const char *text);

/**
 * Whether a handler (an item in the list "hooks" of an entry, or of an event) equals one that
 * we write, or an older version wrote, value by value; then `added` is what its command says.
 */
bool agent_is_handler(const struct agent *agent, const json_t *handler, const char *event,
		      unsigned *added, enum agent_version *version);

/** The name of the member of a handler that has the command. */
const char *agent_command_key(const struct agent *agent);

/* --- agent_own.c --- */

/** Append a file of ours as it is with this note; 0: as it is shown. */
void agent_own_text(struct strbuf *out, const struct agent_own *own, unsigned added);

/** Whether it is one that we wrote; then `added` is what it says. */
bool agent_own_is(const struct strbuf *text, const struct agent_own *own, unsigned *added);

extern const struct agent_own agent_own_opencode[], agent_own_amp[], agent_own_cline[],
	agent_own_kiro[], agent_own_goose[];

/** Append what a command tells of what was added, with a blank before it; nothing for 0. */
void agent_add_note(struct strbuf *out, unsigned added);

#endif
