/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#include "mcp/mcp.h"

#include <poll.h>
#include <signal.h>
#include <sys/random.h>

enum {
	WAITING_MAX = 256,    /* further requests wait in the pipe */
	PROGRESS_EVERY = 500, /* milliseconds */
	PLACE_SECONDS = 2,    /* for a client to say where it is */
	TEXT_MAX = 512,	      /* bytes of a text that is kept of a line that is too long */
	OUTLINE_MAX = 64 << 10,
};

/*
 * What remains of a line that is too long: its members, with nothing in those that are objects,
 * arrays or long texts. It is enough to tell who waits for an answer.
 */
struct outline {
	struct strbuf text;
	size_t depth, string; /* where in `text` a string began */
	bool in_string, escaped;
};

struct lines {
	int in, out;
	struct strbuf rest; /* of a line that has not ended */
	struct outline outline;
	bool too_long;	    /* then it is in `outline` */
	bool ended, broken; /* there is no more input; nobody reads the output */
};

static void write_line(struct mcp_server *server, const json_t *message)
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

/* ---- lines that are too long ---- */

static void outline_string(struct outline *outline, char c)
{
	bool kept = outline->depth <= 1;

	if (kept && outline->text.len - outline->string > TEXT_MAX)
		strbuf_setlen(&outline->text, outline->string + 1);
	if (outline->escaped)
		outline->escaped = false;
	else if (c == '\\')
		outline->escaped = true;
	else
		outline->in_string = c != '"';
	if (kept)
		strbuf_addch(&outline->text, c);
}

static void outline_char(struct outline *outline, char c)
{
	size_t depth = outline->depth;

	if (outline->in_string) {
		outline_string(outline, c);
		return;
	}
	if (c == '{' || c == '[')
		outline->depth++;
	else if ((c == '}' || c == ']') && depth)
		depth = --outline->depth;
	if (c == '"') {
		outline->in_string = true;
		outline->string = outline->text.len;
	}
	if (depth <= 1 && outline->text.len < OUTLINE_MAX)
		strbuf_addch(&outline->text, c);
}

static void add_outline(struct outline *outline, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		outline_char(outline, text[i]);
}

static void take_part(struct lines *lines, const char *text, size_t len)
{
	if (!lines->too_long && lines->rest.len + len > MCP_LINE_MAX) {
		lines->too_long = true;
		add_outline(&lines->outline, lines->rest.buf, lines->rest.len);
		strbuf_release(&lines->rest);
	}
	if (lines->too_long)
		add_outline(&lines->outline, text, len);
	else
		strbuf_add(&lines->rest, text, len);
}

static void end_line(struct mcp_server *server, struct lines *lines)
{
	const struct strbuf *line = lines->too_long ? &lines->outline.text : &lines->rest;

	if (!is_blank(line->buf, line->len))
		mcp_dispatch(server, line->buf, line->len, lines->too_long);
	lines->too_long = false;
	strbuf_reset(&lines->rest);
	strbuf_release(&lines->outline.text);
	lines->outline = (struct outline){ .text = STRBUF_INIT };
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
		end_line(server, lines); /* perhaps the last one has no newline */
		return;
	}
	while ((end = memchr(at, '\n', (size_t)(piece + got - at)))) {
		take_part(lines, at, (size_t)(end - at));
		end_line(server, lines);
		at = end + 1;
	}
	take_part(lines, at, (size_t)(piece + got - at));
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
	notice = json_pack("{s:s,s:s,s:{s:O,s:i,s:s}}", "jsonrpc", "2.0", "method",
			   "notifications/progress", "params", "progressToken", call->progress,
			   "progress", (int)++call->reports, "message",
			   call->planning ? "checking the plan" : "working");
	server->send(server, notice);
	json_decref(notice);
}

static void end_call(struct mcp_server *server, json_t *message)
{
	if (!server->first->cancelled)
		server->send(server, message);
	json_decref(message);
	mcp_dispatch_done(server);
}

/* Whether a call waits until its client has said where it is. Who does not answer is not asked again. */
static bool waits_for_place(struct mcp_server *server, struct mcp_call *call)
{
	const struct lines *lines = server->payload;
	json_t *question;

	if (!server->tells_place || call->modern || call->placed || call->args.directory || lines->ended)
		return false;
	if (call->asked_until) {
		server->tells_place = clock_monotonic() < call->asked_until;
		return server->tells_place;
	}
	call->asked_until = clock_monotonic() + PLACE_SECONDS;
	question = json_pack("{s:s,s:s,s:s}", "jsonrpc", "2.0", "id", MCP_ASKS_PLACE, "method",
			     "roots/list");
	server->send(server, question);
	json_decref(question);
	return true;
}

/* Until one runs or waits, or there is none. */
static void start_calls(struct mcp_server *server)
{
	while (server->first && !server->first->child.pid) {
		struct mcp_call *call = server->first;
		json_t *message;

		if (!call->cancelled && waits_for_place(server, call))
			return;
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
	ready = poll(fds, 2,
		     running && (server->first->progress || !server->first->child.pid) ? PROGRESS_EVERY
										       : -1);
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
	struct lines lines = { .in = opts->in,
			       .out = opts->out,
			       .rest = STRBUF_INIT,
			       .outline = { .text = STRBUF_INIT } };
	struct mcp_server server = {
		.version = opts->version,
		.send = write_line,
		.payload = &lines,
	};
	uint32_t connection = 0;
	int err;

	/* The directory of a call decides where it works, and nothing else. */
	env_forget("GIT_DIR");
	env_forget("GIT_WORK_TREE");
	signal(SIGPIPE, SIG_IGN);
	err = mcp_roots_init(&server.roots, opts->roots);
	if (!err && getrandom(&connection, sizeof(connection), 0) != sizeof(connection))
		err = ckpt_error_errno("unable to get random bytes");
	snprintf(server.connection, sizeof(server.connection), "%08" PRIx32, connection);
	while (!err && wait_and_work(&server, &lines))
		;
	mcp_server_release(&server);
	strbuf_release(&lines.rest);
	strbuf_release(&lines.outline.text);
	return err;
}
