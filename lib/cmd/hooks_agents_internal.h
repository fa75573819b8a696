/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_HOOKS_AGENTS_INTERNAL_H
#define CKPT_CMD_HOOKS_AGENTS_INTERNAL_H

#include "agents/agents.h"
#include "base/base.h"

struct session;

/** For `hooks`: the entries in the settings of coding agents. */
struct hooks_agents {
	const struct strlist *names;
	bool install;
	bool user;  /**< the settings in the home directory */
	bool print; /**< touch nothing, show the entry */
};

/**
 * Install, print or uninstall the entries of these agents, and report that. Once they are in place
 * the first checkpoint is taken, so that an agent need not wait for it.
 */
int hooks_agents_edit(struct session *session, const struct hooks_agents *how);

/** What became of the settings of one: a line, or an object that is added to the array. */
void hooks_agents_tell(json_t *array, const struct agents_result *result, const char *name);

/** What their settings have, and the newest checkpoint of each. */
struct hooks_agents_view {
	struct agents_statuses found;
	char **last;	/**< for each of them the id, or NULL */
	int64_t *taken; /**< and when */
	char **trouble; /**< what went wrong last, or NULL */
	int64_t *trouble_at;
};

/** A store that cannot be read has no checkpoints. */
void hooks_agents_look(struct hooks_agents_view *out, struct session *session);
void hooks_agents_release(struct hooks_agents_view *view);

/** Whether any settings have an entry, or cannot be read. */
bool hooks_agents_any(const struct hooks_agents_view *view);

/** A line for each of those. */
void hooks_agents_print(const struct hooks_agents_view *view);

/** The same in a line for `status`; nothing if there are none. */
void hooks_agents_sum_up(const struct hooks_agents_view *view);

/** [{"agent","path","state","last",...}], a new reference. */
json_t *hooks_agents_json(const struct hooks_agents_view *view);

#endif
