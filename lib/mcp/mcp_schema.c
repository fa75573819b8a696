/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_schema_internal.h"

#include "base/base.h"

/* As git-checkpoint-json(5) has them. */
#define CHECKPOINT                                                                              \
	"id:s commit:s type:s created_at:s reason:s title:s source:s step:i? pinned:b imported:b name:s? " \
	"automatic:b safety_for:s? session:s? branch:s? head:s? "                               \
	"agent:{name:s session:s? turn:i? turn_id:s? tool:s? tool_call:s? sub_agent:s? "        \
	"prompt:s?}? scope:{files:[s] state_keys:[s]} restore_command:s expiry:s?"
#define LISTED CHECKPOINT " hash:s hash_version:i files_changed:i added:i? deleted:i?"
#define CHANGE "file:s status:s from-:s? similarity-:i?"
#define CHANGES "[{" CHANGE "}]"
#define SKIPPED "[{file:s why:s}]"
#define RESTORED                                                                                  \
	"rolled_back:b restored_to:{checkpoint_id:s checkpoint_type:s timestamp:s} "              \
	"changes_reverted:[{file:s operation:s summary:s}] conflicts-:[{file:s why:s}] "          \
	"captures-:[{name:s status:s}] "                                                          \
	"verification:{pre_state_hash:s post_state_hash:s? checkpoint_hash:s match:b? "           \
	"differing-:[s]} git-:x safety_checkpoint:{id:s commit:s}? warnings:[s] next_actions:[s] " \
	"confidence:n evidence_anchors:[s] assumptions:[s] verify_command-:{command:s status:i}"

static const struct {
	const char *name, *notation;
} schemas[] = {
	{ "save",
	  "{checkpoint_created:b checkpoint:{" CHECKPOINT "}? "
	  "pre_mutation_state:{hash:s? summary:s}? captures-:[{name:s type:s bytes:i}] "
	  "stats:{files:i bytes:i changed:i new_bytes:i seconds:n} skipped:" SKIPPED
	  " next_safe_actions:[s] confidence:n evidence_anchors:[s] assumptions:[s] warnings:[s]}" },
	{ "list", "{checkpoints:[{" LISTED "}]}" },
	{ "history",
	  "{checkpoints:[{" LISTED " changes:[{" CHANGE
	  " added:i? removed:i? old_mode:s? new_mode:s?}]}]}" },
	{ "show",
	  "{" LISTED " changed_files:" CHANGES " skipped:" SKIPPED " confidence:n state:{} "
	  "captures-:[{name:s type:s bytes:i}] project:{head:s? branch:s? operation:s? "
	  "progress:s? index:{staged:i unmerged:i intent_to_add:i}? refs:{}? hash:s?} "
	  "warnings:[s]}" },
	{ "diff", "{from:s to:s? changes:" CHANGES "}" },
	{ "status",
	  "{safe:b worktree:s store:s? newest:{" LISTED "}? compared_with:s? "
	  "changes:{added:i modified:i deleted:i} checkpoints:i disk:{bytes:i budget:i?} "
	  "interrupted_restore:{}? hooks:{}? warnings:[s]}" },
	{ "preview", "{token:s " RESTORED "}" },
	{ "restore", "{" RESTORED "}" },
	{ "pin", "{checkpoint:{" LISTED "}}" },
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
	} types[] = { { 's', "string" }, { 'i', "integer" }, { 'n', "number" }, { 'b', "boolean" } };
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
