/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_SETTINGS_H
#define CKPT_SETTINGS_SETTINGS_H

#include "settings/ini.h"

struct gitconfig;

enum { CKPT_THINNING_MAX = 8 };

/** One per slot for what is not older than `until`, in ranges that grow. */
struct ckpt_thinning {
	struct {
		int64_t slot, until; /**< seconds */
	} items[CKPT_THINNING_MAX];
	size_t nr; /**< 0: none */
};

/**
 * The settings: one table of keys, each with type, default and a line of text.
 *
 * Sources, later wins: built-in; $XDG_CONFIG_HOME/git-checkpoint/config (or
 * ~/.config/...; a relative XDG path is ignored); git config
 * (checkpoint.<key>); <store>/checkpoint/config; environment
 * (GIT_CHECKPOINT_<KEY>); `git -c checkpoint.<key>=...`. Keys that run a
 * command are read from the two files only.
 */
struct ckpt_settings {
	uint64_t max_count;	    /**< of those asked for; 0: no limit */
	uint64_t max_automatic;	    /**< 0: no limit */
	int64_t keep_all_automatic; /**< seconds */
	struct ckpt_thinning thin_automatic;
	int64_t max_age;        /**< seconds, 0: never */
	uint64_t max_size;      /**< bytes, 0: none */
	uint64_t keep_hourly, keep_daily, keep_weekly; /**< see keep/evict.h */
	uint64_t max_files;
	uint64_t max_file_size; /**< bytes, 0: none */
	int64_t lock_timeout;   /**< seconds */
	uint64_t threads;       /**< 0: auto */
	uint64_t compression;   /**< 0 .. 9 */
	bool unread;		/**< a file of them exists, and may not be read */
	struct strlist exclude;   /**< patterns from all levels together */
	struct strlist sensitive; /**< patterns from all levels together */
	char *color;              /**< "auto", "always", "never" */
	char *progress;           /**< "auto", "always", "never" */
	bool advice;              /**< hints */
	char *verify_command;     /**< NULL: none */
	int64_t hook_timeout;
	bool hook_quiet;
	bool hook_sensitive; /**< hooks save files that look like secrets, too */
	bool agent_prompts;  /**< keep the first line of what an agent was asked */
	int64_t watch_quiet, watch_max; /**< seconds */
	int64_t flow_stale_after;
	char *machine, *project; /**< NULL: not set */
	int64_t remote_timeout;
	uint64_t max_fetch_size; /**< bytes, 0: none */
	struct strlist warnings; /**< unknown keys and similar, sentences with file and line */
	/** where each key of the table got its value, in the table's order */
	char **origins;
};

/**
 * Read them all. `store_file` is <store>/checkpoint/config, NULL if there is no
 * store yet; commands in it and in the user's file are ignored if they are in
 * `worktree` (NULL: they are not); `gitconfig` may be NULL. A bad value is an error; the message names
 * file and line (for git config the level, otherwise the variable).
 */
int settings_load(struct ckpt_settings *out, const struct gitconfig *gitconfig,
		  const char *store_file, const char *worktree);

/** No limit evicts anything: which ones are meant is not known, as a file cannot be read. */
void settings_lift_limits(struct ckpt_settings *settings);
void settings_release(struct ckpt_settings *settings);

/** CKPT_EUSAGE if a row of the table cannot have this value; the message says what it can be. */
int settings_check(unsigned index, const char *value);

struct settings_change {
	const char *value; /**< NULL: remove the key */
	bool add;	   /**< to the values that it has; only for patterns */
};

/**
 * Change a settings file, durably; it is created if needed, and a link stays a link. Comments and
 * other keys stay as they are. CKPT_ENOTFOUND: the key to remove is not set in it. CKPT_EREFUSED:
 * it has several values, of which one cannot take the place. (change.c)
 */
int settings_change(const char *path, unsigned index, const struct settings_change *change);

/** The path of the user's file, whether it exists or not; false if there is no place for one. */
bool settings_user_file(struct strbuf *out);

/** The table, for `config`, the manual's tests and completion. */
struct ckpt_setting_info {
	const char *key;      /**< "maxCount" */
	const char *type; /**< "number", "size", "duration", "bool", "patterns", "command", "when",
			      * "ranges", "name" */
	const char *fallback; /**< the default as a user would write it: "50", "never", "none" */
	const char *help;     /**< one line, lower case, no full stop */
	bool runs_command;
};

extern const struct ckpt_setting_info setting_table[];
extern const unsigned setting_count;

enum { SETTING_NAME_MAX = 64 };

/** Whether a machine or a project can have this name: [a-z0-9._-], and a valid part of a ref. */
bool setting_name_valid(const char *name);

/** The row of a key, in any case; -1 if there is none. */
int setting_find(const char *key);

/** As a user would write it: "10m:1d,1h:7d", "none"; the caller frees it. */
char *setting_format_thinning(const struct ckpt_thinning *thinning);

/** The effective value of row `index` as a user would write it; the caller frees it. */
char *setting_value(const struct ckpt_settings *settings, unsigned index);

/** "default", "/home/u/.config/git-checkpoint/config:3", "git config (global)", "GIT_CHECKPOINT_MAX_COUNT". */
const char *settings_origin(const struct ckpt_settings *settings, unsigned index);

/*
 * In this folder:
 *
 *   settings setting ini    the table; one setting; files
 *   change                  changing a file
 *   capture_settings        which captures are configured
 */

#endif
