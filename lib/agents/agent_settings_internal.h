/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_SETTINGS_INTERNAL_H
#define CKPT_AGENTS_AGENT_SETTINGS_INTERNAL_H

#include "base/base.h"

struct agent;
struct agents_opts;

/** A file of an agent's settings: where it is, reading it, writing it. */
struct settings {
	struct strbuf dir, path;
	struct strbuf real; /**< what a symbolic link leads to */
	struct strbuf text;
	bool exists, linked;
	mode_t mode;
};

#define SETTINGS_INIT \
	{ STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, false, false, 0 }

void agent_settings_release(struct settings *s);

/** On the directories of the settings, including those that links lead to. */
struct settings_locks {
	int fds[16];
	size_t nr;
};

/**
 * One process at a time: so an existing temporary was left by a killed one. If the directory
 * does not exist yet, or locks do not work, go on without.
 */
int agent_settings_lock_dir(struct settings_locks *locks, const char *dir);
void agent_settings_unlock_all(struct settings_locks *locks);

/** Set `dir` and `path`. */
int agent_settings_find(struct settings *s, const struct agent *agent, const char *file,
		  const struct agents_opts *opts);

/**
 * A repository may contain links: those in a project's settings are followed
 * only within it. In the user's home directory they belong to the user.
 */
int agent_settings_confine(const struct settings *s, const struct agents_opts *opts);

/** Read it, if it exists. */
int agent_settings_load(struct settings *s, struct settings_locks *locks);

/** Replace it by `text`. */
int agent_settings_store(const struct settings *s);

/** How many of the directories that lead to it do not exist. */
int agent_settings_missing_dirs(const struct settings *s);

/** Create it with so many directories. */
int agent_settings_create(struct settings *s, int dirs, mode_t mode);

/** Remove it, and so many directories, each if it is empty. */
int agent_settings_unlink(const struct settings *s, int dirs);

#endif
