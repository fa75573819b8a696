/* SPDX-License-Identifier: MIT */
#include "base/base.h"
#include "mcp/mcp.h"
#include "mcp/mcp_server_internal.h"

#include <poll.h>
#include <signal.h>

enum {
	WAITING_MAX = 256,     /* further requests wait in the pipe */
	PROGRESS_EVERY = 500,  /* milliseconds */
};

/* The streams. */
struct lines {
	int in, out;
	struct strbuf rest; /* of a line that has not ended */
	bool skipping;	    /* a line that is too long */
	bool ended, broken; /* there is no more input; nobody reads the output */
};

static void send(struct mcp_server *server, const json_t *message)
{
	struct lines *lines = server->payload;
	struct strbuf text = STRBUF_INIT;

	json_write(&text, message);
	strbuf_addch(&text, '\n');
	if (!lines->broken && fs_write_all(lines->out, text.buf, text.len) < 0)
		lines->broken = true;
	strbuf_release(&text);
}

/* ---- input ---- */

static bool is_blank(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r", text[i]) && text[i])
		i++;
	return i == len;
}

/* A whole line, without its end. What is too long is answered, but not kept. */
static void take_line(struct mcp_server *server, struct lines *lines, const char *text, size_t len)
{
	strbuf_add(&lines->rest, text, len);
	if (!lines->skipping && !is_blank(lines->rest.buf, lines->rest.len))
		mcp_dispatch(server, lines->rest.buf, lines->rest.len);
	lines->skipping = false;
	strbuf_reset(&lines->rest);
}

static void take_part(struct mcp_server *server, struct lines *lines, const char *text, size_t len)
{
	if (lines->skipping)
		return;
	strbuf_add(&lines->rest, text, len);
	if (lines->rest.len <= MCP_LINE_MAX)
		return;
	mcp_dispatch(server, lines->rest.buf, lines->rest.len);
	lines->skipping = true;
	strbuf_release(&lines->rest);
}

static void read_lines(struct mcp_server *server, struct lines *lines)
{
	char piece[65536];
	ssize_t got = read(lines->in, piece, sizeof(piece));
	const char *at = piece, *end;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		lines->ended = true;
		take_line(server, lines, "", 0); /* perhaps the last one has no newline */
		return;
	}
	while ((end = memchr(at, '\n', (size_t)(piece + got - at)))) {
		take_line(server, lines, at, (size_t)(end - at));
		at = end + 1;
	}
	take_part(server, lines, at, (size_t)(piece + got - at));
}

/* ---- calls ---- */

/*
 * That something is still done; how much is left is not known before the end. Not at once: clients
 * mistake a report that arrives together with the answer for one of another call.
 */
static void report_progress(struct mcp_server *server, struct mcp_call *call)
{
	json_t *notice;

	if (!call->progress || call->cancelled)
		return;
	notice = mcp_message_notice(
		"notifications/progress",
		json_pack("{s:O,s:i,s:s}", "progressToken", call->progress, "progress",
			  (int)++call->reports, "message",
			  call->planning ? "checking the plan" : "working"));
	send(server, notice);
	json_decref(notice);
}

static void end_call(struct mcp_server *server, json_t *message)
{
	if (!server->first->cancelled)
		send(server, message);
	json_decref(message);
	mcp_dispatch_done(server);
}

/* Until one runs, or there is none. */
static void start_calls(struct mcp_server *server)
{
	while (server->first && !server->first->child.pid) {
		struct mcp_call *call = server->first;
		json_t *message;

		message = call->cancelled ? NULL : mcp_call_start(call, server);
		if (call->cancelled || message)
			end_call(server, message);
	}
}

static void read_child(struct mcp_server *server)
{
	struct mcp_call *call = server->first;
	struct strbuf said = STRBUF_INIT;
	json_t *message;
	int status;

	if (!mcp_child_read(&call->child)) {
		/* Of a resource, which is a file, the rest is of no use. */
		if (call->child.overflowed && !call->tool)
			mcp_child_stop(&call->child);
		return;
	}
	status = mcp_child_end(&call->child, &said);
	message = call->cancelled ? NULL : mcp_call_ended(call, server, status, said.buf);
	if (call->cancelled || message)
		end_call(server, message);
	strbuf_release(&said);
}

/* ---- everything ---- */

static bool wait_and_work(struct mcp_server *server, struct lines *lines)
{
	struct pollfd fds[2] = { { -1, POLLIN, 0 }, { -1, POLLIN, 0 } };
	bool running;
	int ready;

	start_calls(server);
	running = server->first != NULL;
	if (lines->broken || cancel_signal() || (lines->ended && !running))
		return false;
	if (!lines->ended && server->waiting < WAITING_MAX)
		fds[0].fd = lines->in;
	if (running)
		fds[1].fd = server->first->child.out;
	ready = poll(fds, 2, running && server->first->progress ? PROGRESS_EVERY : -1);
	if (ready < 0)
		return errno == EINTR;
	if (!ready)
		report_progress(server, server->first);
	if (fds[1].revents)
		read_child(server);
	if (fds[0].revents)
		read_lines(server, lines);
	return true;
}

int mcp_serve(const struct mcp_opts *opts)
{
	struct lines lines = { opts->in, opts->out, STRBUF_INIT, false, false, false };
	struct mcp_server server = {
		.version = opts->version,
		.send = send,
		.payload = &lines,
	};
	int err;

	/* The directory of a call decides where it works, and nothing else. */
	env_forget("GIT_DIR");
	env_forget("GIT_WORK_TREE");
	signal(SIGPIPE, SIG_IGN);
	err = mcp_roots_init(&server.roots, opts->roots);
	while (!err && wait_and_work(&server, &lines))
		;
	mcp_server_release(&server);
	strbuf_release(&lines.rest);
	return err;
}
