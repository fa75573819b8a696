/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_ENTRY_INTERNAL_H
#define CKPT_AGENTS_AGENT_ENTRY_INTERNAL_H

#include "base/base.h"

#include <jansson.h>
#include <stdbool.h>

/**
 * Which agents there are, and the entry that belongs into the settings of each.
 */

/**
 * What there was not before us and has to go with us. The words stand after
 * "added:" in the command itself, where a shell ignores them and where they
 * stay with the entry wherever the file is copied to.
 */
enum added {
	ADDED_EVENT = 1 << 0,	/**< the array for the event */
	ADDED_HOOKS = 1 << 1,	/**< the object around it */
	ADDED_FILE = 1 << 2,	/**< all of the file */
	ADDED_DIR = 1 << 3,	/**< the directory that it is in */
	ADDED_LINE = 1 << 4,	/**< white space between brackets with nothing in between */
};

struct agent {
	const char *name;
	const char *dir, *file;	  /**< of the settings; no `dir`: there are none */
	const char *toml;	  /**< a second file that hooks may be in */
	unsigned flags;		  /**< for jsonedit_check() */
	const char *event;	  /**< which hooks it is, and for which tools */
	const char *matcher;
	const char *title;	  /**< a name that the format has for each hook, or NULL */
	int timeout;		  /**< in the unit that the format has */
	const char *enter;	  /**< going to where the project is */
	const char *after;	  /**< the answer that the agent waits for */
	const char *variable;	  /**< moves the directory of the user's settings */
	const char *note;
};

/** All of them; ends with one that has no name. */
extern const struct agent agent_table[];

/** By name; CKPT_ERROR with a sentence that lists all. */
int agent_find(const struct agent **out, const char *name);

/** How far in an entry has to be wrapped. */
enum agent_depth {
	AGENT_ENTRY, /**< the entry itself, for the array of its event */
	AGENT_EVENT, /**< an array with it, for the object of all hooks */
	AGENT_HOOKS, /**< an object with that, for the root */
};

/** A new reference. */
json_t *agent_entry(const struct agent *agent, unsigned added, enum agent_depth depth);

/** Append a whole settings file with nothing but the entry. */
void agent_file(struct strbuf *out, const struct agent *agent, unsigned added);

/** Append the line that takes a checkpoint, for agents without settings. */
void agent_line(struct strbuf *out, const struct agent *agent);

/** Whether a text has a command like ours in it, whoever wrote it. */
bool agent_mentioned(const struct agent *agent, const char *text);

/**
 * Whether a handler (what stands in the list "hooks" of an entry) equals one
 * that we write, value by value; `added` is then what its command says.
 */
bool agent_is_handler(const struct agent *agent, const json_t *handler, unsigned *added);

#endif
