// git-checkpoint agent-hook amp: a checkpoint before and after each tool.
// 'git checkpoint hooks uninstall --agent amp' removes this file.
import type { PluginAPI } from "@ampcode/plugin"
import { spawn } from "node:child_process"

const fire = (event: string, data: object, tell: (text: string) => void) =>
  new Promise<void>((done) => {
    let said = ""
    const late = setTimeout(done, 30000)
    const end = (text: string) => {
      clearTimeout(late)
      if (text) tell(text)
      done()
    }
    try {
      const hook = spawn("git-checkpoint", ["agent-hook", "amp", event])
      hook.stderr.on("data", (text) => (said += text))
      hook.stdin.on("error", () => {})
      hook.on("error", (error) => end("git-checkpoint: not saved: " + error.message))
      hook.on("close", () => end(said.trim()))
      hook.stdin.end(JSON.stringify(data))
    } catch (error) {
      end("git-checkpoint: not saved: " + error)
    }
  })

export default function (amp: PluginAPI) {
  const told = new Set()
  const send = (event: string, told_by: any, data: object) => {
    const session = told_by?.thread?.id
    return fire(event, { cwd: process.cwd(), session_id: session, ...data }, (message) => {
      if (told.has(session)) return
      told.add(session)
      amp.logger.log(message)
    })
  }
  amp.on("agent.start", (event: any) => send("agent.start", event, { prompt: event.message }))
  amp.on("tool.call", async (event: any) => {
    await send("tool.call", event, {
      tool_name: event.tool,
      tool_use_id: event.toolUseID,
      tool_input: event.input,
    })
    return { action: "allow" }
  })
  amp.on("tool.result", async (event: any) => {
    await send("tool.result", event, {
      tool_name: event.tool,
      tool_use_id: event.toolUseID,
      tool_input: event.input,
    })
  })
  amp.on("agent.end", async (event: any) => {
    await send("agent.end", event, {})
  })
}
