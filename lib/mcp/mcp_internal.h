/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_INTERNAL_H
#define CKPT_MCP_MCP_INTERNAL_H

#include "base/base.h"

/** Messages of JSON-RPC as the protocol has them. */

enum {
	MCP_OUTPUT_MAX = 64 << 20, /**< bytes that a command prints; no plan that anybody reads is larger */
	MCP_LINE_MAX = 4 << 20, /**< bytes of a message; more is refused unread */
	MCP_DEPTH_MAX = 32,	/**< of objects and arrays in one another */
};

/** The id of our only request. */
#define MCP_ASKS_PLACE "where"

/** What a refusal says, beside a sentence. */
enum mcp_code {
	MCP_NOT_JSON = -32700,
	MCP_BAD_REQUEST = -32600,
	MCP_NO_METHOD = -32601,
	MCP_BAD_PARAMS = -32602,
	MCP_INTERNAL = -32603,
	MCP_NO_RESOURCE = -32002, /**< until 2025; since then MCP_BAD_PARAMS */
	MCP_BAD_VERSION = -32022,
};

/** {"jsonrpc","id","result"}; takes the result over. */
json_t *mcp_message_answer(json_t *id, json_t *result);

/** {"jsonrpc","id","error"}; without an id that is null. `data` may be NULL, and is taken over. */
json_t *mcp_message_refusal(json_t *id, int code, const char *why, json_t *data);

/** A command of this program that runs while the server goes on listening. */
struct mcp_child {
	pid_t pid;     /**< 0: none */
	int out, said; /**< what it prints; what it says on stderr, a file in memory */
	struct strbuf output;
	size_t limit;
	bool overflowed; /**< it printed more than `limit`: the rest is lost */
};

#define MCP_CHILD_INIT                           \
	{                                        \
		0, -1, -1, STRBUF_INIT, 0, false \
	}

/** Take what is there to read, when poll(2) says so; true if that was all. */
bool mcp_child_read(struct mcp_child *child);

/** Tell it to stop. */
void mcp_child_stop(struct mcp_child *child);

/** Wait for its end: the exit status. The last line that it said is in `said`. */
int mcp_child_end(struct mcp_child *child, struct strbuf *said);

/** A project: its top directory, held open, and where that is. */
struct mcp_project {
	int fd;
	char *worktree; /**< NULL: not known yet */
};

#define MCP_PROJECT_INIT \
	{                \
		-1, NULL \
	}

void mcp_project_release(struct mcp_project *project);

/** Which project a call is about, and whether it may be. */
struct mcp_roots {
	int *fds; /**< directories that may be named */
	size_t nr;
	/** Where a call without a directory goes. It is looked for once: no configuration leads on. */
	struct mcp_project home;
};

#define MCP_ROOTS_INIT                    \
	{                                 \
		NULL, 0, MCP_PROJECT_INIT \
	}

/** `given` are directories that were named at the start; none: the project around this one. */
int mcp_roots_init(struct mcp_roots *out, const struct strlist *given);
void mcp_roots_release(struct mcp_roots *roots);

/**
 * The project around a directory (NULL: the usual one). All links are resolved, and what they lead
 * to, as well as the project's top, must be in one of the roots: CKPT_EREFUSED if it is not.
 */
int mcp_project_find(struct mcp_project *out, struct mcp_roots *roots, const char *directory);

/** Whether a client that says it is there means another worktree than usual, and may. */
bool mcp_project_is_other(const struct mcp_roots *roots, const char *directory);

/**
 * What previews returned: a token stands for one plan, and for one call. They are in memory only,
 * so that those of another server, or of an earlier one, mean nothing.
 */
enum {
	MCP_TOKEN_SIZE = 33,  /**< 128 random bits as hexadecimal digits, and a NUL */
	MCP_DIGEST_SIZE = 65, /**< SHA-256, the same */
	MCP_TOKENS_MAX = 64,  /**< the oldest goes first */
};

struct mcp_tokens {
	struct mcp_token {
		char text[MCP_TOKEN_SIZE], digest[MCP_DIGEST_SIZE];
	} items[MCP_TOKENS_MAX];
	size_t nr;
};

/** Of what is asked for, and where, and of the plan as the command printed it. */
void mcp_tokens_digest(char out[MCP_DIGEST_SIZE], const struct strlist *command, const char *where,
		       const struct strbuf *plan);

/** A new one for that digest. */
int mcp_tokens_issue(struct mcp_tokens *tokens, char out[MCP_TOKEN_SIZE], const char *digest);

/** Take one back, whatever becomes of the call; false if there is none of that text. */
bool mcp_tokens_redeem(struct mcp_tokens *tokens, char out[MCP_DIGEST_SIZE], const char *text);

/** The tools: what each takes and answers, and the command line that it stands for. */

enum mcp_arg {
	MCP_REASON = 1 << 0,
	MCP_CHECKPOINT = 1 << 1,
	MCP_REVERT = 1 << 2,
	MCP_UNDO = 1 << 3,
	MCP_PATHS = 1 << 4,
	MCP_PATH = 1 << 5,
	MCP_TOKEN = 1 << 6,
	MCP_DIRECTORY = 1 << 7,
	MCP_SESSION = 1 << 8,
	MCP_CURSOR = 1 << 9,
};

/** What a tool does with the files, from which its four annotations follow. */
enum mcp_effect {
	MCP_READS,
	MCP_ADDS,     /**< to the store; calling it again changes nothing */
	MCP_DESTROYS, /**< may overwrite or remove files: needs a token */
};

struct mcp_tool {
	const char *name, *title, *about;
	const char *command; /**< NULL: a preview of the one that its arguments mean */
	const char *option;  /**< of that command, or NULL */
	enum mcp_effect effect;
	unsigned takes, needs; /**< enum mcp_arg; all take MCP_DIRECTORY */
	const char *answer;    /**< for mcp_schema(); "bytes": the command prints no object */
	const char *list;      /**< in the object, whose length is told first, or NULL */
	size_t rows;	       /**< of arrays in it that are given at a time; 0: all */
};

/** NULL if there is none of that name. */
const struct mcp_tool *mcp_tools_find(const char *name);

/** The array for `tools/list`. */
json_t *mcp_tools_list(void);

/** Arguments of a call. All zero, or MCP_ARGS_INIT, before mcp_args_release(). */
struct mcp_args {
	unsigned given;
	char *reason, *checkpoint, *token, *session, *directory; /**< NULL: not given */
	size_t cursor;						 /**< what to begin with */
	struct strlist paths;					 /**< `path` is here, too */
};

#define MCP_ARGS_INIT                    \
	{                                \
		.paths = STRLIST_INIT    \
	}

/**
 * Check the arguments of a call (NULL: none). What `revert` names is in `checkpoint`. CKPT_EUSAGE
 * with a sentence for the model.
 */
int mcp_args_read(struct mcp_args *out, const struct mcp_tool *tool, const json_t *given);
void mcp_args_release(struct mcp_args *args);

/** Whether a text can be the name of a checkpoint on a command line. */
bool mcp_args_is_name(const char *text);

/**
 * The command line without the program. `plan`: of what a destructive tool would do, the plan
 * alone. `source` is who asks.
 */
void mcp_args_command(struct strlist *out, const struct mcp_tool *tool, const struct mcp_args *args,
		      const char *source, bool plan);

/**
 * JSON Schema from a short notation, so that what git-checkpoint-json(5) says about an answer fits
 * on a few lines:
 *
 *   {id:s step:i? files:[{file:s why:s}] captures-:[x] ...}
 *
 * "s" is a string, "i" an integer, "n" a number, "b" a boolean, "x" anything; "{...}" an object,
 * which may have more members than those named, "[...]" an array. "?" after it: it may also be
 * null. "-" before the colon: the member may be missing.
 */
json_t *mcp_schema_parse(const char *notation);

/** What the tools answer, by name: "save", "list", "preview" and so on. */
json_t *mcp_schema(const char *name);

/** What can be read without a tool: the list of checkpoints, and each file in them. */

enum { MCP_RESOURCE_MAX = 8 << 20 /**< bytes of a file */ };

/** The arrays for `resources/list` and `resources/templates/list`. */
json_t *mcp_resources_list(void);
json_t *mcp_resources_templates(void);

/** The path of a "file:" address, appended; false if it has none. */
bool mcp_resources_path(struct strbuf *out, const char *uri);

/** The command that prints a resource; CKPT_ENOTFOUND if there is none with such an address. */
int mcp_resources_command(struct strlist *out, const char *uri);

/** {"uri","mimeType","text"}, or "blob" for what is not text. */
json_t *mcp_resources_contents(const char *uri, const struct strbuf *bytes);

/** The array for `prompts/list`, and what `prompts/get` answers: CKPT_ENOTFOUND, CKPT_EUSAGE. */
json_t *mcp_prompts_list(void);
int mcp_prompts_get(json_t **out, const char *name, const json_t *arguments);

/**
 * What a server knows, and the calls that wait for a command. The first of these runs, one at a
 * time: they would wait for each other's lock anyway, and stay in the order of the client.
 */
struct mcp_server {
	const char *version;
	struct mcp_roots roots;
	struct mcp_tokens tokens;
	char connection[9]; /**< who asks for a restore, which no client can choose */
	bool tells_place;   /**< the client answers when it is asked where it is */
	bool initialized;   /**< and by whom: */
	char *client;
	struct mcp_call *first;
	size_t waiting;
	void (*send)(struct mcp_server *server, const json_t *message);
	void *payload; /**< for send() */
};

/** A tool that was called, or a resource that is to be read. */
struct mcp_call {
	struct mcp_call *next;
	json_t *id;
	json_t *progress;	     /**< the token for notifications, or NULL */
	unsigned reports;	     /**< how many were sent */
	double asked_until;	     /**< the client was asked where it is, and has that long; 0: not yet */
	bool placed;		     /**< it has answered */
	bool modern;		     /**< of revision 2026 */
	bool planning;		     /**< a destructive tool: its plan is made again first */
	bool cancelled;		     /**< nobody waits for the answer */
	const struct mcp_tool *tool; /**< NULL: a resource */
	struct mcp_args args;
	char *uri;
	char *source;			/**< who asks */
	char expected[MCP_DIGEST_SIZE]; /**< of the plan that the token stands for */
	struct strbuf before;		/**< the hash of the state that the plan is for */
	struct mcp_project project;
	struct mcp_child child;
};

/* ---- mcp_server.c ---- */

/** Do what a line asks for: answer it, or add a call. If it was too long this is its outline. */
void mcp_dispatch(struct mcp_server *server, const char *line, size_t len, bool too_long);

/** Complete a result as the revision of its request wants it. */
json_t *mcp_dispatch_result(const struct mcp_server *server, json_t *result, bool modern);

/** Drop the first call. */
void mcp_dispatch_done(struct mcp_server *server);
void mcp_server_release(struct mcp_server *server);

/* ---- mcp_call.c ---- */

/** Start what it needs. NULL: its child runs. Otherwise the message that ends it. */
json_t *mcp_call_start(struct mcp_call *call, struct mcp_server *server);

/** Its child has ended with `status`, after it said something on stderr; as above. */
json_t *mcp_call_ended(struct mcp_call *call, struct mcp_server *server, int status,
		       const char *said);

/**
 * The result of a tool that was refused: the sentence is that of ckpt_error_last(). Without a call
 * it was not even begun.
 */
json_t *mcp_call_error(const struct mcp_call *call, int err);

/** The client does not want it any more. True if it may be stopped: it changes no files yet. */
bool mcp_call_cancel(struct mcp_call *call);
void mcp_call_free(struct mcp_call *call);

#endif
