/* SPDX-License-Identifier: MIT */
#include "base/base.h"
#include "record/checkpoint.h"
#include "store/store.h"

#define IDENTITY "git-checkpoint <git-checkpoint@localhost>"

static void add_field(struct strbuf *out, const char *key, const char *value)
{
	size_t len = value ? strlen(value) : 0;
	bool plain = len && value[0] != ' ' && value[0] != '"' && value[len - 1] != ' ' &&
		     utf8_valid(value, len);

	if (!value)
		return;
	for (size_t i = 0; i < len && plain; i++)
		plain = (unsigned char)value[i] >= 0x20 && value[i] != 0x7f;
	strbuf_addf(out, "%s: ", key);
	if (plain)
		strbuf_add(out, value, len);
	else
		quote_c(out, value, len);
	strbuf_addch(out, '\n');
}

static void add_number(struct strbuf *out, const char *key, uint64_t value)
{
	strbuf_addf(out, "%s: %" PRIu64 "\n", key, value);
}

static void add_time(struct strbuf *out, const char *key, int64_t when)
{
	char iso[CLOCK_ISO_SIZE];

	if (when)
		add_field(out, key, clock_format_iso(iso, when));
}

static void add_list(struct strbuf *out, const char *key, const struct strlist *list)
{
	for (size_t i = 0; i < list->nr; i++)
		add_field(out, key, list->items[i]);
}

/* "<name> <type> <bytes>", in the order of capture; names have no blanks. */
static void add_captures(struct strbuf *out, const struct ckpt_captures *captures)
{
	for (size_t i = 0; i < captures->nr; i++)
		strbuf_addf(out, "Capture: %s %s %" PRIu64 "\n", captures->items[i].name,
			    captures->items[i].type, captures->items[i].size);
}

static void add_subject(struct strbuf *out, const struct ckpt_record *record)
{
	char iso[CLOCK_ISO_SIZE];

	utf8_sanitize(out, record->reason, strcspn(record->reason, "\n"));
	strbuf_addf(out, " | %s | ", clock_format_iso(iso, record->created_at));
	utf8_sanitize(out, record->source, strcspn(record->source, "\n"));
	strbuf_addstr(out, "\n\n");
}

static void add_agent(struct strbuf *out, const struct ckpt_agent *agent)
{
	add_field(out, "Agent", agent->name);
	add_field(out, "Agent-Session", agent->session);
	add_field(out, "Agent-Turn", agent->turn_id);
	if (agent->turn)
		add_number(out, "Agent-Turn-Number", agent->turn);
	add_field(out, "Agent-Tool", agent->tool);
	add_field(out, "Agent-Call", agent->tool_call);
	add_field(out, "Agent-Sub", agent->sub_agent);
	add_field(out, "Agent-Prompt", agent->prompt);
}

static void add_message(struct strbuf *out, const struct ckpt_record *record)
{
	add_subject(out, record);
	add_field(out, "Checkpoint", RECORD_FORMAT);
	add_field(out, "Id", record->id);
	add_field(out, "Type", record->type);
	add_time(out, "Created", record->created_at);
	add_field(out, "Reason", record->reason);
	add_field(out, "Source", record->source);
	add_field(out, "Before", record->before);
	add_field(out, "Done", record->done);
	add_agent(out, &record->agent);
	if (record->step >= 0)
		add_number(out, "Step", (uint64_t)record->step);
	add_time(out, "Expires", record->expiry);
	add_field(out, "Automatic", record->automatic ? "true" : "false");
	if (record->safety)
		add_field(out, "Safety-For", record->safety_for);
	if (*record->composed_for)
		add_field(out, "Composed-For", record->composed_for);
	add_list(out, "Conflict", &record->conflicts);
	if (record->include_ignored)
		add_field(out, "Include", "ignored");
	if (record->include_sensitive)
		add_field(out, "Include", "sensitive");
	add_field(out, "State-Hash", record->state_hash);
	add_number(out, "Files", record->files);
	add_number(out, "Bytes", record->bytes);
	add_number(out, "Changed", record->changed);
	if (record->added >= 0 && record->deleted >= 0) {
		add_number(out, "Added", (uint64_t)record->added);
		add_number(out, "Deleted", (uint64_t)record->deleted);
	}
	add_number(out, "Missing", record->missing);
	add_field(out, "Base", record->base);
	add_list(out, "Scope", &record->scope);
	if (record->state_only)
		add_field(out, "State-Only", "true");
	add_list(out, "State", &record->state_keys);
	add_captures(out, &record->captures);
	add_field(out, "Head", record->head);
	add_field(out, "Branch", record->branch);
	add_field(out, "Operation", record->operation);
	if (record->progress_total)
		strbuf_addf(out, "Progress: %u/%u\n", record->progress, record->progress_total);
	if (*record->git_hash) {
		add_field(out, "Git-Hash", record->git_hash);
		strbuf_addf(out, "Index: %zu %zu %zu\n", record->index.staged,
			    record->index.unmerged, record->index.intent_to_add);
	}
	add_list(out, "Warning", &record->warnings);
}

int record_write(struct ckpt_record *record, const struct ckpt_meta *meta, struct pack *pack)
{
	struct strbuf commit = STRBUF_INIT;
	char tree[OID_HEX + 1], parent[OID_HEX + 1];
	int err = meta_write(&record->meta, meta, pack);

	if (err)
		return err;
	strbuf_addf(&commit,
		    "tree %s\nparent %s\n"
		    "author " IDENTITY " %lld +0000\ncommitter " IDENTITY " %lld +0000\n\n",
		    oid_hex(tree, &record->tree), oid_hex(parent, &record->meta),
		    (long long)record->created_at, (long long)record->created_at);
	add_message(&commit, record);
	err = pack_add_new(pack, &record->commit, OBJECT_COMMIT, commit.buf, commit.len);
	strbuf_release(&commit);
	return err;
}
