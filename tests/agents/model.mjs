// SPDX-License-Identifier: MIT
// A model on loopback that follows a script instead of thinking, in the protocols that agents speak.
// KIT_AGENT, KIT_SCRIPT and KIT_SUB (for a sub-agent), KIT_DIR, KIT_PORT; KIT_LOG: a line a request.
import fs from "node:fs"
import http from "node:http"
import { steps, SUB } from "./tools.mjs"

const { KIT_AGENT, KIT_SCRIPT, KIT_SUB, KIT_PORT, KIT_LOG } = process.env
const scripts = { main: steps(KIT_AGENT, KIT_SCRIPT), sub: steps(KIT_AGENT, KIT_SUB ?? "") }
let calls = 0
let requests = 0

const log = (line) => fs.appendFileSync(KIT_LOG, JSON.stringify(line) + "\n")

// The step that is due: one more than the conversation has. Without tools only a title is wanted.
function due(done, texts, tools) {
	const which = texts.includes(SUB) && !texts.includes("MAINTASK") ? "sub" : "main"
	const step = tools.length && ++requests < 60 ? scripts[which][done] : undefined

	log({ which, done, tools, send: step?.map((call) => call.name) ?? "text" })
	return (step ?? []).map((call) => ({ ...call, id: `call_${++calls}` }))
}

const usage = { input_tokens: 10, output_tokens: 10 }

function events(res, list) {
	res.writeHead(200, { "content-type": "text/event-stream" })
	for (const [name, data] of list)
		res.write((name ? `event: ${name}\n` : "") + `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
	res.end()
}

const json = (res, value, status = 200) => {
	res.writeHead(status, { "content-type": "application/json" })
	res.end(JSON.stringify(value))
}

function anthropic(body, res) {
	const asked = body.messages.filter((m) => m.role === "assistant" && Array.isArray(m.content))
	const done = asked.filter((m) => m.content.some((part) => part.type === "tool_use")).length
	const tools = (body.tools ?? []).map((tool) => tool.name)
	const todo = due(done, JSON.stringify(body.messages[0]), tools.length > 2 ? tools : [])
	const content = todo.length
		? todo.map((call) => ({ type: "tool_use", id: `toolu_${call.id}`, name: call.name, input: call.args }))
		: [{ type: "text", text: "done" }]
	const stop = todo.length ? "tool_use" : "end_turn"
	const message = { id: `msg_${++calls}`, type: "message", role: "assistant", model: body.model, content, stop_reason: stop, stop_sequence: null, usage }

	if (!body.stream) return json(res, message)
	const list = [["message_start", { type: "message_start", message: { ...message, content: [], stop_reason: null } }]]
	content.forEach((part, index) => {
		const text = part.type === "text"
		const empty = text ? { type: "text", text: "" } : { ...part, input: {} }
		const delta = text
			? { type: "text_delta", text: part.text }
			: { type: "input_json_delta", partial_json: JSON.stringify(part.input) }
		list.push(["content_block_start", { type: "content_block_start", index, content_block: empty }])
		list.push(["content_block_delta", { type: "content_block_delta", index, delta }])
		list.push(["content_block_stop", { type: "content_block_stop", index }])
	})
	list.push(["message_delta", { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage }])
	list.push(["message_stop", { type: "message_stop" }])
	events(res, list)
}

function responses(body, res) {
	const input = Array.isArray(body.input) ? body.input : []
	let done = 0
	input.forEach((item, i) => {
		// several calls of one answer follow each other
		if (/_call$/.test(item.type) && !/_call$/.test(input[i - 1]?.type ?? "")) done++
	})
	const tools = [...(body.tools ?? []), ...input.filter((item) => item.type === "additional_tools")]
	const todo = due(done, JSON.stringify(input.filter((i) => i.role === "user" || i.type === "agent_message")), tools.map((t) => t.name ?? t.type))
	const output = todo.map((call) =>
		typeof call.args === "string"
			? { type: "custom_tool_call", id: `ctc_${call.id}`, call_id: call.id, name: call.name, input: call.args, status: "completed" }
			: { type: "function_call", id: `fc_${call.id}`, call_id: call.id, name: call.name, namespace: call.namespace, arguments: JSON.stringify(call.args), status: "completed" },
	)
	if (!todo.length)
		output.push({ type: "message", id: `msg_${++calls}`, role: "assistant", status: "completed", content: [{ type: "output_text", text: "done", annotations: [] }] })
	const response = { id: `resp_${++calls}`, object: "response", created_at: 1, model: body.model, status: "completed", output, usage: { ...usage, total_tokens: 20 } }
	const list = [["response.created", { type: "response.created", response: { ...response, status: "in_progress", output: [] } }]]
	output.forEach((item, output_index) => {
		list.push(["response.output_item.added", { type: "response.output_item.added", output_index, item }])
		list.push(["response.output_item.done", { type: "response.output_item.done", output_index, item }])
	})
	list.push(["response.completed", { type: "response.completed", response }])
	events(res, list)
}

function chat(body, res) {
	const done = body.messages.filter((m) => m.role === "assistant" && m.tool_calls?.length).length
	const users = JSON.stringify(body.messages.filter((m) => m.role === "user"))
	const todo = due(done, users, (body.tools ?? []).map((tool) => tool.function?.name))
	const tool_calls = todo.map((call, index) => ({ index, id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.args) } }))
	const finish_reason = todo.length ? "tool_calls" : "stop"
	const base = { id: `cc_${++calls}`, created: 1, model: body.model }
	const said = todo.length ? { content: null, tool_calls } : { content: "done" }
	const counts = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

	if (!body.stream)
		return json(res, { ...base, object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", ...said }, finish_reason }], usage: counts })
	const chunk = (delta, reason = null) => [null, { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] }]
	events(res, [
		chunk({ role: "assistant", ...said }),
		chunk({}, finish_reason),
		[null, { ...base, object: "chat.completion.chunk", choices: [], usage: counts }],
		[null, "[DONE]"],
	])
}

function gemini(body, res, stream) {
	const contents = body.contents ?? []
	const done = contents.filter((c) => c.role === "model" && c.parts?.some((part) => part.functionCall)).length
	const tools = (body.tools ?? []).flatMap((t) => (t.functionDeclarations ?? []).map((f) => f.name))
	const todo = due(done, JSON.stringify(contents), tools)
	const wantsJson = body.generationConfig?.responseMimeType === "application/json"
	const choice = { reasoning: "x", next_speaker: "user", complexity_score: 10, complexity_reasoning: "x", model_choice: "flash" }
	const parts = todo.length
		? todo.map((call) => ({ functionCall: { id: call.id, name: call.name, args: call.args } }))
		: [{ text: wantsJson ? JSON.stringify(choice) : "done" }]
	const answer = {
		candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
		usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
		modelVersion: "kit",
		responseId: `r_${++calls}`,
	}
	return stream ? events(res, [[null, answer]]) : json(res, answer)
}

function serve(url, body, res) {
	if (url.endsWith("/v1/messages")) return anthropic(body, res)
	if (url.endsWith("/count_tokens")) return json(res, { input_tokens: 10 })
	if (url.endsWith("/responses")) return responses(body, res)
	if (url.endsWith("/chat/completions")) return chat(body, res)
	if (/:(stream)?generatecontent$/i.test(url)) return gemini(body, res, /stream/i.test(url))
	if (/:countTokens$/.test(url)) return json(res, { totalTokens: 1 })
	if (url.endsWith("/models")) return json(res, { object: "list", data: [{ id: "kit", object: "model", created: 1, owned_by: "x" }], models: [] })
	return json(res, { error: { message: "not here", type: "not_found_error" } }, 404)
}

http.createServer((req, res) => {
	let text = ""
	req.on("data", (data) => (text += data))
	req.on("end", () => {
		let body = {}
		try {
			body = JSON.parse(text)
		} catch {}
		serve(req.url.split("?")[0], body, res)
	})
}).listen(+KIT_PORT, "127.0.0.1", () => log({ listening: true }))
