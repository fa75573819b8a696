/* SPDX-License-Identifier: MIT */
#include "record/checkpoint.h"

#include "base/base.h"
#include "settings/settings.h"
#include "store/store.h"

#include <sys/random.h>

void record_release(struct ckpt_record *record)
{
	free(record->machine);
	free(record->name);
	free(record->type);
	free(record->reason);
	free(record->source);
	free(record->before);
	free(record->done);
	record_agent_release(&record->agent);
	free(record->base);
	free(record->head);
	free(record->branch);
	free(record->operation);
	strlist_release(&record->scope);
	strlist_release(&record->state_keys);
	strlist_release(&record->warnings);
	strlist_release(&record->conflicts);
	record_captures_release(&record->captures);
	*record = (struct ckpt_record)CKPT_RECORD_INIT;
}

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
	struct ckpt_capture *capture;

	ALLOC_GROW(captures->items, captures->nr + 1, captures->alloc);
	capture = &captures->items[captures->nr++];
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

/* --- reading --- */

static void set_string(char **slot, const char *value)
{
	free(*slot);
	*slot = xstrdup(value);
}

static bool set_capture(struct ckpt_record *record, const char *value)
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

static bool set_flag(bool *out, const char *value)
{
	*out = !strcmp(value, "true");
	return true;
}

static bool set_number(int64_t *out, const char *value)
{
	uint64_t number;

	if (!units_parse_number(&number, value))
		return false;
	*out = (int64_t)number;
	return true;
}

/* Fields that are kept as they are. True if `key` is one; `ok` tells whether it was valid. */
static bool set_plain(bool *ok, struct ckpt_record *record, const char *key, const char *value)
{
	const struct {
		const char *key;
		char **slot;
	} strings[] = {
		{ "Type", &record->type },
		{ "Reason", &record->reason },
		{ "Source", &record->source },
		{ "Base", &record->base },
		{ "Head", &record->head },
		{ "Branch", &record->branch },
		{ "Operation", &record->operation },
		{ "Before", &record->before },
		{ "Done", &record->done },
		{ "Agent", &record->agent.name },
		{ "Agent-Session", &record->agent.session },
		{ "Agent-Turn", &record->agent.turn_id },
		{ "Agent-Tool", &record->agent.tool },
		{ "Agent-Call", &record->agent.tool_call },
		{ "Agent-Sub", &record->agent.sub_agent },
		{ "Agent-Prompt", &record->agent.prompt },
	};
	const struct {
		const char *key;
		uint64_t *slot;
	} numbers[] = {
		{ "Files", &record->files },
		{ "Bytes", &record->bytes },
		{ "Changed", &record->changed },
		{ "Missing", &record->missing },
		{ "Agent-Turn-Number", &record->agent.turn },
	};
	const struct {
		const char *key;
		struct strlist *slot;
	} lists[] = {
		{ "Scope", &record->scope },
		{ "State", &record->state_keys },
		{ "Warning", &record->warnings },
		{ "Conflict", &record->conflicts },
	};

	*ok = true;
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		if (!strcmp(key, strings[i].key)) {
			set_string(strings[i].slot, value);
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(key, numbers[i].key)) {
			*ok = units_parse_number(numbers[i].slot, value);
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (!strcmp(key, lists[i].key)) {
			strlist_add(lists[i].slot, value);
			return true;
		}
	return false;
}

static bool set_field(struct ckpt_record *record, const char *key, const char *value)
{
	bool ok;

	if (set_plain(&ok, record, key, value))
		return ok;
	if (!strcmp(key, "Created"))
		return clock_parse_iso(&record->created_at, value);
	if (!strcmp(key, "Expires"))
		return clock_parse_iso(&record->expiry, value);
	if (!strcmp(key, "Automatic"))
		return set_flag(&record->automatic, value);
	if (!strcmp(key, "Safety-For")) {
		record->safety = true;
		snprintf(record->safety_for, sizeof(record->safety_for), "%s", value);
		return !*value || refs_valid_id(value);
	}
	if (!strcmp(key, "Composed-For")) {
		snprintf(record->composed_for, sizeof(record->composed_for), "%s", value);
		return refs_valid_id(value);
	}
	if (!strcmp(key, "State-Only"))
		return set_flag(&record->state_only, value);
	if (!strcmp(key, "Capture"))
		return set_capture(record, value);
	if (!strcmp(key, "Include")) {
		record->include_ignored |= !strcmp(value, "ignored");
		record->include_sensitive |= !strcmp(value, "sensitive");
		return true;
	}
	if (!strcmp(key, "Step"))
		return set_number(&record->step, value);
	if (!strcmp(key, "Added"))
		return set_number(&record->added, value);
	if (!strcmp(key, "Deleted"))
		return set_number(&record->deleted, value);
	if (!strcmp(key, "State-Hash")) {
		snprintf(record->state_hash, sizeof(record->state_hash), "%s", value);
		return strlen(value) == STATEHASH_SIZE - 1;
	}
	if (!strcmp(key, "Git-Hash")) {
		snprintf(record->git_hash, sizeof(record->git_hash), "%s", value);
		return strlen(value) == STATEHASH_SIZE - 1;
	}
	if (!strcmp(key, "Progress"))
		return sscanf(value, "%9u/%9u", &record->progress, &record->progress_total) == 2;
	if (!strcmp(key, "Index"))
		return sscanf(value, "%9zu %9zu %9zu", &record->index.staged,
			      &record->index.unmerged, &record->index.intent_to_add) == 3;
	if (!strcmp(key, "Checkpoint"))
		return !strcmp(value, RECORD_FORMAT);
	if (!strcmp(key, "Id"))
		return !strcmp(value, record->id);
	return true; /* not needed to understand the rest */
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
	ok = ok && set_field(record, line, value.buf);
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
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' was dropped meanwhile", id);
	return ckpt_error_prefix(CKPT_ECORRUPT, "checkpoint '%s' is damaged", id);
}

int record_read_saved(struct ckpt_record *out, struct store *store, const struct ref_item *ref)
{
	struct strbuf text = STRBUF_INIT;
	int err;

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
	const char *name;

	if (err)
		return err;
	name = keepers_name_of(keepers, &ref->commit);
	out->name = name ? xstrdup(name) : NULL;
	out->pinned = name || keepers_has(keepers, KEEPER_PIN, ref->id);
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
