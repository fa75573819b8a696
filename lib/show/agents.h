/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_AGENTS_H
#define CKPT_SHOW_AGENTS_H

#include "agents/agents.h"
#include "base/base.h"
#include "turns/turns.h"

struct session;

/** For `hooks`: the entries in the settings of coding agents. */
struct show_agents {
	const struct strlist *names;
	bool install;
	bool user;  /**< the settings in the home directory */
	bool print; /**< touch nothing, show the entry */
};

/**
 * Install, print or uninstall the entries of these agents, and report that. Once they are in place
 * the first checkpoint is taken, so that an agent need not wait for it.
 */
int show_agents_edit(struct session *session, const struct show_agents *how);

/** What became of the settings of one: a line, or an object that is added to the array. */
void show_agents_tell(json_t *array, const struct agents_result *result, const char *name);

/** What their settings have, and the newest checkpoint of each. */
struct show_agents_view {
	struct agents_statuses found;
	char **last;	/**< for each of them the id, or NULL */
	int64_t *taken; /**< and when */
	struct turns turns; /**< with what went wrong last */
};

/** A store that cannot be read has no checkpoints. */
void show_agents_look(struct show_agents_view *out, struct session *session);
void show_agents_release(struct show_agents_view *view);

/** Whether any settings have an entry, or cannot be read. */
bool show_agents_any(const struct show_agents_view *view);

/** A line for each of those. */
void show_agents_print(const struct show_agents_view *view);

/** The same in a line for `status`; nothing if there are none. */
void show_agents_sum_up(const struct show_agents_view *view);

/** [{"agent","path","state","last",...}], a new reference. */
json_t *show_agents_json(const struct show_agents_view *view);

#endif
