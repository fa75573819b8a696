// SPDX-License-Identifier: MIT
// What a step of a script is in the words of each agent: the name of a tool and its arguments.
//   write:<file>  edit  shell:<file>  mcp:<file>  sub  enter  leave
import path from "node:path"

const join = (name) => path.join(process.env.KIT_DIR, name)
const touch = (name) => `echo ${path.basename(name)} > ${name}`

const mcp = (tool) => (name) => [tool, { file: join(name) }]

export const SUB = "SUBTASK" // in what a sub-agent is asked, and nowhere else

const patch = (body) => `*** Begin Patch\n${body}*** End Patch\n`

const table = {
	"claude-code": {
		write: (name) => ["Write", { file_path: join(name), content: "x\n" }],
		read: () => ["Read", { file_path: join("a.txt") }],
		edit: () => ["Edit", { file_path: join("a.txt"), old_string: "one", new_string: "two" }],
		shell: (name) => ["Bash", { command: touch(name), description: "x" }],
		mcp: mcp("mcp__kit__touch"),
		sub: () => ["Agent", { description: "x", prompt: SUB, subagent_type: "general-purpose" }],
		enter: () => ["EnterWorktree", { name: "kit" }],
		leave: () => ["ExitWorktree", { action: "remove", discard_changes: true }],
	},
	codex: {
		write: (name) => ["apply_patch", patch(`*** Add File: ${name}\n+x\n`)],
		edit: () => ["apply_patch", patch("*** Update File: a.txt\n@@\n-one\n+two\n")],
		shell: (name) => ["exec_command", { cmd: touch(name) }],
		mcp: (name) => ["touch", { file: join(name) }, "mcp__kit"],
		sub: () => ["spawn_agent", { task_name: "sub1", message: SUB, fork_turns: "none" }, "collaboration"],
		wait: () => ["wait_agent", { timeout_ms: 20000 }, "collaboration"],
	},
	"gemini-cli": {
		write: (name) => ["write_file", { file_path: join(name), content: "x\n" }],
		edit: () => ["replace", { file_path: join("a.txt"), instruction: "x", old_string: "one", new_string: "two" }],
		shell: (name) => ["run_shell_command", { command: touch(name) }],
		mcp: mcp("mcp_kit_touch"),
		sub: () => ["invoke_agent", { agent_name: "generalist", prompt: SUB }],
	},
	copilot: {
		write: (name) => ["create", { path: join(name), file_text: "x\n" }],
		edit: () => ["edit", { path: join("a.txt"), old_str: "one", new_str: "two" }],
		shell: (name) => ["bash", { command: touch(name), description: "x" }],
		mcp: mcp("kit-touch"),
		sub: () => ["task", { name: "sub", description: "x", prompt: SUB, agent_type: "general-purpose", mode: "sync" }],
	},
	"qwen-code": {
		write: (name) => ["write_file", { file_path: join(name), content: "x\n" }],
		read: () => ["read_file", { file_path: join("a.txt") }],
		edit: () => ["edit", { file_path: join("a.txt"), old_string: "one", new_string: "two" }],
		shell: (name) => ["run_shell_command", { command: touch(name), is_background: false, description: "x" }],
		mcp: mcp("mcp__kit__touch"),
		sub: () => ["agent", { description: "x", prompt: SUB, subagent_type: "general-purpose" }],
	},
	opencode: {
		write: (name) => ["write", { filePath: join(name), content: "x\n" }],
		read: () => ["read", { filePath: join("a.txt") }],
		edit: () => ["edit", { filePath: join("a.txt"), oldString: "one", newString: "two" }],
		shell: (name) => ["bash", { command: touch(name), description: "x" }],
		mcp: mcp("kit_touch"),
		sub: () => ["task", { description: "x", prompt: SUB, subagent_type: "general" }],
	},
}

// "edit;shell:a+write:b": steps, each with one call or several at once
export function steps(agent, script) {
	return script
		.split(";")
		.filter(Boolean)
		.map((step) =>
			step.split("+").map((word) => {
				const [op, arg] = word.split(":")
				const [name, args, namespace] = table[agent][op](arg)
				return { name, args, namespace }
			}),
		)
}
