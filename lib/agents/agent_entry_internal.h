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
};

enum { AGENT_EVENTS = 4 };

struct agent {
	const char *name;
	const char *dir, *file;	  /**< of the settings; without `dir` there are none */
	const char *toml;	  /**< a second file that may contain hooks */
	unsigned flags;		  /**< for jsonedit_check() */
	const char *events[AGENT_EVENTS]; /**< before a tool, after it, at the prompt, at the end */
	const char *title;	  /**< a name that the format has for each hook, or NULL */
	int timeout;		  /**< in the unit of the format */
	/** Of older versions: for which tools, the way to the project, the answer. */
	const char *matcher, *enter, *after;
	const char *variable;	  /**< moves the directory of the user's settings */
	const char *note;
};

/** How an entry looks; only the current one has more than the first event. */
enum agent_version {
	AGENT_FIRST,
	AGENT_SECOND, /**< with AGENT_OPTION */
	AGENT_CURRENT,
};

#define AGENT_OPTION " --automatic"

/** All of them; ends with an entry without a name. */
extern const struct agent agent_table[];

/** Append the path of its settings, or of the directory that they are in (`file` NULL). */
void agent_settings(struct strbuf *out, const char *base, const struct agent *agent,
		    const char *file);

/** By name; CKPT_ERROR with a message that lists all. */
int agent_find(const struct agent **out, const char *name);

/** How deeply an entry must be wrapped. */
enum agent_depth {
	AGENT_ENTRY, /**< the entry itself, for the array of its event */
	AGENT_EVENT, /**< an array with it, for the object of all hooks */
	AGENT_HOOKS, /**< an object with that, for the root */
};

/** The entry for one event, which AGENT_HOOKS names; a new reference. */
json_t *agent_entry(const struct agent *agent, unsigned added, enum agent_depth depth,
		    const char *event);

/** Append a whole settings file with nothing but the entries. */
void agent_file(struct strbuf *out, const struct agent *agent, unsigned added);

/** Append the line that takes a checkpoint, for agents without settings. */
void agent_line(struct strbuf *out, const struct agent *agent);

/** Whether a text contains a command like ours, whoever wrote it. */
bool agent_mentioned(const struct agent *agent, const char *text);

/**
 * Whether a handler (an item in the list "hooks" of an entry) equals one that
 * we write, or an older version wrote, value by value; then `added` is what its command says.
 */
bool agent_is_handler(const struct agent *agent, const json_t *handler, unsigned *added,
		      enum agent_version *version);

#endif
