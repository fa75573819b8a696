/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_RECORD_INTERNAL_H
#define CKPT_HOOKS_INSTALL_RECORD_INTERNAL_H

#include "base/base.h"
#include "hooks/config_edit_internal.h"

struct install_where;

/**
 * What `hooks install` found and did, in <common git directory>/git-checkpoint
 * or, for all repositories, in a directory of the user (see install_where.h):
 * written before anything else is changed, removed last. It makes an uninstall
 * exact, even after an interrupted install.
 *
 * Paths beside the directory are stored relative to it, so that a
 * repository may be moved.
 */
#define INSTALL_RECORD_FILE "hooks.json"

/** The path of a file in that directory; the caller frees it. */
char *install_record_path(const struct install_where *where, const char *name);

enum install_how {
	INSTALL_CREATED, /**< there was no hook */
	INSTALL_LINES,	 /**< our lines were inserted into a shell script */
	INSTALL_ASIDE,	 /**< the hook was renamed to make room for a dispatcher */
};

/** One hook file. */
struct install_entry {
	char *path; /**< absolute */
	char *name;
	enum install_how how;
	char *sha256;  /**< of what was there, in hex; NULL: nothing, or a link */
	char *target;  /**< of the link that was there, or NULL */
	unsigned mode; /**< permission bits of what was there */
};

struct install_record {
	bool exists;
	struct strlist events; /**< in the order of the table of events */
	bool ref_transaction;
	bool config_hooks; /**< hooks of the configuration (git 2.54) instead of files */
	bool guard;
	char *chain; /**< the program that core.fsmonitor named before; NULL: none */
	struct install_entry *entries;
	size_t nr, alloc;
	struct strlist dirs; /**< created by us, outermost first; absolute */
	struct config_edit *edits; /**< of the repository's configuration, in order */
	size_t edits_nr, edits_alloc;
	bool template;	     /**< new repositories get hooks from our template directory */
	char *template_from; /**< the user's template directory, which ours contains; NULL: git's own */
	char *template_seen; /**< digest of `template_from` then */
	char *template_made; /**< digest of ours; NULL: there is none */
	bool config_created; /**< there was no such file */
};

/** Read it; a missing one is empty. A damaged one is an error. */
int install_record_read(struct install_record *out, const struct install_where *where);

/** Write it durably, creating the directory. */
int install_record_write(const struct install_record *record, const struct install_where *where);

void install_record_release(struct install_record *record);

/** The entry of a path; NULL if there is none. */
struct install_entry *install_record_find(const struct install_record *record, const char *path);

/** An entry for a path, with nothing else set: a new one, or the old one cleared. */
struct install_entry *install_record_entry(struct install_record *record, const char *path,
					   const char *name);

/** Forget one entry. */
void install_record_forget(struct install_record *record, struct install_entry *entry);

/** Forget the first `count` edits. */
void install_record_drop_edits(struct install_record *record, size_t count);

/** Room for one more edit. */
struct config_edit *install_record_edit(struct install_record *record);

#endif
