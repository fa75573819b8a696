/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

/* ---- what tools answer ---- */

/* As git-checkpoint-json(5) has them. */
#define CHECKPOINT                                                                                 \
	"id:s commit:s type:s created_at:s reason:s title:s source:s step:i? pinned:b imported:b " \
	"name:s? names:[s] "                                                                       \
	"automatic:b safety_for:s? session:s? branch:s? head:s? "                                  \
	"agent:{name:s session:s? turn:i? turn_id:s? tool:s? tool_call:s? sub_agent:s? "           \
	"prompt:s?}? scope:{files:[s] state_keys:[s]} restore_command:s expiry:s?"
#define LISTED CHECKPOINT " hash:s hash_version:i files_changed:i added:i? deleted:i?"
#define CHANGE "file:s status:s from-:s? similarity-:i?"
#define CHANGES "[{" CHANGE "}]"
#define SKIPPED "[{file:s why:s}]"
/* What every answer begins with, and one that is given in parts. */
#define PLACE "worktree:s "
#define PARTS PLACE "total:i next_cursor:s? "
#define RESTORED                                                                                   \
	"total:i rolled_back:b restored_to:{checkpoint_id:s checkpoint_type:s timestamp:s} "               \
	"changes_reverted:[{file:s operation:s summary:s}] conflicts-:[{file:s why:s}] "           \
	"captures-:[{name:s status:s}] "                                                           \
	"verification:{pre_state_hash:s post_state_hash:s? checkpoint_hash:s match:b? "            \
	"differing-:[s]} git-:x safety_checkpoint:{id:s commit:s}? warnings:[s] next_actions:[s] " \
	"confidence:n evidence_anchors:[s] assumptions:[s] verify_command-:{command:s status:i}"

static const struct {
	const char *name, *notation;
} schemas[] = {
	{ "save", "{" PLACE "checkpoint_created:b checkpoint:{" CHECKPOINT "}? "
		  "pre_mutation_state:{hash:s? summary:s}? captures-:[{name:s type:s bytes:i}] "
		  "stats:{files:i bytes:i changed:i new_bytes:i seconds:n} skipped:" SKIPPED
		  " next_safe_actions:[s] confidence:n evidence_anchors:[s] assumptions:[s] "
		  "warnings:[s]}" },
	{ "list", "{" PARTS "checkpoints:[{" LISTED "}]}" },
	{ "history", "{" PARTS "checkpoints:[{" LISTED " changes:[{" CHANGE
		     " added:i? removed:i? old_mode:s? new_mode:s?}]}]}" },
	{ "show", "{" PARTS LISTED " changed_files:" CHANGES " skipped:" SKIPPED " confidence:n state:{} "
		  "captures-:[{name:s type:s bytes:i}] project:{head:s? branch:s? operation:s? "
		  "progress:s? index:{staged:i unmerged:i intent_to_add:i}? refs:{}? hash:s?} "
		  "warnings:[s]}" },
	{ "diff", "{" PARTS "from:s to:s? changes:" CHANGES "}" },
	{ "status", "{" PLACE "safe:b store:s? newest:{" LISTED "}? compared_with:s? "
		    "changes:{added:i modified:i deleted:i} checkpoints:i disk:{bytes:i budget:i?} "
		    "interrupted_restore:{}? hooks:{}? warnings:[s]}" },
	{ "turns", "{" PARTS "session:s? agent:s last_at:s turns:[{turn:i turn_id:s? prompt:s? "
		   "began_at:s begin:s? end:s? open:b tools:i files:i? added:i? deleted:i? "
		   "checkpoints:[s]}] checkpoints:[{" LISTED "}] "
		   "sessions:[{session:s? agent:s last_at:s turns:i}]}" },
	{ "bytes", "{" PARTS "text-:s base64-:s}" },
	{ "preview", "{" PLACE "token:s " RESTORED "}" },
	{ "restore", "{" PLACE RESTORED "}" },
	{ "pin", "{" PLACE "checkpoint:{" LISTED "}}" },
};

static json_t *parse_value(const char **at);

static void skip_blanks(const char **at)
{
	while (**at == ' ')
		++*at;
}

/* "id:s step-:i?" up to the closing bracket */
static json_t *parse_members(const char **at)
{
	json_t *members = json_object(), *needed = json_array();

	for (skip_blanks(at); **at && **at != '}'; skip_blanks(at)) {
		size_t len = strcspn(*at, ":");
		bool optional = len && (*at)[len - 1] == '-';
		char *name = xmemdupz(*at, len - optional);

		*at += len + 1;
		json_object_set_new(members, name, parse_value(at));
		if (!optional)
			json_array_append_new(needed, json_string(name));
		free(name);
	}
	*at += **at == '}';
	return json_pack("{s:s,s:o,s:o}", "type", "object", "properties", members, "required",
			 needed);
}

static json_t *parse_array(const char **at)
{
	json_t *items = parse_value(at);

	*at += **at == ']';
	return json_pack("{s:s,s:o}", "type", "array", "items", items);
}

static json_t *parse_value(const char **at)
{
	static const struct {
		char letter;
		const char *type;
	} types[] = {
		{ 's', "string" }, { 'i', "integer" }, { 'n', "number" }, { 'b', "boolean" }
	};
	char letter = **at;
	json_t *value = NULL;

	++*at;
	if (letter == '{')
		value = parse_members(at);
	else if (letter == '[')
		value = parse_array(at);
	for (size_t i = 0; i < ARRAY_SIZE(types) && !value; i++)
		if (types[i].letter == letter)
			value = json_pack("{s:s}", "type", types[i].type);
	if (!value)
		value = json_object();
	if (**at == '?') {
		++*at;
		json_object_set_new(value, "type",
				    json_pack("[O,s]", json_object_get(value, "type"), "null"));
	}
	return value;
}

json_t *mcp_schema_parse(const char *notation)
{
	return parse_value(&notation);
}

json_t *mcp_schema(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++)
		if (!strcmp(schemas[i].name, name))
			return mcp_schema_parse(schemas[i].notation);
	return NULL;
}

/* ---- the tools ---- */

#define NAMES "an id, a prefix of one, a given name, '@' for the newest, '@~2', or 'step:3'"

static const struct mcp_tool tools[] = {
	{ "checkpoint_save", "Save a checkpoint",
	  "Save the state of all files of the project, so that it can be brought back exactly. Call "
	  "it before changes that may have to be taken back. If nothing changed since the newest "
	  "checkpoint, that one is named and none is taken. The project's own git is not touched.",
	  "save", NULL, MCP_ADDS, MCP_REASON | MCP_PATHS, 0, "save" },
	{ "checkpoint_list", "List checkpoints",
	  "List the checkpoints of the project, newest first, 20 at a time.",
	  "list", NULL, MCP_READS, MCP_CURSOR, 0, "list", "checkpoints", 20 },
	{ "checkpoint_show", "Show a checkpoint",
	  "Show one checkpoint: when and why it was taken, and the files that changed since the one "
	  "before it.",
	  "show", NULL, MCP_READS, MCP_CHECKPOINT | MCP_CURSOR, MCP_CHECKPOINT, "show",
	  "changed_files", 200 },
	{ "checkpoint_diff", "Compare with a checkpoint",
	  "Name the files that differ between a checkpoint (the newest if none is named) and the "
	  "project as it is now: A was added since, M modified, D deleted.",
	  "diff", NULL, MCP_READS, MCP_CHECKPOINT | MCP_PATHS | MCP_CURSOR, 0, "diff", "changes", 200 },
	{ "checkpoint_patch", "Changes since a checkpoint, line by line",
	  "Show as a patch what changed in files between a checkpoint (the newest if none is named) "
	  "and now.",
	  "diff", "--patch", MCP_READS, MCP_CHECKPOINT | MCP_PATHS | MCP_CURSOR, 0, "bytes" },
	{ "checkpoint_file", "Read a file of a checkpoint",
	  "Read a file as it was in a checkpoint. What is not UTF-8 is given as base64.",
	  "show", NULL, MCP_READS, MCP_CHECKPOINT | MCP_PATH | MCP_CURSOR, MCP_CHECKPOINT | MCP_PATH,
	  "bytes" },
	{ "checkpoint_status", "Is everything saved?",
	  "Tell whether a checkpoint has all files as they are now, and what changed since the "
	  "newest.",
	  "status", NULL, MCP_READS, 0, 0, "status" },
	{ "checkpoint_file_history", "History of a file",
	  "List the checkpoints in which one file or directory changed, newest first, 20 at a time.",
	  "list", NULL, MCP_READS, MCP_PATH | MCP_CURSOR, MCP_PATH, "history", "checkpoints", 20 },
	{ "checkpoint_turns", "What was done, prompt by prompt",
	  "List the turns of a session of a coding agent, newest first: what was asked, how many "
	  "files changed, and the checkpoints before and after.",
	  "list", NULL, MCP_READS, MCP_SESSION | MCP_CURSOR, 0, "turns", "turns", 20 },
	{ "checkpoint_preview_restore", "Preview a restore, revert or undo",
	  "Show what a restore would do to each file, and change nothing. Name one of 'checkpoint' "
	  "(go back to that state), 'revert' (take back only what changed in that checkpoint) and "
	  "'undo' (take back the last restore). The answer has a token, which checkpoint_restore, "
	  "checkpoint_revert and checkpoint_undo need; it is good for one call, and only as long as "
	  "the plan is the same.",
	  NULL, NULL, MCP_READS, MCP_CHECKPOINT | MCP_REVERT | MCP_UNDO | MCP_PATHS, 0, "preview",
	  "changes_reverted" },
	{ "checkpoint_restore", "Restore a checkpoint",
	  "Bring files back to the state of a checkpoint, exactly: files created since are removed. "
	  "The state before is saved first; checkpoint_undo goes back to it. Needs the token of "
	  "checkpoint_preview_restore with the same 'checkpoint' and 'paths'.",
	  "restore", NULL, MCP_DESTROYS, MCP_CHECKPOINT | MCP_PATHS | MCP_TOKEN | MCP_REASON,
	  MCP_CHECKPOINT | MCP_TOKEN, "restore", "changes_reverted" },
	{ "checkpoint_revert", "Revert one checkpoint's changes",
	  "Take back what changed in one checkpoint, or from one to another ('<a>..<b>'), and keep "
	  "what was changed since. Needs the token of checkpoint_preview_restore with the same "
	  "name as 'revert', and the same 'paths'.",
	  "revert", NULL, MCP_DESTROYS, MCP_CHECKPOINT | MCP_PATHS | MCP_TOKEN,
	  MCP_CHECKPOINT | MCP_TOKEN, "restore", "changes_reverted" },
	{ "checkpoint_undo", "Undo the last restore",
	  "Go back to the state before the last restore, revert or undo that this server made. Needs "
	  "the token of checkpoint_preview_restore with 'undo'.",
	  "undo", NULL, MCP_DESTROYS, MCP_TOKEN, MCP_TOKEN, "restore", "changes_reverted" },
	{ "checkpoint_pin", "Keep a checkpoint",
	  "Keep a checkpoint for good: older ones are evicted as new ones are taken, pinned ones are "
	  "not.",
	  "pin", NULL, MCP_ADDS, MCP_CHECKPOINT, MCP_CHECKPOINT, "pin" },
	{ "checkpoint_unpin", "Let a checkpoint go",
	  "No longer keep a checkpoint for good. It is not deleted now, but may be evicted later.",
	  "unpin", NULL, MCP_ADDS, MCP_CHECKPOINT, MCP_CHECKPOINT, "pin" },
};

static const struct {
	enum mcp_arg arg;
	const char *name, *type, *about;
} args[] = {
	{ MCP_REASON, "reason", "string", "why, in a few words; the list of checkpoints shows it" },
	{ MCP_CHECKPOINT, "checkpoint", "string", "the checkpoint: " NAMES },
	{ MCP_REVERT, "revert", "string",
	  "preview taking back what changed in this checkpoint: " NAMES
	  ", or two of these as '<a>..<b>'" },
	{ MCP_UNDO, "undo", "boolean", "true: preview taking back the last restore" },
	{ MCP_PATHS, "paths", "array",
	  "only these files and directories: exact names, from the top of the project or absolute" },
	{ MCP_PATH, "path", "string",
	  "a file or directory: its exact name, from the top of the project or absolute" },
	{ MCP_SESSION, "session", "string", "the id of the session; default: the last one" },
	{ MCP_CURSOR, "cursor", "string",
	  "go on where an answer ended: its 'next_cursor'; the other arguments as before" },
	{ MCP_TOKEN, "token", "string", "the token that checkpoint_preview_restore returned" },
	{ MCP_DIRECTORY, "directory", "string",
	  "an absolute path in another project or worktree that this server may use, such as a "
	  "worktree that was made for a task; default: the project that it was started in" },
};

const struct mcp_tool *mcp_tools_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

static json_t *input_schema(const struct mcp_tool *tool)
{
	json_t *members = json_object(), *needed = json_array(), *schema;

	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		json_t *member;

		if (!((tool->takes | MCP_DIRECTORY) & args[i].arg))
			continue;
		member = json_pack("{s:s,s:s}", "type", args[i].type, "description", args[i].about);
		if (args[i].arg == MCP_PATHS)
			json_object_update_new(member, json_pack("{s:{s:s},s:i}", "items", "type",
								 "string", "minItems", 1));
		json_object_set_new(members, args[i].name, member);
		if (tool->needs & args[i].arg)
			json_array_append_new(needed, json_string(args[i].name));
	}
	schema = json_pack("{s:s,s:o,s:b}", "type", "object", "properties", members,
			   "additionalProperties", 0);
	if (json_array_size(needed))
		json_object_set(schema, "required", needed);
	json_decref(needed);
	return schema;
}

json_t *mcp_tools_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		const struct mcp_tool *tool = &tools[i];
		json_t *hints = json_pack("{s:s,s:b,s:b,s:b,s:b}", "title", tool->title,
					  "readOnlyHint", tool->effect == MCP_READS,
					  "destructiveHint", tool->effect == MCP_DESTROYS,
					  "idempotentHint", tool->effect != MCP_DESTROYS,
					  "openWorldHint", 0);

		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s,s:o,s:o,s:o}", "name", tool->name, "title",
					tool->title, "description", tool->about, "inputSchema",
					input_schema(tool), "outputSchema",
					mcp_schema(tool->answer), "annotations", hints));
	}
	return list;
}

/* ---- the arguments of a call ---- */

void mcp_args_release(struct mcp_args *out)
{
	free(out->reason);
	free(out->checkpoint);
	free(out->token);
	free(out->session);
	free(out->directory);
	strlist_release(&out->paths);
	memset(out, 0, sizeof(*out));
}

bool mcp_args_is_name(const char *text)
{
	return *text && *text != '-';
}

static int take_text(char **out, const char *name, const json_t *value)
{
	if (!json_is_string(value))
		return ckpt_error_set(CKPT_EUSAGE, "argument '%s' is not a string", name);
	if (!*json_string_value(value))
		return ckpt_error_set(CKPT_EUSAGE, "argument '%s' is empty", name);
	*out = xstrdup(json_string_value(value));
	return 0;
}

static int take_name(char **out, const char *name, const json_t *value)
{
	int err = take_text(out, name, value);

	if (!err && !mcp_args_is_name(*out))
		err = ckpt_error_set(CKPT_EUSAGE, "argument '%s': '%s' does not name a checkpoint",
				     name, *out);
	return err;
}

static int take_path(struct strlist *out, const char *name, const json_t *value)
{
	char *path = json_path_value(value);

	if (!path || !*path) {
		free(path);
		return ckpt_error_set(CKPT_EUSAGE, "argument '%s' has %s", name,
				      path ? "an empty path" : "something that is not a path");
	}
	strlist_take(out, path);
	return 0;
}

static int take_paths(struct strlist *out, const char *name, const json_t *value)
{
	int err = 0;

	if (!json_is_array(value))
		return ckpt_error_set(CKPT_EUSAGE, "argument '%s' is not an array", name);
	/* All that is left of a list of files must not become all files. */
	if (!json_array_size(value))
		return ckpt_error_set(CKPT_EUSAGE,
				      "argument '%s' is empty; leave it out to mean all files", name);
	for (size_t i = 0; i < json_array_size(value) && !err; i++)
		err = take_path(out, name, json_array_get(value, i));
	return err;
}

static int take_cursor(size_t *out, const char *name, const json_t *value)
{
	uint64_t at;

	if (!json_is_string(value) || !units_parse_number(&at, json_string_value(value)) ||
	    at > MCP_OUTPUT_MAX)
		return ckpt_error_set(CKPT_EUSAGE, "argument '%s' is not what an answer had as 'next_cursor'",
				      name);
	*out = (size_t)at;
	return 0;
}

static int take_argument(struct mcp_args *out, enum mcp_arg arg, const char *name, const json_t *value)
{
	switch (arg) {
	case MCP_REASON:
		return take_text(&out->reason, name, value);
	case MCP_CHECKPOINT:
	case MCP_REVERT:
		if (out->checkpoint)
			break;
		return take_name(&out->checkpoint, name, value);
	case MCP_UNDO:
		if (!json_is_true(value))
			return ckpt_error_set(CKPT_EUSAGE, "argument 'undo' is not a boolean");
		break;
	case MCP_PATHS:
		return take_paths(&out->paths, name, value);
	case MCP_PATH:
		return take_path(&out->paths, name, value);
	case MCP_SESSION:
		return take_text(&out->session, name, value);
	case MCP_CURSOR:
		return take_cursor(&out->cursor, name, value);
	case MCP_TOKEN:
		return take_text(&out->token, name, value);
	case MCP_DIRECTORY:
		if (json_is_string(value) && *json_string_value(value) != '/')
			return ckpt_error_set(CKPT_EUSAGE,
					      "argument 'directory' is not an absolute path");
		return take_text(&out->directory, name, value);
	}
	return 0;
}

/* What a model should do about it, where that is not obvious. */
static int error_missing(const struct mcp_tool *tool, enum mcp_arg arg, const char *name)
{
	if (arg == MCP_TOKEN)
		return ckpt_error_set(CKPT_EUSAGE,
				      "'%s' needs a token: call checkpoint_preview_restore first, look "
				      "at the plan, and give the token that it returns",
				      tool->name);
	return ckpt_error_set(CKPT_EUSAGE, "'%s' needs the argument '%s'", tool->name, name);
}

static int check_preview(const struct mcp_args *given)
{
	unsigned which = given->given & (MCP_CHECKPOINT | MCP_REVERT | MCP_UNDO);

	if (!which || which & (which - 1))
		return ckpt_error_set(CKPT_EUSAGE, "checkpoint_preview_restore needs exactly one of "
						   "'checkpoint', 'revert' and 'undo'");
	if (which == MCP_UNDO && given->paths.nr)
		return ckpt_error_set(CKPT_EUSAGE, "'undo' cannot be limited to paths");
	return 0;
}

int mcp_args_read(struct mcp_args *out, const struct mcp_tool *tool, const json_t *given)
{
	const char *name;
	json_t *value;
	size_t i;
	int err = 0;

	if (given && !json_is_object(given))
		return ckpt_error_set(CKPT_EUSAGE, "the arguments are not an object");
	json_object_foreach((json_t *)given, name, value) {
		for (i = 0; i < ARRAY_SIZE(args) && strcmp(args[i].name, name) != 0; i++)
			;
		if (i == ARRAY_SIZE(args) || !((tool->takes | MCP_DIRECTORY) & args[i].arg))
			return ckpt_error_set(CKPT_EUSAGE, "'%s' has no argument '%s'", tool->name,
					      name);
		/* Clients that know only one way to leave something out. */
		if (json_is_null(value) || (args[i].arg == MCP_UNDO && json_is_false(value)))
			continue;
		out->given |= args[i].arg;
		err = take_argument(out, args[i].arg, name, value);
		if (err)
			return err;
	}
	for (i = 0; i < ARRAY_SIZE(args) && !err; i++)
		if (tool->needs & args[i].arg & ~out->given)
			err = error_missing(tool, args[i].arg, args[i].name);
	if (!err && !tool->command)
		err = check_preview(out);
	return err;
}

/* ---- the command line ---- */

/* Of a preview, what it is about. */
static const char *command_of(const struct mcp_tool *tool, const struct mcp_args *given)
{
	if (tool->command)
		return tool->command;
	return given->given & MCP_UNDO ? "undo" : given->given & MCP_REVERT ? "revert" : "restore";
}

void mcp_args_command(struct strlist *out, const struct mcp_tool *tool,
		      const struct mcp_args *given, const char *source, bool plan)
{
	bool applies = tool->effect == MCP_DESTROYS || !tool->command;
	bool saves = tool->takes & MCP_REASON && !applies;

	plan = plan || !tool->command;
	strlist_add(out, command_of(tool, given));
	if (tool->option)
		strlist_add(out, tool->option);
	if (tool->takes & MCP_SESSION)
		strlist_addf(out, "--session=%s", given->session ? given->session : "last");
	if (applies)
		strlist_add(out, plan ? "--dry-run" : "--yes");
	if (applies || saves)
		strlist_addf(out, "--source=%s", source);
	if (given->reason && (saves || !plan))
		strlist_addf(out, "--%s=%s", saves ? "message" : "reason", given->reason);
	if (given->checkpoint && tool->takes & MCP_PATH) {
		strlist_addf(out, "%s:%s", given->checkpoint, given->paths.items[0]);
		return;
	}
	if (given->checkpoint)
		strlist_add(out, given->checkpoint);
	if (given->paths.nr)
		strlist_add(out, "--");
	strlist_extend(out, &given->paths);
}
