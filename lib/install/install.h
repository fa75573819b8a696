/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSTALL_INSTALL_H
#define CKPT_INSTALL_INSTALL_H

#include "base/base.h"

/**
 * Changes to files that belong to somebody else: read, edit, remember the
 * original, compare, put back.
 *
 * What was there before is remembered as a whole, in one record for all that is
 * installed: a file that is as we left it becomes the original again, byte for
 * byte. If others changed it since, only what is ours goes, and every other byte
 * stays. The record is a memory, not an authority: nothing is removed because
 * the record says so, and without it the second way is taken. It is in the
 * user's own directories, where no repository can put one; where it is in the
 * worktree all the same, what it says of an original is not believed.
 *
 * A file is opened beneath a directory that is held open. Links are followed
 * where they lead to something in that directory, and once: what is exchanged
 * with a link after that is refused (CKPT_EREFUSED or CKPT_ERROR).
 */

/** How a change gets into a file. */
enum install_kind {
	INSTALL_JSON, /**< values in the second level of an object, beside those of others */
	INSTALL_TOML, /**< a table at the end */
	INSTALL_FILE, /**< the file is ours as a whole */
	INSTALL_LINK, /**< a symbolic link is ours; `text` is where it leads */
	INSTALL_CONFIG, /**< values in git's configuration, after those of others; under git's lock */
	/**
	 * One of git's hooks. What follows the first line of `text`, up to INSTALL_HOOK_END, is
	 * inserted after the first line of a shell script. What is not an executable shell script
	 * is renamed to "<hook>" INSTALL_ASIDE, and a link INSTALL_LINKS/<hook> leads there: the
	 * rest of `text` runs it.
	 */
	INSTALL_HOOK,
};

#define INSTALL_HOOK_END " # git-checkpoint\n"
#define INSTALL_ASIDE ".pre-checkpoint"
#define INSTALL_LINKS ".git-checkpoint"

/** A value in git's configuration. */
struct install_value {
	const char *key; /**< NULL: the end of the list */
	const char *value;
	bool gone; /**< it should not be there */
};

/**
 * Something to be installed. `text` is what a new file contains, whatever the
 * kind: in one that exists, of JSON each element of an array, and each other
 * value, in the second level is added where it is missing.
 */
struct install_change {
	enum install_kind kind;
	const char *root; /**< a directory, absolute, which no link may lead out of */
	const char *path; /**< below it */
	const char *worktree; /**< where others may write, so a record there says nothing; or NULL */
	const char *by;	  /**< who wants it there: of several in one file, each takes back its own */
	const char *text; /**< not used for INSTALL_CONFIG */
	size_t len;	  /**< of the text of an INSTALL_FILE that may have NULs; 0: up to its end */
	const struct install_value *values; /**< INSTALL_CONFIG */
	const char *hook; /**< INSTALL_HOOK: its name; that of the file may be another one by now */
	/**
	 * INSTALL_FILE: what only files of ours contain, which may be replaced and removed; a link
	 * is none, wherever it leads.
	 */
	const char *ours;
	mode_t mode;	  /**< of a new file, as far as the umask allows */
	bool comments;	  /**< JSON that may have comments as JavaScript has them */
	/** What tells an entry of the user's own that does the same: whole words. */
	const char *alike[2];
};

/** Which of it is there. */
enum install_state {
	INSTALL_ABSENT,
	INSTALL_THERE,
	INSTALL_PARTLY,
	INSTALL_ALIKE, /**< the user's own entry does the same, or has its place */
};

enum install_outcome {
	INSTALL_UNCHANGED,
	INSTALL_EDITED,
	INSTALL_CREATED,
	INSTALL_REMOVED,
};

struct install_result {
	enum install_outcome outcome;
	bool alike; /**< something of the user's is there instead, and stays */
	char *kept; /**< INSTALL_HOOK: where something is now that had this name; the caller frees it */
};

/**
 * Look, without the record. CKPT_ERROR for a file that cannot be read, or edited: then the message
 * does not name it.
 */
int install_look(enum install_state *out, const struct install_change *change);

/** Read the file as it is. CKPT_ENOTFOUND if there is none. */
int install_read(struct strbuf *out, const struct install_change *change);

/** Whether a text has something of the user's own that does the same, or ours. */
bool install_is_alike(const struct install_change *change, const char *text);

/**
 * Install all of these, or none: all files are read before any is touched.
 * CKPT_ERROR if one cannot be edited, CKPT_EREFUSED if a file that should be
 * ours is somebody else's, or not beneath its root. `out` has room for `nr`.
 */
int install_put(struct install_result *out, const struct install_change *changes, size_t nr);

/** The reverse. Directories that were made go if they are empty. */
int install_take_back(struct install_result *out, const struct install_change *changes, size_t nr);

/** Whether `by` has put something into a file, if it is still as we left it. */
bool install_is_by(const struct install_change *change);

/** The paths of all files that `by` has put something into. */
int install_list(struct strlist *out, const char *by);

/** Whether a hook's text is a shell script that can take lines. */
bool install_is_shell(const struct strbuf *text);

/** The text with the lines of an INSTALL_HOOK. */
void install_insert(struct strbuf *text, const char *hook);
/*
 * In this folder:
 *
 *   install installed  files, and the record of what was in them
 *   edit edit_json   kinds of changes; JSON that people wrote
 *   edit_config install_hook  git's configuration; its hooks, and those that make room for ours
 */

#endif
