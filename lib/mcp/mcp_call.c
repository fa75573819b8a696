/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#include "session/session.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>

/* ---- in which project a call is, and whether it may ---- */

void mcp_roots_release(struct mcp_roots *roots)
{
	strlist_release(&roots->dirs);
	free(roots->home);
	*roots = (struct mcp_roots)MCP_ROOTS_INIT;
}

static void release_project(struct mcp_project *project)
{
	fs_close(project->fd);
	free(project->worktree);
	*project = (struct mcp_project)MCP_PROJECT_INIT;
}

static bool is_allowed(const struct mcp_roots *roots, const char *path)
{
	for (size_t i = 0; i < roots->dirs.nr; i++)
		if (path_below(path, roots->dirs.items[i]))
			return true;
	return false;
}

/* The root of the project around the current directory. */
static int find_worktree(char **out)
{
	struct session session = { 0 };
	int err = session_open(&session, SESSION_LOOK | SESSION_NO_STORE);

	if (err)
		return err;
	*out = xstrdup(session.worktree);
	session_close(&session);
	return 0;
}

static int add_root(struct mcp_roots *out, const char *typed)
{
	char *real = path_real(typed);

	if (!real)
		return ckpt_error_errno("unable to use '%s' as a root", typed);
	if (!fs_is_dir(real)) {
		free(real);
		return ckpt_error_set(CKPT_ERROR, "'%s' is not a directory", typed);
	}
	strlist_take(&out->dirs, real);
	return 0;
}

int mcp_roots_init(struct mcp_roots *out, const struct strlist *given)
{
	char *here = path_real("."), *worktree = NULL;
	int err = here ? 0 : ckpt_error_errno("unable to find the current directory");

	for (size_t i = 0; i < given->nr && !err; i++)
		err = add_root(out, given->items[i]);
	if (!err && !given->nr) {
		err = find_worktree(&worktree);
		if (!err)
			strlist_take(&out->dirs, worktree);
	}
	if (!err)
		out->home = xstrdup(is_allowed(out, here) ? here : out->dirs.items[0]);
	free(here);
	return err;
}

/* Where an open directory is, whatever its path leads to by now. */
static char *path_of(int fd)
{
	char *link = xstrfmt("/proc/self/fd/%d", fd), *path = path_real(link);

	free(link);
	return path;
}

static int open_allowed(int *out, const struct mcp_roots *roots, const char *directory)
{
	char *real;
	int err = 0;

	*out = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*out < 0)
		return ckpt_error_errno("unable to open the directory '%s'", directory);
	real = path_of(*out);
	if (!real)
		err = ckpt_error_errno("unable to find out where '%s' is", directory);
	else if (!is_allowed(roots, real))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' is outside the directories that this server may use; "
				     "'git checkpoint mcp --root <dir>' allows more",
				     directory);
	free(real);
	return err;
}

/* A descriptor of the current directory brings us back there. */
static int look_from(char **worktree, int dir)
{
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (fchdir(dir) < 0)
		err = ckpt_error_errno("unable to go to the directory");
	else
		err = find_worktree(worktree);
	if (here >= 0 && fchdir(here) < 0 && !err)
		err = ckpt_error_errno("unable to go back");
	fs_close(here);
	return err;
}

/*
 * The project around a directory (NULL: the usual one). All links are resolved, and what they lead
 * to, as well as the project's root, must be in one of the roots: CKPT_EREFUSED if it is not.
 */
static int find_project(struct mcp_project *out, const struct mcp_roots *roots, const char *directory)
{
	int dir = -1, err = open_allowed(&dir, roots, directory ? directory : roots->home);

	if (!err)
		err = look_from(&out->worktree, dir);
	if (!err)
		err = open_allowed(&out->fd, roots, out->worktree);
	fs_close(dir);
	return err;
}

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
	char **argv = xcalloc(words->nr + 2, sizeof(*argv)), **environment;
	int ends[2] = { -1, -1 }, err = 0;

	/* Paths are names, not patterns. */
	environment = env_given_for_directory("GIT_LITERAL_PATHSPECS=1");
	argv[0] = (char *)"git-checkpoint";
	memcpy(argv + 1, words->items, words->nr * sizeof(*argv));
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
 * Start it in the directory `dir`; the words after the program's name. It cannot ask anybody, and
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

/* No plan of a repository that somebody works in is larger. */
enum { OUTPUT_MAX = 64 << 20 };

/* Exit statuses of commands; git-checkpoint(1) has all of them. */
enum { STATUS_DONE = 0, STATUS_INCOMPLETE = 3, STATUS_REFUSED = 5, STATUS_FATAL = 128, STATUS_USAGE = 129 };

void mcp_call_free(struct mcp_call *call)
{
	json_decref(call->id);
	json_decref(call->progress);
	mcp_args_release(&call->args);
	release_project(&call->project);
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

/* `object` is what the command prints. */
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

static json_t *error_result(int status, const char *why)
{
	json_t *object = json_pack("{s:{s:i,s:o}}", "error", "code", status, "message",
				   json_text(why));
	json_t *result = tool_result(object, true);

	json_decref(object);
	return result;
}

json_t *mcp_call_error(int err)
{
	return error_result(err == CKPT_EUSAGE	   ? STATUS_USAGE
			    : err == CKPT_EREFUSED ? STATUS_REFUSED
						   : STATUS_FATAL,
			    ckpt_error_last());
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
	return make_answer(call, server, mcp_call_error(err));
}

/* ---- starting ---- */

static int run_tool(struct mcp_call *call)
{
	struct strlist words = STRLIST_INIT;
	int err;

	strlist_add(&words, "--json");
	mcp_args_command(&words, call->tool, &call->args, call->source, call->planning);
	release_child(&call->child);
	err = start_child(&call->child, &words, call->project.fd, OUTPUT_MAX);
	strlist_release(&words);
	return err;
}

static int start_tool(struct mcp_call *call, struct mcp_server *server)
{
	int err = 0;

	call->planning = call->tool->effect == MCP_DESTROYS;
	if (call->planning && !mcp_tokens_redeem(&server->tokens, call->expected, call->args.token))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the token is not valid, or was used before: call "
				     "checkpoint_preview_restore again, and look at the plan");
	if (!err)
		err = find_project(&call->project, &server->roots, call->args.directory);
	return err ? err : run_tool(call);
}

static int start_resource(struct mcp_call *call, const struct mcp_server *server)
{
	struct strlist words = STRLIST_INIT;
	int err = mcp_resources_command(&words, call->uri);

	if (!err)
		err = find_project(&call->project, &server->roots, NULL);
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
		err = run_tool(call);
	}
	return err ? fail_call(call, server, err) : NULL;
}

static int add_token(struct mcp_call *call, struct mcp_server *server, json_t *object)
{
	char digest[MCP_DIGEST_SIZE], token[MCP_TOKEN_SIZE];
	int err;

	digest_plan(digest, call);
	err = mcp_tokens_issue(&server->tokens, token, digest);
	if (!err)
		json_object_set_new(object, "token", json_string(token));
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
	json_t *result = error_result(status ? status : STATUS_FATAL, why);

	free(why);
	return result;
}

static json_t *tool_ended(struct mcp_call *call, struct mcp_server *server, json_t *object,
			  int status, const char *said)
{
	bool done = status == STATUS_DONE || status == STATUS_INCOMPLETE;
	int err = 0;

	if (call->child.overflowed || !json_is_object(object))
		return make_answer(call, server, no_answer(call, status, said));
	if (call->planning && done && !json_object_get(object, "error"))
		return go_on(call, server, object);
	if (call->tool->action == MCP_DO_PREVIEW && done)
		err = add_token(call, server, object);
	warn_of_change(call, object);
	return err ? fail_call(call, server, err) : make_answer(call, server, tool_result(object, !done));
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
