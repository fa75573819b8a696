/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_RULES_H
#define CKPT_TREE_RULES_H

#include "git/git.h"

struct statcache_dir;

/**
 * What belongs in a checkpoint: all ignore sources in git's order of
 * precedence, the default patterns below them, the user's `exclude` above
 * them, the patterns of sensitive files, and what the project and the
 * repositories nested in it track, which no rule can leave out.
 *
 * Loaded once; then the walk carries a `rules_dir` for each directory. Any
 * number of threads may use it.
 */

/** The patterns with which a new store starts in its info/exclude. */
extern const char rules_default_patterns[];

/** Remove these from the text of a store's info/exclude: what the user added stays. */
void rules_drop_defaults(struct strbuf *text);

/**
 * The rules outside the worktree. A checkpoint keeps them, so that a later restore knows what was
 * left out of it.
 */
enum rules_source {
	RULES_FROM_DEFAULTS, /**< the store's info/exclude */
	RULES_FROM_SETTINGS, /**< `exclude` */
	RULES_FROM_PROJECT,  /**< .git/info/exclude */
	RULES_FROM_USER,     /**< core.excludesFile */
	RULES_SOURCES,
};

/**
 * The info/exclude of a repository in the worktree, in no particular order; absent if it has no
 * pattern.
 */
struct rules_nested {
	char *path; /**< of its directory, relative to the root */
	struct strbuf text;
};

struct rules_texts {
	struct strbuf of[RULES_SOURCES];
	struct rules_nested *nested;
	size_t nested_nr, nested_alloc;
};

void rules_texts_init(struct rules_texts *texts);
void rules_texts_copy(struct rules_texts *to, const struct rules_texts *from);
void rules_texts_add_nested(struct rules_texts *texts, const char *path, const char *text,
			    size_t len);
void rules_texts_release(struct rules_texts *texts);

struct rules_opts {
	const char *root;                /**< absolute path of the worktree */
	const struct repo *repo;         /**< NULL outside git */
	const struct gitconfig *config;
	const char *defaults;            /**< text of the store's info/exclude */
	const struct strlist *exclude;   /**< settings `exclude` and `sensitive`; NULL: none */
	const struct strlist *sensitive;
	const struct strlist *never;     /**< more patterns like `exclude`, from the program itself;
					  * NULL: none */
	const struct rules_texts *texts; /**< use these instead of the current ones; NULL: the current
					  * ones */
	const struct strlist *also;      /**< sorted paths that count as tracked, directories without
					  * their contents; NULL: none */
	const struct strlist *whole;     /**< sorted paths from which, with everything below, only
					  * secrets are left out; NULL: none */
	bool no_tracked;                 /**< nothing counts as tracked: only the rules decide */
	bool include_ignored;
	bool include_sensitive;
};

struct rules;

int rules_open(struct rules **out, const struct rules_opts *opts);
void rules_close(struct rules *rules);

/**
 * The rules it was opened with, or read; complete once the walk is over, valid until it is closed.
 */
const struct rules_texts *rules_texts(const struct rules *rules);

/** Sentences about what could not be read; valid once the walk is over. */
const struct strlist *rules_warnings(const struct rules *rules);

struct rules_tracked;

/**
 * What an earlier walk found in a directory when the project's index was the same: it may answer in
 * place of the index, which then need not be read.
 */
struct rules_before {
	const struct statcache_dir *dir; /**< NULL: nothing is known */
	bool names; /**< the same names are there, and the same rules apply */
};

struct rules_dir {
	const struct exclude_chain *chain;
	struct rules_before before;
	struct rules_tracked *tracked; /**< innermost repository */
	bool excluded;                 /**< ignored: only tracked files are captured */
	bool by_name; /**< ignored, and entered only for named paths: not even tracked files are captured */
	uint64_t fingerprint; /**< of all rules that apply, to compare with an earlier walk */
	const char *default_top; /**< the topmost directory that a default pattern left out, if one did */
};

/** The state in which the walk starts, before the root is entered. */
struct rules_dir rules_begin(const struct rules *rules);

/**
 * Add what a directory brings: its .gitignore and, if it has a ".git", the
 * rules and the index of that repository. `dir` is that of its parent on entry
 * and its own on return. `path` is relative to the root.
 */
void rules_enter(struct rules_dir *dir, struct rules *rules, struct arena *arena, int dirfd,
		 const char *path, bool has_gitignore, bool has_dotgit);

/** Whether a repository within the worktree has a say in what is tracked there. */
bool rules_is_nested(const struct rules_dir *dir);

/** After a walk: whether an index could not be read, so that what is tracked is not known. */
bool rules_lacks_index(const struct rules *rules);

/** The same for a directory of a checkpoint: `text` is its .gitignore. */
void rules_enter_text(struct rules_dir *dir, struct rules *rules, struct arena *arena,
		      const char *path, const char *text, size_t len);

enum rules_verdict {
	RULES_CAPTURE,
	RULES_CAPTURE_TRACKED,   /**< a rule matches, but it is tracked */
	RULES_CAPTURE_SENSITIVE, /**< tracked although it looks like a secret: captured, with a warning */
	RULES_TRACKED_ONLY,      /**< a directory that is ignored but has tracked files below */
	RULES_TRACKED_DEFAULT,   /**< the same, ignored by a default pattern */
	RULES_IGNORED,           /**< by a rule of the project or the user */
	RULES_DEFAULT,           /**< left out by a default pattern: must be reported */
	RULES_SENSITIVE,
};

/** True for a path that is captured by name (`also`, `whole`): a directory without its contents. */
bool rules_is_named(const struct rules *rules, const char *path);

/** True for a directory in which an enclosing repository tracks something. */
bool rules_tracks_below(const struct rules_dir *dir, const char *path);

/**
 * Decide about an entry of a directory; `path` is relative to the root, `name` its last component.
 */
enum rules_verdict rules_judge(const struct rules *rules, const struct rules_dir *dir,
			       const char *path, const char *name, bool is_dir, bool is_file);

/** Decide about an entry that the user named: no rule leaves it out, but it may be sensitive. */
enum rules_verdict rules_judge_named(const struct rules *rules, const struct rules_dir *dir,
				     const char *path, const char *name, bool is_file);

#endif
