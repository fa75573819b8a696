/* SPDX-License-Identifier: MIT */
#include "base/base.h"
#include "record/checkpoint.h"

void record_agent_copy(struct ckpt_agent *out, const struct ckpt_agent *agent)
{
	char **to[] = { &out->name,	 &out->session,	  &out->turn_id, &out->tool,
			&out->tool_call, &out->sub_agent, &out->prompt };
	char *const from[] = { agent->name,	 agent->session,   agent->turn_id, agent->tool,
			       agent->tool_call, agent->sub_agent, agent->prompt };

	out->turn = agent->turn;
	for (size_t i = 0; i < ARRAY_SIZE(to); i++)
		*to[i] = from[i] ? xstrdup(from[i]) : NULL;
}

void record_agent_release(struct ckpt_agent *agent)
{
	free(agent->name);
	free(agent->session);
	free(agent->turn_id);
	free(agent->tool);
	free(agent->tool_call);
	free(agent->sub_agent);
	free(agent->prompt);
	memset(agent, 0, sizeof(*agent));
}
