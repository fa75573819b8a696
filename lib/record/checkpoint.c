/* SPDX-License-Identifier: MIT */
#include "record/checkpoint.h"

#include "record/title.h"
#include "settings/settings.h"

#include <sys/random.h>

#define AUTHOR "git-checkpoint <git-checkpoint@localhost>"

bool record_capture_name_valid(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > RECORD_CAPTURE_NAME_MAX || !isalnum((unsigned char)*name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

void record_captures_add(struct ckpt_captures *captures, const char *name, const char *type,
			 uint64_t size, const struct oid *oid)
{
	struct ckpt_capture *capture = ALLOC_NEXT(captures->items, captures->nr, captures->alloc);

	*capture = (struct ckpt_capture){ .name = xstrdup(name), .type = xstrdup(type),
					  .size = size };
	if (oid)
		capture->oid = *oid;
}

const struct ckpt_capture *record_captures_find(const struct ckpt_captures *captures,
						const char *name)
{
	for (size_t i = 0; i < captures->nr; i++)
		if (!strcmp(captures->items[i].name, name))
			return &captures->items[i];
	return NULL;
}

void record_captures_release(struct ckpt_captures *captures)
{
	for (size_t i = 0; i < captures->nr; i++) {
		free(captures->items[i].name);
		free(captures->items[i].type);
	}
	free(captures->items);
	memset(captures, 0, sizeof(*captures));
}

double record_confidence(const struct ckpt_record *record)
{
	if (!record->missing)
		return 1.0;
	return (double)record->files / (double)(record->files + record->missing);
}

bool record_expired(const struct ckpt_record *record, int64_t now)
{
	return record->expiry && record->expiry <= now;
}

enum {
	/* "chk_YYYYMMDD_HHMMSS" */
	ID_TIME_AT = 4,
	ID_TIME = 15,
	ID_DIGITS_AT = ID_TIME_AT + ID_TIME + 1,
	/* In a new second the digits leave room for those that follow in the same one. */
	ID_FRESH_MAX = 0x7fffff,
	ID_STEP_MAX = 0x7ff,
	ID_DIGITS_MAX = 0xffffff,
};

/* The second after that of an id; the ids of hand-made refs need not be dates. */
static void format_next_second(char out[CLOCK_ISO_SIZE], const char *id)
{
	struct tm tm = { 0 };

	(void)sscanf(id, "chk_%4d%2d%2d_%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		     &tm.tm_hour, &tm.tm_min, &tm.tm_sec);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	tm.tm_sec++;
	clock_format_id(out, timegm(&tm));
}

int record_next_id(char out[CKPT_ID_SIZE], const char *last, int64_t now)
{
	char stamp[CLOCK_ISO_SIZE];
	unsigned long digits;
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return ckpt_error_errno("unable to get random bytes");
	clock_format_id(stamp, now);
	digits = random & ID_FRESH_MAX;
	if (*last && strncmp(last + ID_TIME_AT, stamp, ID_TIME) >= 0) {
		unsigned long after = strtoul(last + ID_DIGITS_AT, NULL, 16) + 1;

		if (after + ID_STEP_MAX <= ID_DIGITS_MAX) {
			snprintf(stamp, sizeof(stamp), "%.*s", ID_TIME, last + ID_TIME_AT);
			digits = after + (random & ID_STEP_MAX);
		} else {
			format_next_second(stamp, last);
		}
	}
	snprintf(out, CKPT_ID_SIZE, "chk_%.*s_%06lx", ID_TIME, stamp, digits);
	if (*last && strcmp(out, last) <= 0)
		return ckpt_error_set(CKPT_ERROR, "no id sorts after '%s'; drop that checkpoint",
				      last);
	return 0;
}

/*
 * --- the fields of a record, in the order of their lines: parsing, printing and releasing follow
 * from this table ---
 */

enum shape {
	TEXT,	/* char *; NULL: no line */
	COUNT,	/* uint64_t */
	SOME,	/* uint64_t; 0: no line */
	NUMBER, /* int64_t; negative: no line */
	TIME,	/* int64_t; 0: no line */
	FLAG,	/* bool */
	TRUE,	/* bool; false: no line */
	LIST,	/* struct strlist: a line for each item */
	ID,	/* char[CKPT_ID_SIZE]; "": no line */
	HASH,	/* char[STATEHASH_SIZE], likewise */
	SPECIAL /* has functions of its own */
};

struct field {
	const char *key;
	enum shape shape;
	size_t at;
	void (*print)(struct strbuf *out, const char *key, const struct ckpt_record *record);
	bool (*parse)(struct ckpt_record *record, const char *value);
};

static void print_line(struct strbuf *out, const char *key, const char *value)
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

static void print_safety(struct strbuf *out, const char *key, const struct ckpt_record *record)
{
	print_line(out, key, record->safety ? record->safety_for : NULL);
}

static bool parse_safety(struct ckpt_record *record, const char *value)
{
	record->safety = true;
	snprintf(record->safety_for, sizeof(record->safety_for), "%s", value);
	return !*value || refs_valid_id(value);
}

static void print_include(struct strbuf *out, const char *key, const struct ckpt_record *record)
{
	print_line(out, key, record->include_ignored ? "ignored" : NULL);
	print_line(out, key, record->include_sensitive ? "sensitive" : NULL);
}

static bool parse_include(struct ckpt_record *record, const char *value)
{
	record->include_ignored |= !strcmp(value, "ignored");
	record->include_sensitive |= !strcmp(value, "sensitive");
	return true;
}

/* "<name> <type> <bytes>", in the order of capture; names have no blanks. */
static void print_captures(struct strbuf *out, const char *key, const struct ckpt_record *record)
{
	const struct ckpt_captures *captures = &record->captures;

	for (size_t i = 0; i < captures->nr; i++)
		strbuf_addf(out, "%s: %s %s %" PRIu64 "\n", key, captures->items[i].name,
			    captures->items[i].type, captures->items[i].size);
}

static bool parse_capture(struct ckpt_record *record, const char *value)
{
	struct strlist words = STRLIST_INIT;
	uint64_t size;
	char *copy = xstrdup(value), *rest = NULL;
	bool ok;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		strlist_add(&words, word);
	ok = words.nr == 3 && record_capture_name_valid(words.items[0]) &&
	     !record_captures_find(&record->captures, words.items[0]) &&
	     units_parse_number(&size, words.items[2]);
	if (ok)
		record_captures_add(&record->captures, words.items[0], words.items[1], size, NULL);
	strlist_release(&words);
	free(copy);
	return ok;
}

static void print_progress(struct strbuf *out, const char *key, const struct ckpt_record *record)
{
	if (record->progress_total)
		strbuf_addf(out, "%s: %u/%u\n", key, record->progress, record->progress_total);
}

static bool parse_progress(struct ckpt_record *record, const char *value)
{
	return sscanf(value, "%9u/%9u", &record->progress, &record->progress_total) == 2;
}

static void print_index(struct strbuf *out, const char *key, const struct ckpt_record *record)
{
	if (*record->git_hash)
		strbuf_addf(out, "%s: %zu %zu %zu\n", key, record->index.staged,
			    record->index.unmerged, record->index.intent_to_add);
}

static bool parse_index(struct ckpt_record *record, const char *value)
{
	return sscanf(value, "%9zu %9zu %9zu", &record->index.staged, &record->index.unmerged,
		      &record->index.intent_to_add) == 3;
}

#define FIELD(key, shape, member) { key, shape, offsetof(struct ckpt_record, member), NULL, NULL }
#define FIELD_OWN(key, print, parse) { key, SPECIAL, 0, print, parse }

static const struct field fields[] = {
	FIELD("Type", TEXT, type),
	FIELD("Created", TIME, created_at),
	FIELD("Reason", TEXT, reason),
	FIELD("Source", TEXT, source),
	FIELD("Before", TEXT, before),
	FIELD("Done", TEXT, done),
	FIELD("Agent", TEXT, agent.name),
	FIELD("Agent-Session", TEXT, agent.session),
	FIELD("Agent-Turn", TEXT, agent.turn_id),
	FIELD("Agent-Turn-Number", SOME, agent.turn),
	FIELD("Agent-Tool", TEXT, agent.tool),
	FIELD("Agent-Call", TEXT, agent.tool_call),
	FIELD("Agent-Sub", TEXT, agent.sub_agent),
	FIELD("Agent-Prompt", TEXT, agent.prompt),
	FIELD("Step", NUMBER, step),
	FIELD("Expires", TIME, expiry),
	FIELD("Automatic", FLAG, automatic),
	FIELD_OWN("Safety-For", print_safety, parse_safety),
	FIELD("Composed-For", ID, composed_for),
	FIELD("Conflict", LIST, conflicts),
	FIELD_OWN("Include", print_include, parse_include),
	FIELD("State-Hash", HASH, state_hash),
	FIELD("Files", COUNT, files),
	FIELD("Bytes", COUNT, bytes),
	FIELD("Changed", COUNT, changed),
	FIELD("Added", NUMBER, added),
	FIELD("Deleted", NUMBER, deleted),
	FIELD("Missing", COUNT, missing),
	FIELD("Base", TEXT, base),
	FIELD("Scope", LIST, scope),
	FIELD("State-Only", TRUE, state_only),
	FIELD("State", LIST, state_keys),
	FIELD_OWN("Capture", print_captures, parse_capture),
	FIELD("Head", TEXT, head),
	FIELD("Branch", TEXT, branch),
	FIELD("Operation", TEXT, operation),
	FIELD_OWN("Progress", print_progress, parse_progress),
	FIELD("Git-Hash", HASH, git_hash),
	FIELD_OWN("Index", print_index, parse_index),
	FIELD("Warning", LIST, warnings),
};

static void *member_at(const struct ckpt_record *record, const struct field *field)
{
	return (char *)(uintptr_t)record + field->at;
}

/* What an agent told is a part of a record: the texts of it, NULL after the last. */
static char **agent_text(const struct ckpt_agent *agent, size_t i)
{
	size_t from = offsetof(struct ckpt_record, agent);

	for (const struct field *field = fields; field < fields + ARRAY_SIZE(fields); field++)
		if (field->shape == TEXT && field->at >= from && field->at < from + sizeof(*agent) &&
		    !i--)
			return (char **)(void *)((char *)(uintptr_t)agent + (field->at - from));
	return NULL;
}

void record_agent_copy(struct ckpt_agent *out, const struct ckpt_agent *agent)
{
	char **from;

	out->turn = agent->turn;
	for (size_t i = 0; (from = agent_text(agent, i)); i++)
		*agent_text(out, i) = *from ? xstrdup(*from) : NULL;
}

void record_agent_release(struct ckpt_agent *agent)
{
	char **text;

	for (size_t i = 0; (text = agent_text(agent, i)); i++)
		free(*text);
	memset(agent, 0, sizeof(*agent));
}

void record_release(struct ckpt_record *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (fields[i].shape == TEXT)
			free(*(char **)member_at(record, &fields[i]));
		else if (fields[i].shape == LIST)
			strlist_release(member_at(record, &fields[i]));
	}
	free(record->machine);
	strlist_release(&record->names);
	record_captures_release(&record->captures);
	*record = (struct ckpt_record)CKPT_RECORD_INIT;
}

/* --- writing --- */

static void print_number(struct strbuf *out, const char *key, uint64_t value)
{
	strbuf_addf(out, "%s: %" PRIu64 "\n", key, value);
}

static void print_field(struct strbuf *out, const struct field *field,
			const struct ckpt_record *record)
{
	const void *at = member_at(record, field);
	const struct strlist *list = at;
	char iso[CLOCK_ISO_SIZE];
	uint64_t count;
	int64_t number;

	switch (field->shape) {
	case TEXT:
		print_line(out, field->key, *(char *const *)at);
		break;
	case COUNT:
	case SOME:
		count = *(const uint64_t *)at;
		if (count || field->shape == COUNT)
			print_number(out, field->key, count);
		break;
	case NUMBER:
		number = *(const int64_t *)at;
		if (number >= 0)
			print_number(out, field->key, (uint64_t)number);
		break;
	case TIME:
		number = *(const int64_t *)at;
		print_line(out, field->key, number ? clock_format_iso(iso, number) : NULL);
		break;
	case FLAG:
		print_line(out, field->key, *(const bool *)at ? "true" : "false");
		break;
	case TRUE:
		print_line(out, field->key, *(const bool *)at ? "true" : NULL);
		break;
	case LIST:
		for (size_t i = 0; i < list->nr; i++)
			print_line(out, field->key, list->items[i]);
		break;
	case ID:
	case HASH:
		print_line(out, field->key, *(const char *)at ? at : NULL);
		break;
	case SPECIAL:
		field->print(out, field->key, record);
	}
}

static void print_message(struct strbuf *out, const struct ckpt_record *record)
{
	char iso[CLOCK_ISO_SIZE];

	utf8_sanitize(out, record->reason, strcspn(record->reason, "\n"));
	strbuf_addf(out, " | %s | ", clock_format_iso(iso, record->created_at));
	utf8_sanitize(out, record->source, strcspn(record->source, "\n"));
	strbuf_addstr(out, "\n\n");
	print_line(out, "Checkpoint", RECORD_FORMAT);
	print_line(out, "Id", record->id);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		print_field(out, &fields[i], record);
}

static void encode_record(struct strbuf *out, const struct ckpt_record *record)
{
	char tree[OID_HEX + 1], parent[OID_HEX + 1];

	strbuf_addf(out,
		    "tree %s\nparent %s\n"
		    "author " AUTHOR " %lld +0000\ncommitter " AUTHOR " %lld +0000\n\n",
		    oid_hex(tree, &record->tree), oid_hex(parent, &record->meta),
		    (long long)record->created_at, (long long)record->created_at);
	print_message(out, record);
}

void record_encode_bare(struct strbuf *out, const struct ckpt_record *record)
{
	static char plain[] = TITLE_A_PROMPT;
	struct ckpt_record bare = *record;

	bare.agent.prompt = NULL;
	if (record->before && !strncmp(record->before, TITLE_PROMPT, strlen(TITLE_PROMPT)))
		bare.before = plain;
	encode_record(out, &bare);
}

int record_write(struct ckpt_record *record, const struct ckpt_meta *meta, struct pack *pack)
{
	struct strbuf commit = STRBUF_INIT;
	int err = meta_write(&record->meta, meta, pack);

	if (err)
		return err;
	encode_record(&commit, record);
	err = pack_add_new(pack, &record->commit, OBJECT_COMMIT, commit.buf, commit.len);
	strbuf_release(&commit);
	return err;
}

/* --- reading --- */

static bool parse_value(struct ckpt_record *record, const struct field *field, const char *value)
{
	void *at = member_at(record, field);

	switch (field->shape) {
	case TEXT:
		free(*(char **)at);
		*(char **)at = xstrdup(value);
		return true;
	case COUNT:
	case SOME:
	case NUMBER: /* as large as the others, and never negative in a record */
		return units_parse_number(at, value);
	case TIME:
		return clock_parse_iso(at, value);
	case FLAG:
	case TRUE:
		*(bool *)at = !strcmp(value, "true");
		return true;
	case LIST:
		strlist_add(at, value);
		return true;
	case ID:
		snprintf(at, CKPT_ID_SIZE, "%s", value);
		return refs_valid_id(value);
	case HASH:
		snprintf(at, STATEHASH_SIZE, "%s", value);
		return strlen(value) == STATEHASH_SIZE - 1;
	case SPECIAL:
		return field->parse(record, value);
	}
	return false;
}

/* What is not known is not needed to understand the rest. */
static bool parse_field(struct ckpt_record *record, const char *key, const char *value)
{
	if (!strcmp(key, "Checkpoint") || !strcmp(key, "Id"))
		return !strcmp(value, *key == 'I' ? record->id : RECORD_FORMAT);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(key, fields[i].key))
			return parse_value(record, &fields[i], value);
	return true;
}

/* One "Key: value" line; `line` is cut up. */
static bool parse_line(struct ckpt_record *record, char *line)
{
	struct strbuf value = STRBUF_INIT;
	char *colon = strstr(line, ": ");
	bool ok;

	if (!colon)
		return false;
	*colon = '\0';
	if (colon[2] == '"')
		ok = quote_undo_c(&value, colon + 2, NULL);
	else
		ok = (strbuf_addstr(&value, colon + 2), true);
	ok = ok && parse_field(record, line, value.buf);
	strbuf_release(&value);
	return ok;
}

static bool parse_commit(struct ckpt_record *record, char *text)
{
	char *body = strstr(text, "\n\n"), *line, *rest = NULL;

	if (strncmp(text, "tree ", 5) || !oid_parse(&record->tree, text + 5) ||
	    strncmp(text + 5 + OID_HEX, "\nparent ", 8) ||
	    !oid_parse(&record->meta, text + 5 + OID_HEX + 8) || !body)
		return false;
	body = strstr(body + 2, "\n\n"); /* after the subject */
	if (!body)
		return false;
	for (line = strtok_r(body, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!parse_line(record, line))
			return false;
	return record->type && record->reason && record->source && record->created_at &&
	       record->state_hash[0];
}

int record_damaged(int err, struct store *store, const char *id)
{
	if (err != CKPT_ENOTFOUND && err != CKPT_ECORRUPT)
		return err;
	/* The holder of the lock knows that no other process removes anything. */
	if (store->lockfd < 0 && !refs_exist(store, id) && !fetched_exists(store, id))
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' was dropped by another process", id);
	return ckpt_error_prefix(CKPT_ECORRUPT, "checkpoint '%s' is damaged", id);
}

bool record_is_gone(struct store *store, const struct ref_item *ref)
{
	struct strbuf text = STRBUF_INIT;
	int err = oid_is_zero(&ref->commit) ? 0 : objects_read(&text, store, &ref->commit, OBJECT_COMMIT);

	strbuf_release(&text);
	return err == CKPT_ENOTFOUND;
}

char *record_describe_gone(size_t nr)
{
	return xstrfmt("%zu %s lost: nothing of %s is in the store any more", nr,
		       nr == 1 ? "checkpoint is" : "checkpoints are", nr == 1 ? "it" : "them");
}

bool record_note_damage(struct strlist *out, struct store *store, const struct ref_item *ref)
{
	char *sentence = xstrdup(ckpt_error_last());
	bool gone = record_is_gone(store, ref);

	if (!gone)
		strlist_add(out, sentence);
	free(sentence);
	return gone;
}

void record_tell_gone(struct strlist *out, struct store *store, const struct ref_list *refs)
{
	const char *only = "";
	size_t nr = 0;
	char *text;

	for (size_t i = 0; i < refs->nr; i++)
		if (record_is_gone(store, &refs->items[i])) {
			only = refs->items[i].id;
			nr++;
		}
	text = nr == 1 ? xstrfmt("checkpoint '%s' is damaged: nothing of it is in the store any more", only)
		       : record_describe_gone(nr);
	strlist_addf(out, "%s; 'git checkpoint doctor --fix' takes %s off the list", text,
		     nr == 1 ? "it" : "them");
	free(text);
}

static _Atomic uint64_t reads;

uint64_t record_reads(void)
{
	return reads;
}

int record_read_saved(struct ckpt_record *out, struct store *store, const struct ref_item *ref)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	reads++;
	*out = (struct ckpt_record)CKPT_RECORD_INIT;
	memcpy(out->id, ref->id, sizeof(out->id));
	out->commit = ref->commit;
	if (oid_is_zero(&ref->commit)) {
		err = ckpt_error_set(CKPT_ECORRUPT, "checkpoint '%s' is damaged: its ref is empty",
				     ref->id);
	} else {
		err = objects_read(&text, store, &ref->commit, OBJECT_COMMIT);
		if (err)
			err = record_damaged(err, store, ref->id);
		else if (!parse_commit(out, text.buf))
			err = ckpt_error_set(CKPT_ECORRUPT,
					     "checkpoint '%s' is damaged: its record is malformed",
					     ref->id);
	}
	if (err)
		record_release(out);
	strbuf_release(&text);
	return err;
}

int record_read_fetched(struct ckpt_record *out, struct store *store,
			const struct fetched_item *item)
{
	int err = record_read_saved(out, store, &item->ref);

	if (!err)
		out->machine = xstrdup(item->machine);
	return err;
}

int record_read_kept(struct ckpt_record *out, struct store *store, const struct ref_item *ref,
		     const struct keepers *keepers)
{
	int err = record_read_saved(out, store, ref);

	if (err)
		return err;
	out->pinned = keepers_names_of(&out->names, keepers, &ref->commit) ||
		      keepers_has(keepers, KEEPER_PIN, ref->id);
	out->imported = keepers_has(keepers, KEEPER_IMPORT, ref->id);
	return 0;
}

int record_read(struct ckpt_record *out, struct store *store, const struct ref_item *ref)
{
	const struct keepers *keepers;
	int err = keepers_read(&keepers, store);

	*out = (struct ckpt_record)CKPT_RECORD_INIT;
	return err ? err : record_read_kept(out, store, ref, keepers);
}
