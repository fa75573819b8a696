/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_CHOOSE_H
#define CKPT_RESTORE_CHOOSE_H

#include "tree/tree.h"

struct compose;
struct session;

/**
 * A restore of which only some is wanted: what it would change, path by path,
 * and a composed target of what was chosen of it (see compose.h).
 */

enum { CHOOSE_READ_MAX = 64 << 20 }; /**< nobody looks at a larger patch */

/** What is at a path, or shall be. */
struct choice_state {
	unsigned mode;	       /**< of the state hash, of directories with permission bits; 0: nothing */
	struct wt_entry entry; /**< but for its name, and what is below it */
	char *data;	       /**< contents that the store does not have; NULL: it has them */
	size_t len;
};

struct choice_part {
	char *path;
	struct choice_state old, new;
};

struct choice_parts {
	struct choice_part *items;
	size_t nr, alloc;
};

/** What is chosen or not: a row of a plan. */
struct choice {
	/** The path itself; if it changes between directory and file, then also what is below it. */
	struct choice_parts parts;
	/** Directories that hold it, of which one side has none; the topmost first. */
	struct choice_parts around;
};

/** All of them, by path; see restore_opts. */
struct choices {
	struct choice *items;
	size_t nr, alloc;
	struct strlist also; /**< for restore_opts.composed, if some of them are restored */
};

#define CHOOSE_CHANGED "changed: while you were asked about it"

void choose_release(struct choices *choices);

/**
 * Append both contents of a file or a link. One over CHOOSE_READ_MAX is not read: the length tells nothing
 * then, and `*large_out` is set. CKPT_EREFUSED if what is there now is not the old state any more.
 */
int choose_read(struct strbuf *old_out, struct strbuf *new_out, bool *large_out,
		struct session *session, const struct choice_part *part);

enum chosen_how {
	CHOSEN_NEW,  /**< the new contents, or nothing if there are none */
	CHOSEN_OLD,  /**< only the permission bits change */
	CHOSEN_MADE, /**< other contents, of a file */
};

/** What became of a choice. */
struct chosen {
	const struct choice *choice;
	enum chosen_how how;
	unsigned mode; /**< permission bits of files and directories */
	struct strbuf content;
};

struct chosen_list {
	struct chosen *items;
	size_t nr, alloc;
	struct strlist conflicts; /**< "<why>\n<path>": found before, to be told with the result */
};

void choose_list_release(struct chosen_list *list);

/**
 * For restore_opts.composed, with a struct chosen_list: these and no others. A path that is not in
 * its old state any more is left alone, and named.
 */
int choose_compose(struct compose *compose, void *payload);

#endif
