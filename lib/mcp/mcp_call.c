/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>

/* ---- a command that runs while the server listens ---- */

enum { SAID_MAX = 4096 };

/* This very program, even if another version was installed meanwhile. */
#define PROGRAM "/proc/self/exe"

static void run_child(const struct mcp_child *child, int out, int dir, char **argv, char **environment)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(child->said, STDERR_FILENO) < 0 || fchdir(dir) < 0)
		_exit(126);
	signal(SIGPIPE, SIG_DFL);
	env_restore_umask();
	execve(PROGRAM, argv, environment);
	_exit(127);
}

static int spawn_child(struct mcp_child *child, const struct strlist *words, int dir)
{
	char **argv = xcalloc(words->nr + 3, sizeof(*argv)), **environment;
	int ends[2] = { -1, -1 }, err = 0;

	/* Paths are names, not patterns. */
	environment = env_given_for_directory("GIT_LITERAL_PATHSPECS=1");
	argv[0] = (char *)"git-checkpoint";
	argv[1] = (char *)"--here";
	memcpy(argv + 2, words->items, words->nr * sizeof(*argv));
	child->said = memfd_create("stderr", MFD_CLOEXEC);
	if (child->said < 0 || pipe2(ends, O_CLOEXEC) < 0)
		err = ckpt_error_errno("unable to run the command");
	child->pid = err ? -1 : fork();
	if (!child->pid)
		run_child(child, ends[1], dir, argv, environment);
	if (!err && child->pid < 0)
		err = ckpt_error_errno("unable to run the command");
	if (child->pid < 0)
		child->pid = 0;
	fs_close(ends[1]);
	if (err)
		fs_close(ends[0]);
	else
		child->out = ends[0];
	free(argv);
	free(environment);
	return err;
}

void mcp_child_stop(struct mcp_child *child)
{
	if (child->pid)
		kill(child->pid, SIGTERM);
}

static void release_child(struct mcp_child *child)
{
	if (child->pid) {
		mcp_child_stop(child);
		(void)spawn_wait(child->pid);
	}
	fs_close(child->out);
	fs_close(child->said);
	strbuf_release(&child->output);
	*child = (struct mcp_child)MCP_CHILD_INIT;
}

/*
 * Start it in the directory `dir`, the top of a project, and nowhere else whatever was changed in
 * there meanwhile; the words after the program's name. It cannot ask anybody, and
 * if this process dies it gets SIGTERM.
 */
static int start_child(struct mcp_child *out, const struct strlist *words, int dir, size_t limit)
{
	int err;

	*out = (struct mcp_child)MCP_CHILD_INIT;
	out->limit = limit;
	err = spawn_child(out, words, dir);
	if (err)
		release_child(out);
	return err;
}

bool mcp_child_read(struct mcp_child *child)
{
	char piece[65536];
	ssize_t got = read(child->out, piece, sizeof(piece));

	if (got < 0)
		return errno != EINTR && errno != EAGAIN;
	if (child->overflowed || child->output.len + (size_t)got > child->limit)
		child->overflowed = true; /* read on, so that it can end by itself */
	else
		strbuf_add(&child->output, piece, (size_t)got);
	return got == 0;
}

/* The sentence of a failure comes last. */
static void last_line(struct strbuf *out, int fd)
{
	static const char *const kinds[] = { "fatal: ", "error: " };
	char text[SAID_MAX];
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t got = fs_pread_full(fd, text, sizeof(text),
				    size > (off_t)sizeof(text) ? size - (off_t)sizeof(text) : 0);
	ssize_t start;

	while (got > 0 && text[got - 1] == '\n')
		got--;
	for (start = got; start > 0 && text[start - 1] != '\n'; start--)
		;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (got - start > (ssize_t)strlen(kinds[i]) &&
		    !strncmp(text + start, kinds[i], strlen(kinds[i])))
			start += (ssize_t)strlen(kinds[i]);
	if (got > start)
		utf8_printable(out, text + start, (size_t)(got - start), "", '?');
}

int mcp_child_end(struct mcp_child *child, struct strbuf *said)
{
	int status = spawn_wait(child->pid);

	child->pid = 0;
	last_line(said, child->said);
	return status;
}

/* ---- what previews returned ---- */

void mcp_tokens_digest(char out[MCP_DIGEST_SIZE], const struct strlist *command, const char *where,
		       const struct strbuf *plan)
{
	struct digest *digest = hash_new(HASH_SHA256);
	unsigned char sum[SHA256_SIZE];

	for (size_t i = 0; i < command->nr; i++)
		hash_update(digest, command->items[i], strlen(command->items[i]) + 1);
	hash_update(digest, "", 1); /* no argument is empty */
	hash_update(digest, where, strlen(where) + 1);
	hash_update(digest, plan->buf, plan->len);
	hash_end(digest, sum);
	hash_free(digest);
	oid_hex_encode(out, sum, sizeof(sum));
}

static void forget_token(struct mcp_tokens *tokens, size_t at)
{
	tokens->nr--;
	memmove(&tokens->items[at], &tokens->items[at + 1],
		(tokens->nr - at) * sizeof(tokens->items[0]));
}

int mcp_tokens_issue(struct mcp_tokens *tokens, char out[MCP_TOKEN_SIZE], const char *digest)
{
	unsigned char bytes[(MCP_TOKEN_SIZE - 1) / 2];
	struct mcp_token *token;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return ckpt_error_errno("unable to get random bytes");
	if (tokens->nr == MCP_TOKENS_MAX)
		forget_token(tokens, 0);
	token = &tokens->items[tokens->nr++];
	oid_hex_encode(token->text, bytes, sizeof(bytes));
	memcpy(token->digest, digest, MCP_DIGEST_SIZE);
	memcpy(out, token->text, MCP_TOKEN_SIZE);
	return 0;
}

bool mcp_tokens_redeem(struct mcp_tokens *tokens, char out[MCP_DIGEST_SIZE], const char *text)
{
	for (size_t i = 0; i < tokens->nr; i++) {
		if (strcmp(tokens->items[i].text, text) != 0)
			continue;
		memcpy(out, tokens->items[i].digest, MCP_DIGEST_SIZE);
		forget_token(tokens, i);
		return true;
	}
	return false;
}

enum { BYTES_MAX = 64 << 10 /* of contents in an answer, which clients cut if it is longer */ };

/* Exit statuses of commands; git-checkpoint(1) has all of them. */
enum { STATUS_DONE = 0, STATUS_INCOMPLETE = 3, STATUS_REFUSED = 5, STATUS_FATAL = 128, STATUS_USAGE = 129 };

void mcp_call_free(struct mcp_call *call)
{
	json_decref(call->id);
	json_decref(call->progress);
	mcp_args_release(&call->args);
	mcp_project_release(&call->project);
	release_child(&call->child);
	strbuf_release(&call->before);
	free(call->uri);
	free(call->source);
	free(call);
}

/* ---- answers ---- */

json_t *mcp_message_answer(json_t *id, json_t *result)
{
	return json_pack("{s:s,s:O,s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *mcp_message_refusal(json_t *id, int code, const char *why, json_t *data)
{
	json_t *error = json_pack("{s:i,s:o}", "code", code, "message", json_text(why));

	if (data)
		json_object_set_new(error, "data", data);
	return json_pack("{s:s,s:o,s:o}", "jsonrpc", "2.0", "id", id ? json_incref(id) : json_null(),
			 "error", error);
}

/* ---- what a tool answers ---- */

/*
 * A clause that offers --force is for people, who know what they risk: a model takes whatever it is
 * offered.
 */
static json_t *without_force(const char *text)
{
	struct strbuf out = STRBUF_INIT;
	json_t *value;

	for (const char *end; *text; text = *end ? end + 2 : end) {
		char *clause;

		end = strstr(text, "; ");
		end = end ? end : text + strlen(text);
		clause = xmemdupz(text, (size_t)(end - text));
		if (!strstr(clause, "--force"))
			strbuf_addf(&out, "%s%s", out.len ? "; " : "", clause);
		free(clause);
	}
	value = json_stringn(out.buf, out.len);
	strbuf_release(&out);
	return value;
}

static void drop_force(json_t *object)
{
	static const char *const lists[] = { "warnings", "next_actions", "next_safe_actions" };
	json_t *error = json_object_get(object, "error"), *value;
	const char *why = json_string_value(json_object_get(error, "message"));
	size_t at;

	if (why)
		json_object_set_new(error, "message", without_force(why));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach(json_object_get(object, lists[i]), at, value)
			if (json_is_string(value))
				json_array_set_new(json_object_get(object, lists[i]), at,
						   without_force(json_string_value(value)));
}

/* `object` is what the command prints, or an error. */
static json_t *tool_result(json_t *object, bool failed)
{
	struct strbuf text = STRBUF_INIT;
	json_t *result;

	json_write(&text, object);
	result = json_pack("{s:[{s:s,s:s}],s:b}", "content", "type", "text", "text", text.buf,
			   "isError", failed);
	/* An error is not what the schema describes. */
	if (!json_object_get(object, "error"))
		json_object_set(result, "structuredContent", object);
	strbuf_release(&text);
	return result;
}

/* Models see the beginning of a long answer: where it is from, the token, how much there is. */
static json_t *begin_answer(const struct mcp_call *call)
{
	json_t *answer = json_object();

	if (call->project.worktree)
		json_object_set_new(answer, "worktree", json_path(call->project.worktree));
	return answer;
}

static json_t *error_result(const struct mcp_call *call, int status, const char *why)
{
	json_t *object = call ? begin_answer(call) : json_object(), *result;

	json_object_set_new(object, "error",
			    json_pack("{s:i,s:o}", "code", status, "message", json_text(why)));
	drop_force(object);
	result = tool_result(object, true);
	json_decref(object);
	return result;
}

json_t *mcp_call_error(const struct mcp_call *call, int err)
{
	return error_result(call,
			    err == CKPT_EUSAGE	   ? STATUS_USAGE
			    : err == CKPT_EREFUSED ? STATUS_REFUSED
						   : STATUS_FATAL,
			    ckpt_error_last());
}

/* `next`: where the rest of it begins; 0: there is none. */
static void add_total(json_t *answer, size_t total, bool in_parts, size_t next)
{
	json_object_set_new(answer, "total", json_integer((json_int_t)total));
	if (in_parts)
		json_object_set_new(answer, "next_cursor",
				    next ? json_sprintf("%zu", next) : json_null());
}

/* False if there are more rows after that. */
static bool cut_array(json_t *array, size_t from, size_t rows)
{
	bool ends = json_array_size(array) <= from + rows;
	json_t *part = json_array();

	for (size_t i = from; i < from + rows && i < json_array_size(array); i++)
		json_array_append(part, json_array_get(array, i));
	json_array_clear(array);
	json_array_extend(array, part);
	json_decref(part);
	return ends;
}

static void take_part(json_t *answer, json_t *object, const struct mcp_call *call)
{
	const struct mcp_tool *tool = call->tool;
	size_t total = tool->list ? json_array_size(json_object_get(object, tool->list)) : 0;
	bool ends = true;
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
		if (tool->rows && json_is_array(value) &&
		    !cut_array(value, call->args.cursor, tool->rows))
			ends = false;
	if (tool->list && !json_object_get(object, "error"))
		add_total(answer, total, tool->rows, ends ? 0 : call->args.cursor + tool->rows);
}

static json_t *make_answer(const struct mcp_call *call, const struct mcp_server *server, json_t *result)
{
	return mcp_message_answer(call->id, mcp_dispatch_result(server, result, call->modern));
}

static json_t *fail_resource(const struct mcp_call *call, int code, const char *why)
{
	if (code == MCP_NO_RESOURCE && call->modern)
		code = MCP_BAD_PARAMS;
	return mcp_message_refusal(call->id, code, why,
				   json_pack("{s:o}", "uri", json_text(call->uri)));
}

/* An error of our own. */
static json_t *fail_call(const struct mcp_call *call, const struct mcp_server *server, int err)
{
	if (!call->tool)
		return fail_resource(call, err == CKPT_ENOTFOUND ? MCP_NO_RESOURCE : MCP_INTERNAL,
				     ckpt_error_last());
	return make_answer(call, server, mcp_call_error(call, err));
}

/* ---- starting ---- */

static bool prints_bytes(const struct mcp_tool *tool)
{
	return !strcmp(tool->answer, "bytes");
}

/* What is restored is undone by the connection that asked for it, whatever clients call themselves. */
static int run_tool(struct mcp_call *call, const struct mcp_server *server)
{
	bool restores = call->tool->effect == MCP_DESTROYS || !call->tool->command;
	char *asker = xstrfmt("%s/%s", call->source, server->connection);
	struct strlist words = STRLIST_INIT;
	int err;

	if (!prints_bytes(call->tool))
		strlist_add(&words, "--json");
	mcp_args_command(&words, call->tool, &call->args, restores ? asker : call->source,
			 call->planning);
	free(asker);
	release_child(&call->child);
	err = start_child(&call->child, &words, call->project.fd, MCP_OUTPUT_MAX);
	strlist_release(&words);
	return err;
}

static int start_tool(struct mcp_call *call, struct mcp_server *server)
{
	int err = mcp_project_find(&call->project, &server->roots, call->args.directory);

	call->planning = call->tool->effect == MCP_DESTROYS;
	if (!err && call->planning && !mcp_tokens_redeem(&server->tokens, call->expected, call->args.token))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the token is not valid, or was used before: call "
				     "checkpoint_preview_restore again, and look at the plan");
	return err ? err : run_tool(call, server);
}

static int start_resource(struct mcp_call *call, struct mcp_server *server)
{
	struct strlist words = STRLIST_INIT;
	int err = mcp_resources_command(&words, call->uri);

	if (!err)
		err = mcp_project_find(&call->project, &server->roots, call->args.directory);
	if (!err)
		err = start_child(&call->child, &words, call->project.fd, MCP_RESOURCE_MAX);
	strlist_release(&words);
	return err;
}

json_t *mcp_call_start(struct mcp_call *call, struct mcp_server *server)
{
	int err = call->tool ? start_tool(call, server) : start_resource(call, server);

	return err ? fail_call(call, server, err) : NULL;
}

/* ---- when a command has ended ---- */

/* What is asked for, where, and what would be done: another of these is another plan. */
static void digest_plan(char out[MCP_DIGEST_SIZE], const struct mcp_call *call)
{
	struct strlist words = STRLIST_INIT;

	mcp_args_command(&words, call->tool, &call->args, "", true);
	mcp_tokens_digest(out, &words, call->project.worktree ? call->project.worktree : "",
			  &call->child.output);
	strlist_release(&words);
}

static const char *state_before(const json_t *object)
{
	const char *hash = json_string_value(json_object_get(
		json_object_get(object, "verification"), "pre_state_hash"));

	return hash ? hash : "";
}

/* The plan is still the one that was shown: carry it out. */
static json_t *go_on(struct mcp_call *call, struct mcp_server *server, const json_t *object)
{
	char digest[MCP_DIGEST_SIZE];
	int err = 0;

	digest_plan(digest, call);
	if (strcmp(digest, call->expected) != 0)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the token stands for another plan: files or checkpoints "
				     "changed since, or the arguments are not the same; call "
				     "checkpoint_preview_restore again, and look at the plan");
	if (!err) {
		call->planning = false;
		strbuf_addstr(&call->before, state_before(object));
		err = run_tool(call, server);
	}
	return err ? fail_call(call, server, err) : NULL;
}

static int add_token(json_t *answer, struct mcp_call *call, struct mcp_server *server)
{
	char digest[MCP_DIGEST_SIZE], token[MCP_TOKEN_SIZE];
	int err;

	digest_plan(digest, call);
	err = mcp_tokens_issue(&server->tokens, token, digest);
	if (!err)
		json_object_set_new(answer, "token", json_string(token));
	return err;
}

/* Somebody was quicker than us, and nothing is lost: it is in the safety checkpoint. */
static void warn_of_change(const struct mcp_call *call, json_t *object)
{
	if (call->before.len && strcmp(call->before.buf, state_before(object)) != 0)
		json_array_append_new(json_object_get(object, "warnings"),
				      json_string("files changed between the plan and the restore; "
						  "the safety checkpoint has them"));
}

static json_t *no_answer(const struct mcp_call *call, int status, const char *said)
{
	char *why = xstrfmt("the command ended with status %d%s%s%s", status,
			    call->child.overflowed ? ", and its answer is too large" : "",
			    *said ? ": " : "", said);
	json_t *result = error_result(call, status ? status : STATUS_FATAL, why);

	free(why);
	return result;
}

/* A part that ends with a character. */
static size_t cut_text(const struct strbuf *text, size_t from, size_t max)
{
	size_t end = from + max < text->len ? from + max : text->len;

	for (int i = 0; i < 3 && end < text->len && ((unsigned char)text->buf[end] & 0xc0) == 0x80; i++)
		end--;
	return end;
}

/* Of a patch, what cannot be shown does not matter; a file is given as it is, or not as a text. */
static json_t *bytes_ended(struct mcp_call *call, struct mcp_server *server, int status, const char *said)
{
	struct strbuf whole = STRBUF_INIT, part = STRBUF_INIT;
	json_t *answer, *contents, *result;
	size_t from, end;

	if (status || call->child.overflowed)
		return make_answer(call, server,
				   status ? error_result(call, status, said) : no_answer(call, status, said));
	if (call->tool->option)
		utf8_sanitize(&whole, call->child.output.buf, call->child.output.len);
	else
		strbuf_add(&whole, call->child.output.buf, call->child.output.len);
	from = call->args.cursor < whole.len ? call->args.cursor : whole.len;
	end = cut_text(&whole, from, BYTES_MAX);
	strbuf_add(&part, whole.buf + from, end - from);
	contents = mcp_resources_contents("", &part);
	answer = begin_answer(call);
	add_total(answer, whole.len, true, end < whole.len ? end : 0);
	if (json_object_get(contents, "text"))
		json_object_set(answer, "text", json_object_get(contents, "text"));
	else
		json_object_set(answer, "base64", json_object_get(contents, "blob"));
	result = make_answer(call, server, tool_result(answer, false));
	json_decref(answer);
	json_decref(contents);
	strbuf_release(&whole);
	strbuf_release(&part);
	return result;
}

static json_t *tool_ended(struct mcp_call *call, struct mcp_server *server, json_t *object,
			  int status, const char *said)
{
	bool done = status == STATUS_DONE || status == STATUS_INCOMPLETE;
	json_t *answer, *message;
	int err = 0;

	if (prints_bytes(call->tool))
		return bytes_ended(call, server, status, said);
	if (call->child.overflowed || !json_is_object(object))
		return make_answer(call, server, no_answer(call, status, said));
	if (call->planning && done && !json_object_get(object, "error"))
		return go_on(call, server, object);
	answer = begin_answer(call);
	if (!call->tool->command && done)
		err = add_token(answer, call, server);
	take_part(answer, object, call);
	warn_of_change(call, object);
	json_object_update(answer, object);
	drop_force(answer);
	message = err ? fail_call(call, server, err) : make_answer(call, server, tool_result(answer, !done));
	json_decref(answer);
	return message;
}

static json_t *resource_ended(const struct mcp_call *call, const struct mcp_server *server,
			      int status, const char *said)
{
	json_t *result;

	if (call->child.overflowed)
		return fail_resource(call, MCP_INTERNAL, "the file is too large for this protocol");
	if (status != STATUS_DONE)
		return fail_resource(call,
				     status == STATUS_FATAL || status == STATUS_USAGE ?
					     MCP_NO_RESOURCE :
					     MCP_INTERNAL,
				     *said ? said : "the resource cannot be read");
	result = json_pack("{s:[o]}", "contents",
			   mcp_resources_contents(call->uri, &call->child.output));
	if (call->modern)
		json_object_update_new(result, json_pack("{s:i,s:s}", "ttlMs", 0, "cacheScope",
							 "private"));
	return make_answer(call, server, result);
}

json_t *mcp_call_ended(struct mcp_call *call, struct mcp_server *server, int status,
		       const char *said)
{
	json_t *object, *message;

	if (!call->tool)
		return resource_ended(call, server, status, said);
	object = json_loadb(call->child.output.buf, call->child.output.len, 0, NULL);
	message = tool_ended(call, server, object, status, said);
	json_decref(object);
	return message;
}

bool mcp_call_cancel(struct mcp_call *call)
{
	bool harmless = !call->tool || call->planning || call->tool->effect != MCP_DESTROYS;

	call->cancelled = harmless;
	return harmless;
}
