// SPDX-License-Identifier: MIT
// Stands in for the model behind a coding agent: asks for the tools in a file, one after the other,
// and then says that it is done. Speaks what Claude Code (Messages), Codex (Responses) and Gemini
// CLI (generateContent) speak. What it was told is appended to a file.
// usage: model.mjs <port> <file with calls> <file for what was heard>
import fs from 'node:fs';
import http from 'node:http';

const [port, callsFile, heard] = process.argv.slice(2);
const calls = JSON.parse(fs.readFileSync(callsFile, 'utf8'));
let serial = 0;

function stream(response, events) {
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	for (const [name, data] of events)
		response.write((name ? `event: ${name}\n` : '') + `data: ${JSON.stringify(data)}\n\n`);
	response.end();
}

const typed = (events) => events.map((data) => [data.type, data]);

// The next call, or undefined: `done` were made. A request without tools asks for a title.
const next = (done, tools) => (tools > 2 ? calls[done] : undefined);

function messages(body, response) {
	const done = body.messages.filter((m) => m.role === 'assistant' && Array.isArray(m.content) &&
		m.content.some((c) => c.type === 'tool_use')).length;
	const call = next(done, (body.tools || []).length);
	const block = call ? { type: 'tool_use', id: `toolu_${++serial}`, name: call.name, input: {} }
		: { type: 'text', text: '' };
	const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) }
		: { type: 'text_delta', text: 'done' };
	const usage = { input_tokens: 1, output_tokens: 1 };
	const message = { id: `msg_${++serial}`, type: 'message', role: 'assistant', model: body.model, usage };
	const stop = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
	if (!body.stream) {
		response.end(JSON.stringify({ ...message, ...stop, content: [call ?
			{ ...block, input: call.arguments } : { type: 'text', text: 'done' }] }));
		return;
	}
	stream(response, typed([
		{ type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
		{ type: 'content_block_start', index: 0, content_block: block },
		{ type: 'content_block_delta', index: 0, delta },
		{ type: 'content_block_stop', index: 0 },
		{ type: 'message_delta', delta: stop, usage },
		{ type: 'message_stop' },
	]));
}

function responses(body, response) {
	const done = body.input.filter((item) => item.type === 'function_call_output').length;
	const tools = (body.tools || []).length || body.input.some((item) => item.type === 'additional_tools') ? 9 : 0;
	const call = next(done, tools);
	const id = `resp_${++serial}`;
	const item = call ? { type: 'function_call', id: `fc_${serial}`, call_id: `call_${serial}`, name: call.name,
		...(call.space ? { namespace: call.space } : {}), arguments: JSON.stringify(call.arguments),
		status: 'completed' }
		: { type: 'message', id: `msg_${serial}`, role: 'assistant', status: 'completed',
			content: [{ type: 'output_text', text: 'done', annotations: [] }] };
	const head = { id, object: 'response', created_at: 1, model: body.model };
	stream(response, typed([
		{ type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
		{ type: 'response.output_item.added', output_index: 0, item },
		{ type: 'response.output_item.done', output_index: 0, item },
		{ type: 'response.completed', response: { ...head, status: 'completed', output: [item],
			usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } },
	]));
}

function generate(body, response, streamed) {
	const done = (body.contents || []).filter((c) => c.role === 'model' &&
		(c.parts || []).some((p) => p.functionCall)).length;
	const tools = (body.tools || []).flatMap((t) => t.functionDeclarations || []);
	const call = next(done, tools.length);
	const text = body.generationConfig?.responseMimeType === 'application/json' ?
		'{"reasoning":"x","next_speaker":"user","complexity_score":10,"complexity_reasoning":"x","model_choice":"flash"}' :
		'done';
	const answer = { candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [call ?
		{ functionCall: { id: `fc${++serial}`, name: call.name, args: call.arguments } } : { text }] } }],
		usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
	if (streamed)
		stream(response, [[null, answer]]);
	else
		response.end(JSON.stringify(answer));
}

http.createServer((request, response) => {
	let text = '';
	request.on('data', (piece) => { text += piece; });
	request.on('end', () => {
		const path = request.url.split('?')[0];
		const body = text ? JSON.parse(text) : {};
		fs.appendFileSync(heard, text + '\n');
		if (path.endsWith('/v1/messages'))
			messages(body, response);
		else if (path.endsWith('/count_tokens'))
			response.end('{"input_tokens":1}');
		else if (path.endsWith('/responses'))
			responses(body, response);
		else if (/:(stream)?generateContent$/i.test(path))
			generate(body, response, /stream/i.test(path));
		else if (path.endsWith(':countTokens'))
			response.end('{"totalTokens":1}');
		else if (path.endsWith('/models'))
			response.end('{"object":"list","data":[],"models":[]}');
		else
			response.writeHead(404).end('{"error":{"message":"not here","type":"not_found_error"}}');
	});
}).listen(+port, '127.0.0.1', () => console.log('listening'));
