/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENTS_INTERNAL_H
#define CKPT_AGENTS_AGENTS_INTERNAL_H

#include "agents/agents.h"
#include "install/install.h"
#include "turns/turns.h"

/* ---- what is known of an agent: agents_data.c ---- */

/**
 * What is known of an agent is in lib/agents/<name>.json, which the Makefile makes a part of the
 * program with the plugins beside it. "@EVENT@" stands for the name of each event in turn.
 *
 *   hooks    dir, file         of the settings, below the top of the project
 *            user_dir          in the home directory, if it has another name there
 *            events            what the agent calls them, and when they happen: "before" and
 *                              "after" a tool, "prompt", "stop"; each gets an entry
 *            more_events       that it may tell of, too
 *            entry             for an event, an element of {"hooks": {"<event>": [...]}}
 *            begin             what else a new file begins with
 *            files             instead of an entry among those of others: files that are ours as
 *                              a whole, with a plugin, an object, or (true) entries as above
 *            executable        these are programs
 *            comments          the settings may have some
 *            toml              a file beside it that may have hooks as well
 *            primary           in a linked worktree those of the primary one are read, by this name
 *            variable          moves the user's settings
 *            top_only          read only if the agent is started at the top of the project
 *            note              what is left for the user to do
 *   mcp      file, user        of the settings with servers, in the project and in the home directory
 *            text              a new file: an object, or TOML
 *            env_key           what it calls the environment of a server, if not "env"
 *            instead           what else to do without `file` or `user`
 *            comments, variable, note    as above
 *   clients                    what it calls itself as a client of servers, if not by its name
 *   reading_tools              names of tools that change nothing
 *   answer                     what a hook prints; without it the user is told on stderr what failed
 *   shared_by_transcripts      others run what its settings have: its own transcripts are there
 *   transcripts                the same of an agent that does so
 *   silent_transcripts         which does not always say where they are, but what time it is
 *
 * members.json has what agents call the members of what they tell of an event; of several that are
 * there the first counts.
 */
struct agents_file {
	const char *name, *text;
};

/** All of them; ends with one without a name. */
extern const struct agents_file agents_files[];

/** What is known of an agent, a new reference; NULL for any other name. */
json_t *agents_load(const char *name);

/** What it says of hooks, or of the server. */
const json_t *agents_part(const json_t *agent, bool mcp);

/** A text of a part; NULL if it has none. */
const char *agents_text(const json_t *part, const char *key);

enum { AGENTS_FILES_MAX = 8 };

/** What is installed for an agent. */
struct agents_changes {
	struct install_change items[AGENTS_FILES_MAX];
	size_t nr, main; /**< `main` is the one to be told of */
	const char *dir; /**< of the settings, below the top of the project or the home directory */
	struct strlist strings; /**< that they point to */
};

/** Below `base`; `root` as in install_change. `mcp`: the server, not the hooks. */
void agents_changes(struct agents_changes *out, const char *name, const json_t *agent,
		    const char *root, const char *base, bool user, bool mcp);
void agents_changes_release(struct agents_changes *changes);

/** The file beside the main one that may have hooks as well; false if the agent has none. */
bool agents_beside(struct install_change *out, struct agents_changes *changes, const json_t *agent);

/** The name of an agent that reads the hooks of the primary worktree in a linked one, or NULL. */
const char *agents_in_primary(const json_t *agent);

#define AGENTS_NO_PROGRAM \
	"the program 'git-checkpoint' is not in PATH: the entry cannot work until it is"

/* ---- what an agent tells: agent_event.c ---- */

/**
 * What an agent tells its hooks: one JSON object, with names that differ from agent to agent. All
 * of this is pure: nothing is looked up on the disk and nothing is touched.
 */
struct agent_event {
	bool readable; /**< it was one JSON object; otherwise only labels.name and moment are set */
	enum turn_moment moment; /**< TURN_OTHER: nothing to do */
	char *entry;		  /**< the agent whose settings were used */
	struct ckpt_agent labels; /**< `name` is who really called, not whose settings were used */
	char *cwd;		  /**< where the agent works; NULL: not told */
	struct strlist roots;	  /**< of its workspace, the first is the main one */
	char *path, *command;	  /**< what the tool works on; each may be NULL */
};

/**
 * Read a text of any bytes. `entry` is the agent whose settings have our entry, `event` the name of
 * the event if the entry says it, or NULL. End with agent_event_release() in any case.
 */
void agent_event_read(struct agent_event *out, const struct strbuf *text, const char *entry,
		      const char *event);
void agent_event_release(struct agent_event *event);

/** By the name that an agent has for it; `has_tool` decides about unknown ones. */
enum turn_moment agent_moment_of(const char *agent, const char *event, bool has_tool);

/**
 * Whether the state is to be saved: at the prompt and at the end, and before and after each tool
 * unless it is known to read only. Tools that are not known, those of MCP servers among them, may
 * change files; tools of our own server do not, or save on their own.
 */
bool agent_event_saves(const struct agent_event *event);

/** Whether a tool of this agent is known to read only. */
bool agent_tool_reads(const char *agent, const char *tool);

/**
 * Reading one JSON object from a stream that need not end: some agents keep their end of the pipe
 * open.
 */
enum {
	AGENT_INPUT_SECONDS = 5,
	AGENT_INPUT_MAX = 32 << 20, /**< bytes */
};

/**
 * Append a text that begins with an object. False if there is none, it is not whole, too large or
 * too slow; then what was appended means nothing.
 */
bool agent_input_read(struct strbuf *out, int fd, double seconds, size_t max);

#endif
