/* SPDX-License-Identifier: MIT */
#include "record/lookup.h"

#include "record/lost.h"

#include <sys/random.h>

enum {
	COMMIT_PREFIX_MIN = 4,
	ID_DIGITS = 6,
	CANDIDATES_SHOWN = 10,
};

/* They were read from the newest on. */
static void turn_round(struct ckpt_records *records)
{
	for (size_t i = 0, j = records->nr; i + 1 < j; i++, j--) {
		struct ckpt_record record = records->items[i];

		records->items[i] = records->items[j - 1];
		records->items[j - 1] = record;
	}
	for (size_t i = 0, j = records->damaged.nr; i + 1 < j; i++, j--) {
		char *sentence = records->damaged.items[i];

		records->damaged.items[i] = records->damaged.items[j - 1];
		records->damaged.items[j - 1] = sentence;
	}
}

int lookup_records_newest(struct ckpt_records *out, struct store *store,
			  const struct ref_list *refs, const struct ckpt_enough *enough)
{
	size_t left = enough ? enough->max : SIZE_MAX, alloc = 0;
	const struct keepers *keepers;
	int err = keepers_read(&keepers, store);
	bool gone = false;

	memset(out, 0, sizeof(*out));
	out->unread = refs->nr;
	while (out->unread && left && !err) {
		struct ckpt_record *record;

		ALLOC_GROW(out->items, out->nr + 1, alloc);
		record = &out->items[out->nr];
		err = record_read_kept(record, store, &refs->items[--out->unread], keepers);
		if (!err) {
			out->nr++;
			if (enough && (!enough->counts || enough->counts(record, enough->payload)))
				left--;
		} else if (err == CKPT_ECORRUPT) {
			gone |= record_note_damage(&out->damaged, store, &refs->items[out->unread]);
		}
		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND)
			err = 0;
	}
	turn_round(out);
	if (gone && !err)
		record_tell_gone(&out->damaged, store, refs);
	if (err)
		lookup_records_release(out);
	return err;
}

int lookup_records(struct ckpt_records *out, struct store *store)
{
	struct ref_list refs;
	int err = refs_list(&refs, store);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	err = lookup_records_newest(out, store, &refs, NULL);
	refs_release(&refs);
	return err;
}

void lookup_records_release(struct ckpt_records *records)
{
	for (size_t i = 0; i < records->nr; i++)
		record_release(&records->items[i]);
	free(records->items);
	strlist_release(&records->damaged);
	memset(records, 0, sizeof(*records));
}

/* What is damaged, or was removed in the meantime, is skipped. */
int lookup_newest_such(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		       bool (*wanted)(const struct ckpt_record *record, void *payload),
		       void *payload)
{
	for (size_t i = refs->nr; i--;) {
		int err = record_read(out, store, &refs->items[i]);

		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND)
			continue;
		if (err || wanted(out, payload))
			return err;
		record_release(out);
	}
	return CKPT_ENOTFOUND;
}

static bool has_scope(const struct ckpt_record *record, void *scope)
{
	return !record->state_only && !record->imported && strlist_equal(&record->scope, scope);
}

static bool is_meant(const struct ckpt_record *record, void *payload UNUSED)
{
	return record_is_meant(record);
}

static bool is_meant_with_scope(const struct ckpt_record *record, void *scope)
{
	return record_is_meant(record) && has_scope(record, scope);
}

static bool is_meant_with_files(const struct ckpt_record *record, void *payload UNUSED)
{
	return record_is_meant(record) && !record->state_only;
}

static bool is_state_only(const struct ckpt_record *record, void *payload UNUSED)
{
	return record->state_only && !record->imported;
}

static bool is_imported(const struct ckpt_record *record, void *payload)
{
	(void)payload;
	return record->imported;
}

static int none_yet(int err, struct store *store, const struct ref_list *refs)
{
	struct ckpt_record record;

	if (err != CKPT_ENOTFOUND)
		return err;
	if (refs->nr && record_is_gone(store, &refs->items[refs->nr - 1]))
		return ckpt_error_set(err, "the checkpoints are lost; 'git checkpoint doctor' says how many");
	if (lookup_newest_such(&record, store, refs, is_imported, NULL))
		return ckpt_error_set(err, "no checkpoint yet; 'git checkpoint save' takes one");
	record_release(&record);
	return ckpt_error_set(err, "no checkpoint was taken here yet; those that were imported are "
				   "named by their ids, see 'git checkpoint list'");
}

int lookup_latest(struct ckpt_record *out, struct store *store, const struct ref_list *refs)
{
	return none_yet(lookup_newest_such(out, store, refs, is_meant, NULL), store, refs);
}

int lookup_newest(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		  const struct strlist *scope)
{
	return none_yet(lookup_newest_such(out, store, refs, has_scope, (void *)scope), store,
			refs);
}

int lookup_newest_meant(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
			const struct strlist *scope)
{
	return none_yet(lookup_newest_such(out, store, refs, is_meant_with_scope, (void *)scope),
			store, refs);
}

int lookup_newest_state(struct ckpt_record *out, struct store *store, const struct ref_list *refs)
{
	int err = lookup_newest_such(out, store, refs, is_state_only, NULL);

	return err != CKPT_ENOTFOUND ? err :
	       ckpt_error_set(err, "no checkpoint of only state yet; 'git checkpoint save --state-only' "
				   "takes one");
}

static int no_files(struct ckpt_record *out, struct store *store)
{
	int err = lookup_name(out, store, "@");

	if (err)
		return err;
	record_release(out);
	return ckpt_error_set(CKPT_ENOTFOUND, "no checkpoint of files yet; 'git checkpoint save' takes "
					      "one");
}

int lookup_default(struct ckpt_record *out, struct store *store)
{
	struct ref_list refs;
	int err = refs_list(&refs, store);

	if (err)
		return err;
	err = lookup_newest_such(out, store, &refs, is_meant_with_scope, (void *)&strlist_empty);
	if (err == CKPT_ENOTFOUND)
		err = lookup_newest_such(out, store, &refs, is_meant_with_files, NULL);
	refs_release(&refs);
	/* None, or none with files: set the message for that. */
	return err == CKPT_ENOTFOUND ? no_files(out, store) : err;
}

/* What serves instead, of a name that means something to git or to people; NULL: nothing is known. */
static char *advise_instead(const char *name)
{
	static const char *const newest[] = {
		"last", "latest", "newest", "current", "recent", "now"
	};
	const char *digits = name + strspn(name, "@{"), *dots = strstr(name, "..");
	size_t len = strspn(digits, "0123456789");
	int64_t when;

	for (size_t i = 0; i < ARRAY_SIZE(newest); i++)
		if (!strcasecmp(name, newest[i]))
			return xstrdup("the newest is '@', the one before '@~1'");
	/* Nothing of the project is a checkpoint, but this is what git users type first. */
	if (strcspn(name, "~^@") == 4 && !strncmp(name, "HEAD", 4))
		return xstrdup("that is a commit of the project; the newest checkpoint is '@', the "
			       "one before '@~1'");
	/* A range, not a path. */
	if (dots && dots != name && !strchr(name, '/'))
		return xstrdup("checkpoints are named one by one, not as a range");
	if (len && !digits[len + strspn(digits + len, "}")])
		return xstrfmt("'@~%.*s' is so many before the newest, 'step:%.*s' has that step",
			       (int)len, digits, (int)len, digits);
	if (clock_parse_duration(&when, name) || clock_parse_iso(&when, name) ||
	    !strcmp(name, "yesterday"))
		return xstrfmt("'@{%s}' is the newest that was there at that time", name);
	return NULL;
}

static int set_unknown(const char *name)
{
	char *advice = advise_instead(name);
	int err = ckpt_error_set(CKPT_ENOTFOUND, "no checkpoint named '%s'; %s", name,
				 advice ? advice : "see 'git checkpoint list'");

	free(advice);
	return err;
}

static bool is_so_far_back(const struct ckpt_record *record, void *payload)
{
	uint64_t *left = payload;

	return record_is_meant(record) && !(*left)--;
}

/* "@" and "@~<n>": counted from the newest, over those that can be read. */
static int by_position(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		       const char *name)
{
	uint64_t back = 0;
	int err;

	if (name[1] && (name[1] != '~' || (name[2] && !units_parse_number(&back, name + 2))))
		return set_unknown(name);
	if (name[1] && !name[2])
		back = 1;
	err = lookup_newest_such(out, store, refs, is_so_far_back, &back);
	if (err != CKPT_ENOTFOUND)
		return err;
	if (!name[1] || !refs->nr)
		return none_yet(err, store, refs);
	return ckpt_error_set(CKPT_ENOTFOUND, "'%s' goes back past the oldest checkpoint; see 'git "
					      "checkpoint list'", name);
}

/*
 * "@{<time>}": the newest at or before then. By the clock: nobody who names a
 * time means the order of saving. Of two of the same second, the later one.
 */
static int by_time(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		   const char *name)
{
	char *text = xmemdupz(name + 2, strlen(name) - 3);
	size_t found = refs->nr;
	int64_t when, newest = 0;
	int err = gitdate_parse(&when, text);

	if (err == CKPT_EUSAGE && !text[strspn(text, "0123456789")])
		err = set_unknown(name);
	else if (err == CKPT_EUSAGE)
		err = ckpt_error_prefix(CKPT_ENOTFOUND, "no checkpoint named '%s'", name);
	for (size_t i = refs->nr; i-- && !err;) {
		struct ckpt_record record;

		err = record_read(&record, store, &refs->items[i]);
		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND) {
			err = 0;
			continue;
		}
		if (!err && record_is_meant(&record) && record.created_at <= when &&
		    (found == refs->nr || record.created_at > newest)) {
			found = i;
			newest = record.created_at;
		}
		record_release(&record);
	}
	if (!err && found == refs->nr)
		err = ckpt_error_set(CKPT_ENOTFOUND,
				     "no checkpoint is as old as '%s'; see 'git "
				     "checkpoint list'",
				     name);
	free(text);
	return err ? err : record_read(out, store, &refs->items[found]);
}

static bool has_step(const struct ckpt_record *record, void *payload)
{
	const uint64_t *step = payload;

	return record->step >= 0 && (uint64_t)record->step == *step;
}

static int by_step(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		   const char *name)
{
	uint64_t step;
	int err;

	if (!units_parse_number(&step, name + strlen("step:")))
		return set_unknown(name);
	err = lookup_newest_such(out, store, refs, has_step, &step);
	if (err != CKPT_ENOTFOUND)
		return err;
	return ckpt_error_set(CKPT_ENOTFOUND, "no checkpoint has step %llu; see 'git checkpoint list'",
			      (unsigned long long)step);
}

static bool is_hex(const char *s)
{
	return *s && !s[strspn(s, "0123456789abcdefABCDEF")];
}

/* What a name is about to be compared with. */
typedef bool match_fn(const struct ref_item *ref, const char *name);

static bool is_id(const struct ref_item *ref, const char *name)
{
	return !strcmp(ref->id, name);
}

/* The digits at the end of an id, which differ where the time is the same. */
static bool ends_id(const struct ref_item *ref, const char *name)
{
	return strlen(name) == ID_DIGITS && is_hex(name) &&
	       !strcasecmp(ref->id + strlen(ref->id) - ID_DIGITS, name);
}

static bool begins_id_or_commit(const struct ref_item *ref, const char *name)
{
	char commit[OID_HEX + 1];
	size_t len = strlen(name);

	if (!strncmp(ref->id, name, len))
		return true;
	return len >= COMMIT_PREFIX_MIN && len <= OID_HEX && is_hex(name) &&
	       !strncasecmp(oid_hex(commit, &ref->commit), name, len);
}

static int set_ambiguous(const struct ref_list *refs, const char *name, match_fn *matches)
{
	struct strbuf list = STRBUF_INIT;
	size_t found = 0;

	for (size_t i = 0; i < refs->nr; i++) {
		if (!matches(&refs->items[i], name))
			continue;
		if (found++ < CANDIDATES_SHOWN)
			strbuf_addf(&list, "\n  %s", refs->items[i].id);
	}
	if (found > CANDIDATES_SHOWN)
		strbuf_addf(&list, "\n  and %zu more", found - CANDIDATES_SHOWN);
	ckpt_error_set(CKPT_ERROR, "'%s' is ambiguous, it could be:%s", name, list.buf);
	strbuf_release(&list);
	return CKPT_ERROR;
}

/* What matches more exactly wins: a whole id is never ambiguous. */
static match_fn *const ways[] = { is_id, ends_id, begins_id_or_commit };

/* Ids and commits. */
static int by_hash(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		   const char *name)
{
	for (size_t way = 0; way < ARRAY_SIZE(ways); way++) {
		size_t found = 0, at = 0;

		for (size_t i = 0; i < refs->nr; i++)
			if (ways[way](&refs->items[i], name)) {
				found++;
				at = i;
			}
		if (found > 1)
			return set_ambiguous(refs, name, ways[way]);
		if (found)
			return record_read(out, store, &refs->items[at]);
	}
	return set_unknown(name);
}

static const struct ref_item *with_commit(const struct ref_list *refs, const struct oid *commit)
{
	for (size_t i = 0; i < refs->nr; i++)
		if (oid_equal(&refs->items[i].commit, commit))
			return &refs->items[i];
	return NULL;
}

const struct ref_item *lookup_named(struct store *store, const struct ref_list *refs,
				    const char *name)
{
	struct oid commit;

	return keepers_find(&commit, store, KEEPER_NAME, name) ? with_commit(refs, &commit) : NULL;
}

int lookup_name_free(struct store *store, const struct ref_list *refs, const char *name,
		     const struct oid *commit)
{
	const struct ref_item *owner;
	struct ref_list lost = { 0 };
	struct oid now;
	int err = 0;

	if (!keepers_find(&now, store, KEEPER_NAME, name) || (commit && oid_equal(&now, commit)))
		return 0;
	owner = with_commit(refs, &now);
	if (!owner) {
		err = lost_read(&lost, store, refs);
		owner = with_commit(&lost, &now);
	}
	if (!err && owner)
		err = ckpt_error_set(
			CKPT_EREFUSED,
			"the name '%s' is taken by checkpoint '%s'; --move-name moves it", name,
			owner->id);
	refs_release(&lost);
	return err;
}

/* --- checkpoints of other machines, see store/fetched.h --- */

static bool is_of_machine(const struct fetched_item *item, const char *machine, size_t len)
{
	return strlen(item->machine) == len && !strncmp(item->machine, machine, len);
}

size_t lookup_fetched(size_t *at, const struct fetched_list *all, const char *name)
{
	const char *slash = strchr(name, '/'), *rest = slash + 1;
	size_t len = (size_t)(slash - name), found = 0;

	for (size_t i = 0; i < all->nr && !strcmp(rest, "@"); i++)
		if (is_of_machine(&all->items[i], name, len)) {
			found = 1;
			*at = i;
		}
	for (size_t way = 0; way < ARRAY_SIZE(ways) && !found && *rest; way++)
		for (size_t i = 0; i < all->nr; i++)
			if (is_of_machine(&all->items[i], name, len) &&
			    ways[way](&all->items[i].ref, rest)) {
				found++;
				*at = i;
			}
	return found;
}

/* "<machine>/@": the last of those that can be read. */
static int read_newest_fetched(struct ckpt_record *out, struct store *store, const struct fetched_list *all,
			       const char *name)
{
	size_t len = strcspn(name, "/");

	for (size_t i = all->nr; i--;)
		if (is_of_machine(&all->items[i], name, len) &&
		    !record_read_fetched(out, store, &all->items[i]))
			return 0;
	return CKPT_ENOTFOUND;
}

static int set_unknown_fetched(const char *name)
{
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "no checkpoint named '%s'; see 'git checkpoint list', and 'git checkpoint "
			      "list --remote' for those of other machines",
			      name);
}

/* "<machine>/@", or "<machine>/" and an id, the digits at its end, a prefix of it or of the commit. */
static int read_fetched(struct ckpt_record *out, struct store *store, const char *name)
{
	struct fetched_list all;
	size_t at = 0, found;
	int err = fetched_list(&all, store);

	if (err)
		return err;
	found = lookup_fetched(&at, &all, name);
	if (!strcmp(strchr(name, '/'), "/@"))
		err = read_newest_fetched(out, store, &all, name);
	else if (found == 1)
		err = record_read_fetched(out, store, &all.items[at]);
	else if (found)
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' is ambiguous; see 'git checkpoint list --remote'", name);
	else
		err = CKPT_ENOTFOUND;
	fetched_release(&all);
	return err == CKPT_ENOTFOUND ? set_unknown_fetched(name) : err;
}

/* Any machine can use the id of another one: then it says nothing. */
static int read_only_fetched(struct ckpt_record *out, struct store *store,
			     const struct fetched_list *all, const char *id)
{
	const struct fetched_item *found = NULL;

	for (size_t i = 0; i < all->nr; i++) {
		const struct fetched_item *item = &all->items[i];

		if (strcmp(item->ref.id, id) != 0)
			continue;
		if (found && !oid_equal(&found->ref.commit, &item->ref.commit))
			return ckpt_error_set(CKPT_ERROR,
					      "'%s' is ambiguous, it could be '%s/%s' or '%s/%s'", id,
					      found->machine, id, item->machine, id);
		if (!found)
			found = item;
	}
	return found ? record_read_fetched(out, store, found) : CKPT_ENOTFOUND;
}

/*
 * By a whole id alone, which is how journals and the undo stack name one. CKPT_ENOTFOUND leaves the
 * message as it is.
 */
static int read_fetched_id(struct ckpt_record *out, struct store *store, const char *id)
{
	char *kept = ckpt_error_keep();
	struct fetched_list all;
	int err = fetched_list(&all, store);

	if (!err) {
		err = read_only_fetched(out, store, &all, id);
		fetched_release(&all);
	}
	if (err == CKPT_ENOTFOUND)
		return ckpt_error_put_back(err, kept);
	free(kept);
	return err;
}

/* --- by name --- */

int lookup_name(struct ckpt_record *out, struct store *store, const char *name)
{
	const struct ref_item *named;
	struct ref_list refs;
	int err;

	if (!*name)
		return set_unknown(name);
	err = refs_list(&refs, store);
	if (err)
		return err;
	if (!strncmp(name, "@{", 2) && name[2] && name[strlen(name) - 1] == '}')
		err = by_time(out, store, &refs, name);
	else if (*name == '@')
		err = by_position(out, store, &refs, name);
	else if (!strncmp(name, "step:", 5))
		err = by_step(out, store, &refs, name);
	else if ((named = lookup_named(store, &refs, name)))
		err = record_read(out, store, named);
	else if (strchr(name, '/'))
		err = read_fetched(out, store, name);
	else
		err = by_hash(out, store, &refs, name);
	if (err == CKPT_ENOTFOUND && refs_valid_id(name))
		err = read_fetched_id(out, store, name);
	refs_release(&refs);
	return err;
}

/* --- composed states --- */

/* "cmp_" and otherwise like that of a checkpoint. */
static bool is_composed_id(const char *id)
{
	char like[CKPT_ID_SIZE];

	if (strncmp(id, "cmp_", 4))
		return false;
	snprintf(like, sizeof(like), "chk_%s", id + 4);
	return strlen(id) == strlen(like) && refs_valid_id(like);
}

bool lookup_valid_target(const char *id)
{
	return refs_valid_id(id) || is_composed_id(id);
}

static bool find_composed(struct oid *out, struct store *store, const char *id)
{
	return keepers_find(out, store, KEEPER_JOURNAL, id) || keepers_find(out, store, KEEPER_UNDO, id);
}

bool lookup_target_exists(struct store *store, const char *id)
{
	struct oid commit;

	return is_composed_id(id) ? find_composed(&commit, store, id) : refs_exist(store, id);
}

int lookup_target(struct ckpt_record *out, struct store *store, const char *id)
{
	struct ref_item ref = { 0 };

	if (!is_composed_id(id))
		return lookup_name(out, store, id);
	snprintf(ref.id, sizeof(ref.id), "%s", id);
	if (!find_composed(&ref.commit, store, id))
		return ckpt_error_set(CKPT_ENOTFOUND, "the state '%s' is not in the store", id);
	return record_read_saved(out, store, &ref);
}

int lookup_make_composed_id(char out[CKPT_ID_SIZE], struct store *store, int64_t now)
{
	char stamp[CLOCK_ISO_SIZE];
	struct oid commit;
	uint32_t random;

	clock_format_id(stamp, now);
	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return ckpt_error_errno("unable to get random bytes");
		snprintf(out, CKPT_ID_SIZE, "cmp_%.15s_%06x", stamp, random & 0xffffff);
	} while (find_composed(&commit, store, out));
	return 0;
}

const char *lookup_target_name(const struct ckpt_record *record)
{
	return *record->composed_for ? record->composed_for : record->id;
}
