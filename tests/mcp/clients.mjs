// SPDX-License-Identifier: MIT
// The clients that most programs are built on, as clients of `git checkpoint mcp`, in all
// revisions. They check each answer against the schema of its tool themselves.
// usage: clients.mjs <directory with node_modules> <server> <work directory>
import { createRequire } from 'node:module';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, server, work] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const git = (...args) => execFileSync('git', args, { cwd: work, encoding: 'utf8' });
const write = (name, text) => fs.writeFileSync(path.join(work, name), text);
const read = (name) => fs.readFileSync(path.join(work, name), 'utf8');

const READS = ['list', 'show', 'diff', 'patch', 'file', 'status', 'file_history', 'turns', 'preview_restore'];
const DESTROYS = ['restore', 'revert', 'undo'];

// Both libraries have the same methods, under other names for the options of a request.
async function scenario(client, call, note) {
	const { tools } = await client.listTools();
	assert.equal(tools.length, 15);
	for (const tool of tools) {
		const name = tool.name.replace('checkpoint_', '');
		assert.deepEqual(
			[tool.annotations.readOnlyHint, tool.annotations.destructiveHint,
				tool.annotations.openWorldHint, typeof tool.annotations.idempotentHint],
			[READS.includes(name), DESTROYS.includes(name), false, 'boolean'], name);
		assert.equal(tool.outputSchema.type, 'object');
	}
	const ok = async (name, args) => {
		const result = await call('checkpoint_' + name, args);
		assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
		assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
		return result.structuredContent;
	};
	const refused = async (name, args, why) => {
		const result = await call('checkpoint_' + name, args);
		assert.ok(result.isError, `${name} was not refused`);
		assert.match(JSON.parse(result.content[0].text).error.message, why);
	};

	fs.rmSync(path.join(work, 'other'), { force: true });
	write('file', `one, ${note}\n`);
	write('bytes', Buffer.from([0, 255, 10]));
	const first = await ok('save', { reason: `first of ${note}` });
	assert.ok(first.checkpoint_created);
	const id = first.checkpoint.id;
	assert.equal((await ok('status', {})).safe, true);
	write('file', 'two\n');
	write('other', 'new\n');
	const second = (await ok('save', {})).checkpoint.id;
	assert.equal((await ok('list', {})).checkpoints[0].id, second);
	assert.ok((await ok('show', { checkpoint: id })).changed_files.length > 0);
	assert.deepEqual((await ok('diff', { checkpoint: id, paths: ['other'] })).changes,
		[{ file: 'other', status: 'A' }]);
	assert.match((await ok('patch', { checkpoint: id, paths: null })).text, /^\+new$/m);
	assert.equal((await ok('file', { checkpoint: id, path: 'file' })).text, `one, ${note}\n`);
	const past = (await ok('file_history', { path: 'file' })).checkpoints.map((c) => c.id);
	assert.deepEqual(past.slice(0, 2), [second, id]);
	assert.equal((await ok('pin', { checkpoint: id })).checkpoint.pinned, true);
	assert.equal((await ok('unpin', { checkpoint: id })).checkpoint.pinned, false);

	await refused('restore', { checkpoint: id }, /token/);
	await refused('restore', { checkpoint: id, token: '0'.repeat(32) }, /token/);
	await refused('diff', { paths: [] }, /empty/);
	await refused('save', { force: true }, /no argument 'force'/);
	await refused('diff', { directory: '/' }, /outside/);
	const plan = await ok('preview_restore', { checkpoint: id });
	assert.equal(plan.rolled_back, false);
	assert.equal(read('file'), 'two\n');
	const done = await ok('restore', { checkpoint: id, token: plan.token });
	assert.equal(done.verification.match, true);
	assert.equal(read('file'), `one, ${note}\n`);
	await refused('restore', { checkpoint: id, token: plan.token }, /token/);
	const stale = await ok('preview_restore', { undo: true });
	write('file', 'three\n');
	await refused('undo', { token: stale.token }, /another plan/);
	const undo = await ok('preview_restore', { undo: true });
	await ok('undo', { token: undo.token });
	assert.equal(read('file'), 'two\n');

	const revert = await call('checkpoint_preview_restore', { revert: second });
	if (!/unknown command/.test(revert.content[0].text)) {
		await ok('revert', { checkpoint: second, token: revert.structuredContent.token });
		assert.equal(read('file'), `one, ${note}\n`);
	}

	assert.equal((await client.listResources()).resources[0].uri, 'checkpoint:///list');
	assert.equal((await client.listResourceTemplates()).resourceTemplates[0].uriTemplate,
		'checkpoint:///{id}/{+path}');
	const text = (await client.readResource({ uri: `checkpoint:///${id}/file` })).contents[0];
	assert.equal(text.text, `one, ${note}\n`);
	const blob = (await client.readResource({ uri: `checkpoint:///${id}/bytes` })).contents[0];
	assert.deepEqual([...Buffer.from(blob.blob, 'base64')], [0, 255, 10]);
	await assert.rejects(client.readResource({ uri: `checkpoint:///${id}/none` }));
	const prompts = (await client.listPrompts()).prompts;
	const prompt = await client.getPrompt({ name: prompts[0].name, arguments: { task: note } });
	assert.match(prompt.messages[0].content.text, new RegExp(note));

	// While somebody else has the lock, there is progress; then there is an answer.
	const lock = path.join((await ok('status', {})).store, 'checkpoint/lock');
	const holder = spawn('flock', [lock, '-c', 'echo held; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
	await once(holder.stdout, 'data');
	write('file', 'while locked\n');
	let progress = 0;
	const held = await call('checkpoint_save', {}, () => {
		if (!progress++)
			holder.stdin.end();
	});
	assert.ok(progress > 0 && held.structuredContent.checkpoint_created);
	git('checkpoint', 'verify', '-q', '--all');
	console.log(`ok - ${note}`);
}

const parameters = { command: server, args: ['mcp'], cwd: work, env: process.env };

async function sdk(revision) {
	const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
	const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
	const transport = new StdioClientTransport(parameters);
	const send = transport.send.bind(transport);
	transport.send = (message) => {
		if (message.method === 'initialize')
			message.params.protocolVersion = revision;
		return send(message);
	};
	const client = new Client({ name: 'sdk-test', version: '1' });
	client.onerror = (error) => { throw error; };
	await client.connect(transport);
	await scenario(client, (name, args, onprogress) => client.callTool({ name, arguments: args },
		undefined, { onprogress }), `sdk ${revision}`);
	await client.close();
}

async function later(mode, note, revision) {
	const { Client } = await load('@modelcontextprotocol/client');
	const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
	const client = new Client({ name: 'client-test', version: '1' },
		{ versionNegotiation: { mode } });
	client.onerror = (error) => { throw error; };
	await client.connect(new StdioClientTransport(parameters));
	assert.equal(client.getNegotiatedProtocolVersion(), revision);
	await scenario(client, (name, args, onprogress) => client.callTool({ name, arguments: args },
		{ onprogress }), note);
	await client.close();
}

await sdk('2024-11-05');
await sdk('2025-03-26');
await sdk('2025-06-18');
await sdk('2025-11-25');
await later('legacy', 'client legacy', '2025-11-25');
await later('auto', 'client auto', '2026-07-28');
await later({ pin: '2026-07-28' }, 'client pinned', '2026-07-28');
