/* SPDX-License-Identifier: MIT */
#include "agents/agent_entry_internal.h"

#include "base/base.h"

/*
 * Files for agents that want a plugin or a program instead of a command in their settings. Each ends
 * in the same command as all others. Nothing that goes wrong in it reaches the agent: without our
 * program, the user hears of it once a session, and the tool runs.
 */

/* What both plugins do: start the hook, give it what is told, wait, but not forever. */
#define START(agent, types)                                                                        \
	"const fire = (event" types(": string") ", data" types(": object") ", tell"                \
	types(": (text: string) => void") ") =>\n"                                                 \
	"  new Promise" types("<void>") "((done) => {\n"                                           \
	"    let said = \"\"\n"                                                                    \
	"    const late = setTimeout(done, 30000)\n"                                               \
	"    const end = (text" types(": string") ") => {\n"                                       \
	"      clearTimeout(late)\n"                                                               \
	"      if (text) tell(text)\n"                                                             \
	"      done()\n"                                                                           \
	"    }\n"                                                                                  \
	"    try {\n"                                                                              \
	"      const hook = spawn(\"git-checkpoint\", [\"agent-hook\", \"" agent                   \
	"\", event])\n"                                                                            \
	"      hook.stderr.on(\"data\", (text) => (said += text))\n"                               \
	"      hook.stdin.on(\"error\", () => {})\n"                                               \
	"      hook.on(\"error\", (error) => end(\"git-checkpoint: not saved: \" + error.message))\n" \
	"      hook.on(\"close\", () => end(said.trim()))\n"                                       \
	"      hook.stdin.end(JSON.stringify(data))\n"                                             \
	"    } catch (error) {\n"                                                                  \
	"      end(\"git-checkpoint: not saved: \" + error)\n"                                     \
	"    }\n"                                                                                  \
	"  })\n"

#define UNTYPED(type)
#define TYPED(type) type

#define HEAD(comment, agent)                                                       \
	comment " git-checkpoint: a checkpoint before and after each tool.\n" comment \
		" 'git checkpoint hooks uninstall --agent " agent "' removes this file." AGENT_OWN_NOTE "\n"

const struct agent_own agent_own_opencode[] = {
	{ "git-checkpoint.js", 0666,
	  HEAD("//", "opencode")
	  "import { spawn } from \"node:child_process\"\n"
	  "\n"
	  START("opencode", UNTYPED)
	  "\n"
	  "export const GitCheckpoint = async ({ client, directory }) => {\n"
	  "  const told = new Set()\n"
	  "  const send = (event, session, data) =>\n"
	  "    fire(event, { cwd: directory, session_id: session, ...data }, (message) => {\n"
	  "      if (told.has(session)) return\n"
	  "      told.add(session)\n"
	  "      const body = { title: \"git-checkpoint\", message, variant: \"warning\" }\n"
	  "      Promise.resolve(client?.tui?.showToast?.({ body })).catch(() => {})\n"
	  "      const log = { service: \"git-checkpoint\", level: \"warn\", message }\n"
	  "      Promise.resolve(client?.app?.log?.({ body: log })).catch(() => {})\n"
	  "    })\n"
	  "  return {\n"
	  "    \"chat.message\": async (input, output) => {\n"
	  "      const texts = (output?.parts ?? []).filter((part) => part.type === \"text\")\n"
	  "      const prompt = texts.map((part) => part.text).join(\"\\n\")\n"
	  "      await send(\"chat.message\", input.sessionID, { turn_id: output?.message?.id, prompt })\n"
	  "    },\n"
	  "    \"tool.execute.before\": (input, output) =>\n"
	  "      send(\"tool.execute.before\", input.sessionID, {\n"
	  "        tool_name: input.tool,\n"
	  "        tool_use_id: input.callID,\n"
	  "        tool_input: output?.args,\n"
	  "      }),\n"
	  "    \"tool.execute.after\": (input) =>\n"
	  "      send(\"tool.execute.after\", input.sessionID, {\n"
	  "        tool_name: input.tool,\n"
	  "        tool_use_id: input.callID,\n"
	  "        tool_input: input.args,\n"
	  "      }),\n"
	  "    event: async ({ event }) => {\n"
	  "      if (event.type === \"session.idle\") await send(event.type, event.properties.sessionID, {})\n"
	  "    },\n"
	  "  }\n"
	  "}\n" },
	{ NULL, 0, NULL },
};

/* It has to answer: what a plugin answers that has nothing against the tool. */
const struct agent_own agent_own_amp[] = {
	{ "git-checkpoint.ts", 0666,
	  HEAD("//", "amp")
	  "import type { PluginAPI } from \"@ampcode/plugin\"\n"
	  "import { spawn } from \"node:child_process\"\n"
	  "\n"
	  START("amp", TYPED)
	  "\n"
	  "export default function (amp: PluginAPI) {\n"
	  "  const told = new Set()\n"
	  "  const send = (event: string, told_by: any, data: object) => {\n"
	  "    const session = told_by?.thread?.id\n"
	  "    return fire(event, { cwd: process.cwd(), session_id: session, ...data }, (message) => {\n"
	  "      if (told.has(session)) return\n"
	  "      told.add(session)\n"
	  "      amp.logger.log(message)\n"
	  "    })\n"
	  "  }\n"
	  "  amp.on(\"agent.start\", (event: any) => send(\"agent.start\", event, { prompt: event.message }))\n"
	  "  amp.on(\"tool.call\", async (event: any) => {\n"
	  "    await send(\"tool.call\", event, {\n"
	  "      tool_name: event.tool,\n"
	  "      tool_use_id: event.toolUseID,\n"
	  "      tool_input: event.input,\n"
	  "    })\n"
	  "    return { action: \"allow\" }\n"
	  "  })\n"
	  "  amp.on(\"tool.result\", async (event: any) => {\n"
	  "    await send(\"tool.result\", event, {\n"
	  "      tool_name: event.tool,\n"
	  "      tool_use_id: event.toolUseID,\n"
	  "      tool_input: event.input,\n"
	  "    })\n"
	  "  })\n"
	  "  amp.on(\"agent.end\", async (event: any) => {\n"
	  "    await send(\"agent.end\", event, {})\n"
	  "  })\n"
	  "}\n" },
	{ NULL, 0, NULL },
};

#define PROGRAM(event)                                                           \
	{                                                                        \
		event, 0777,                                                     \
			"#!/bin/sh\n" HEAD("#", "cline") "exec git-checkpoint agent-hook cline " event "\n" \
	}

const struct agent_own agent_own_cline[] = {
	PROGRAM("PreToolUse"), PROGRAM("PostToolUse"),	PROGRAM("UserPromptSubmit"),
	PROGRAM("TaskStart"),  PROGRAM("TaskComplete"), { NULL, 0, NULL },
};

#define KIRO(event, after)                                                                     \
	"    {\n"                                                                              \
	"      \"name\": \"git-checkpoint " event "\",\n"                                      \
	"      \"trigger\": \"" event "\",\n"                                                  \
	"      \"action\": {\n"                                                                \
	"        \"type\": \"command\",\n"                                                     \
	"        \"command\": \"git-checkpoint agent-hook kiro " event AGENT_OWN_NOTE "\"\n"   \
	"      },\n"                                                                           \
	"      \"timeout\": 30\n"                                                              \
	"    }" after "\n"

const struct agent_own agent_own_kiro[] = {
	{ "git-checkpoint.json", 0666,
	  "{\n"
	  "  \"version\": \"v1\",\n"
	  "  \"hooks\": [\n"
	  KIRO("PreToolUse", ",")
	  KIRO("PostToolUse", ",")
	  KIRO("UserPromptSubmit", ",")
	  KIRO("Stop", "")
	  "  ]\n"
	  "}\n" },
	{ NULL, 0, NULL },
};

#define GOOSE(event, after)                                                                    \
	"    \"" event "\": [\n"                                                               \
	"      {\n"                                                                            \
	"        \"hooks\": [\n"                                                               \
	"          {\n"                                                                        \
	"            \"type\": \"command\",\n"                                                 \
	"            \"command\": \"git-checkpoint agent-hook goose " event AGENT_OWN_NOTE "\",\n" \
	"            \"timeout\": 30\n"                                                        \
	"          }\n"                                                                        \
	"        ]\n"                                                                          \
	"      }\n"                                                                            \
	"    ]" after "\n"

const struct agent_own agent_own_goose[] = {
	{ "plugin.json", 0666,
	  "{\n"
	  "  \"name\": \"git-checkpoint\",\n"
	  "  \"version\": \"1.0.0\",\n"
	  "  \"description\": \"A checkpoint before and after each tool." AGENT_OWN_NOTE "\"\n"
	  "}\n" },
	{ "hooks/hooks.json", 0666,
	  "{\n"
	  "  \"hooks\": {\n"
	  GOOSE("PreToolUse", ",")
	  GOOSE("PostToolUse", ",")
	  GOOSE("PostToolUseFailure", ",")
	  GOOSE("UserPromptSubmit", ",")
	  GOOSE("Stop", "")
	  "  }\n"
	  "}\n" },
	{ NULL, 0, NULL },
};

void agent_own_text(struct strbuf *out, const struct agent_own *own, unsigned added)
{
	const char *at = own->text, *note;

	for (; (note = strstr(at, AGENT_OWN_NOTE)); at = note + strlen(AGENT_OWN_NOTE)) {
		strbuf_add(out, at, (size_t)(note - at));
		agent_add_note(out, added);
	}
	strbuf_addstr(out, at);
}

bool agent_own_is(const struct strbuf *text, const struct agent_own *own, unsigned *added)
{
	struct strbuf wanted = STRBUF_INIT;
	bool found = false;

	for (int dirs = -1; dirs <= AGENT_DIRS_MAX && !found; dirs++) {
		strbuf_reset(&wanted);
		*added = dirs < 0 ? 0 : ADDED_FILE | agent_dirs_flag(dirs);
		agent_own_text(&wanted, own, *added);
		found = strbuf_equal(&wanted, text);
	}
	strbuf_release(&wanted);
	return found;
}
