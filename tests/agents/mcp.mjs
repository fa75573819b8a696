// SPDX-License-Identifier: MIT
// An MCP server with one tool, which creates a file.
import fs from "node:fs"
import readline from "node:readline"

const tool = {
	name: "touch",
	description: "create a file",
	inputSchema: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
	annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false, idempotentHint: true },
}

function answer(method, params) {
	if (method === "initialize")
		return {
			protocolVersion: params?.protocolVersion ?? "2025-06-18",
			capabilities: { tools: {} },
			serverInfo: { name: "kit", version: "1" },
		}
	if (method === "tools/list") return { tools: [tool] }
	if (method === "tools/call") {
		fs.writeFileSync(params.arguments.file, "mcp\n")
		return { content: [{ type: "text", text: "done" }] }
	}
	if (method === "ping") return {}
	return null
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method, params } = JSON.parse(line)
	if (id === undefined) return
	const result = answer(method, params)
	const error = { code: -32601, message: "no such method" }
	process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }) + "\n")
})
