/* SPDX-License-Identifier: MIT */
#include "agents/agent_entry_internal.h"
#include "agents/agents_internal.h"
#include "agents/agents.h"
#include "base/base.h"

/* Each is one sentence that stands alone: they are shown among those of other agents. */

void agents_add_notes(struct agents_result *out, const struct agent *agent,
		      const struct agents_opts *opts, bool is_new)
{
	const char *moved = agent->variable ? getenv(agent->variable) : NULL;

	if (agent->note && is_new)
		strlist_add(&out->notes, agent->note);
	if (agent->from_root && is_new && !opts->user)
		strlist_addf(&out->notes,
			     "'%s' does not read it when it is started in a subdirectory; 'git checkpoint "
			     "hooks install --user --agent %s' works everywhere",
			     agent->name, agent->name);
	if (opts->user && moved && *moved && strncmp(moved, out->path.buf, strlen(moved)) != 0)
		strlist_addf(&out->notes, "the variable '%s' is set: settings are read from '%s', not from '%s'",
			     agent->variable, moved, out->path.buf);
	if (!agents_program_found())
		strlist_add(&out->notes, AGENTS_NO_PROGRAM);
}

bool agents_program_found(void)
{
	return spawn_available("git-checkpoint");
}
