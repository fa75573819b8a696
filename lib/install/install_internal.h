/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSTALL_INSTALL_INTERNAL_H
#define CKPT_INSTALL_INSTALL_INTERNAL_H

#include "install/install.h"

/* ---- what a change means for a text: edit.c, edit_config.c, install_hook.c ---- */

/** What a change means for the text of a file, by its kind. Texts only, no files. */

/** Which of it is in the text. CKPT_ERROR if the text cannot be edited. */
int edit_look(enum install_state *out, const struct install_change *change,
	      const struct strbuf *text);

/** Add what is missing, unless the text has something of the user's that does the same. */
int edit_put(struct strbuf *text, const struct install_change *change);

/**
 * Remove what is exactly ours; what else is in the text stays. `bare`: nothing is left but what a
 * new file begins with.
 */
int edit_remove(struct strbuf *text, const struct install_change *change, bool *bare);

/** Whether our lines are in a hook. */
bool install_hook_has_lines(const struct install_change *change, const struct strbuf *text);

/** Whether it runs what was put aside for it: it is of our making, whatever was added to it. */
bool install_hook_runs_aside(const struct install_change *change, const struct strbuf *text);

/** True if it was ours as a whole; otherwise everything but our lines stays. */
bool install_hook_remove(struct strbuf *text, const struct install_change *change);

/** What the text of git's configuration is with the values, or without them: git edits it. */
int edit_config_look(enum install_state *out, const struct install_change *change,
		     const struct strbuf *text);
int edit_config_put(struct strbuf *text, const struct install_change *change);
int edit_config_remove(struct strbuf *text, const struct install_change *change);

/**
 * Write it under git's own lock. CKPT_ERROR if that is taken, and if the file is no longer `before`
 * (NULL: there is none).
 */
int edit_config_write(int dirfd, const char *name, const struct strbuf *before,
		      const struct strbuf *text, mode_t mode);

/** Remove what a killed process left of that. */
void edit_config_tidy(int dirfd, const char *name);

/** The directory of the record, where an edit may use a temporary; NULL: none, the caller frees it. */
char *install_record_dir(void);

/* ---- JSON: edit_json.c ---- */

/**
 * Editing JSON that somebody else wrote: a value is added or removed, in the
 * style of its surroundings, and every other byte stays.
 *
 * The text is never printed from values: all positions are offsets into it.
 * Whether it is JSON is for jansson to say, once, in edit_json_open(); what
 * follows needs no bounds but those of a valid text. Comments are blanks to it,
 * and a byte order mark is skipped.
 *
 * Values have their slots in two levels, as the settings of all agents have
 * them: {"hooks": {"Stop": [<value>]}}, which is an element, or {"mcpServers":
 * {"name": <value>}}, which is a member.
 */
struct edit_json {
	struct strbuf text;
	struct strbuf plain; /**< of the same length, with blanks for comments */
};

/**
 * The slot of a value. An element that is a group of one, such as {"hooks": [<value>]}, is also found
 * if others have added to the group.
 */
struct edit_json_slot {
	const char *outer, *inner;
	bool element; /**< of the array there; otherwise it is the member itself */
};

/** What is in that slot. */
enum edit_json_found {
	EDIT_JSON_NOTHING,
	EDIT_JSON_SAME,
	EDIT_JSON_OTHER, /**< the member has another value; the array has other elements only */
};

/**
 * Take a copy of `text`. CKPT_ERROR if it is not JSON, or not an object: the
 * message has line and column. To be released in any case.
 */
int edit_json_open(struct edit_json *out, const struct strbuf *text, bool comments);
void edit_json_release(struct edit_json *doc);

/**
 * Look for `value`. With EDIT_JSON_OTHER, `raw` is the text of what is there
 * instead. CKPT_ERROR if a container on the way is something else.
 */
int edit_json_find(enum edit_json_found *out, struct strbuf *raw, const struct edit_json *doc,
		  const struct edit_json_slot *slot, const json_t *value);

/** Add it after what is there, with the containers that are missing. Only after edit_json_find(). */
void edit_json_add(struct edit_json *doc, const struct edit_json_slot *slot, const json_t *value);

/** Remove what equals it, and the containers that are empty then. False if there is nothing. */
bool edit_json_remove(struct edit_json *doc, const struct edit_json_slot *slot, const json_t *value);

/* ---- a hook of somebody else: install_hook.c ---- */

/**
 * A hook of somebody else that cannot take lines, renamed to make room for ours
 * (INSTALL_HOOK). The link that ours runs it by says that it was us who renamed
 * it. At every moment there is a hook. `name` is a file in `dirfd`, `hook` the
 * name of the hook, which a hook manager may have renamed.
 */

/** Whether there is one. */
bool install_aside_exists(int dirfd, const char *hook);

/**
 * CKPT_ERROR if the name is taken, and not by one that was put aside earlier and can be moved on.
 * `ours` is the text of our hook.
 */
int install_aside_check(int dirfd, const char *name, const char *hook, const char *ours);

/** Give it a second name, and make the link; the caller then writes over the first. */
int install_aside_put(int dirfd, const char *name, const char *hook, const char *ours);

/** Put it back in the place of `name`. */
int install_aside_put_back(int dirfd, const char *name, const char *hook);

/**
 * After all others: what is still aside gets its name back. If there is another hook by now, it is
 * put beside that, and `*kept` becomes its name. Then the link goes.
 */
int install_aside_settle(char **kept, int dirfd, const char *hook);

/* ---- the record: installed.c ---- */

/** The record of what was in other people's files, in the user's own directory. */
struct install_record {
	char *dir, *path;
	int lockfd; /**< -1: not locked */
	bool has_less; /**< than the file: something was taken back */
	json_t *whole, *files; /**< the second is borrowed */
};

#define INSTALL_RECORD_INIT { .lockfd = -1 }

/** To be closed in any case. Locked, entries of files that are gone are dropped. */
int installed_open(struct install_record *out, bool lock);
void installed_close(struct install_record *record);
int installed_write(const struct install_record *record);

/** Whether nobody who writes in this worktree (NULL: none) may have written it. */
bool installed_is_believed(const struct install_record *record, const char *worktree);

/** Whether `by` is named in an entry. */
bool installed_has_by(const json_t *entry, const char *by);

/** What the file was; false if there was none. */
bool installed_original(struct strbuf *out, const json_t *entry);

#endif
