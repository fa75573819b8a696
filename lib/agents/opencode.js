// git-checkpoint agent-hook opencode: a checkpoint before and after each tool.
// 'git checkpoint hooks uninstall --agent opencode' removes this file.
import { spawn } from "node:child_process"

const fire = (event, data, tell) =>
  new Promise((done) => {
    let said = ""
    const late = setTimeout(done, 30000)
    const end = (text) => {
      clearTimeout(late)
      if (text) tell(text)
      done()
    }
    try {
      const hook = spawn("git-checkpoint", ["agent-hook", "opencode", event])
      hook.stderr.on("data", (text) => (said += text))
      hook.stdin.on("error", () => {})
      hook.on("error", (error) => end("git-checkpoint: not saved: " + error.message))
      hook.on("close", () => end(said.trim()))
      hook.stdin.end(JSON.stringify(data))
    } catch (error) {
      end("git-checkpoint: not saved: " + error)
    }
  })

export const GitCheckpoint = async ({ client, directory }) => {
  const told = new Set()
  const parents = new Map() // a sub-agent has a session of its own
  const top = (session) => (parents.has(session) ? top(parents.get(session)) : session)
  const send = (event, session, data) => {
    const who = parents.has(session) ? { session_id: top(session), agent_id: session } : { session_id: session }
    return fire(event, { cwd: directory, ...who, ...data }, (message) => {
      if (told.has(session)) return
      told.add(session)
      const body = { title: "git-checkpoint", message, variant: "warning" }
      Promise.resolve(client?.tui?.showToast?.({ body })).catch(() => {})
      const log = { service: "git-checkpoint", level: "warn", message }
      Promise.resolve(client?.app?.log?.({ body: log })).catch(() => {})
    })
  }
  return {
    "chat.message": async (input, output) => {
      const texts = (output?.parts ?? []).filter((part) => part.type === "text")
      const prompt = texts.map((part) => part.text).join("\n")
      await send("chat.message", input.sessionID, { turn_id: output?.message?.id, prompt })
    },
    "tool.execute.before": (input, output) =>
      send("tool.execute.before", input.sessionID, {
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: output?.args,
      }),
    "tool.execute.after": (input) =>
      send("tool.execute.after", input.sessionID, {
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: input.args,
      }),
    event: async ({ event }) => {
      const { id, parentID } = event.properties?.info ?? {}
      if (event.type === "session.created" && parentID && parentID !== id) parents.set(id, parentID)
      if (event.type === "session.idle") await send(event.type, event.properties.sessionID, {})
    },
  }
}
