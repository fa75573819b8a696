/* SPDX-License-Identifier: MIT */
#include "record/lost.h"

#include "record/audit.h"
#include "record/checkpoint.h"
#include "record/manifest.h"

#define MEMBER "lost"

enum {
	DIGITS = 8,
	RECORD_MAX = 16 << 20, /* no record is larger than this */
};

struct note {
	char id[CKPT_ID_SIZE];
	char digits[DIGITS + 1]; /* "": not known */
};

struct notes {
	struct note *items;
	size_t nr, alloc;
	const struct ref_list *refs; /* checkpoints with a ref here are not lost; by id */
};

static void notes_init(struct notes *notes, const struct ref_list *refs)
{
	*notes = (struct notes){ .refs = refs };
}

static void notes_release(struct notes *notes)
{
	free(notes->items);
}

static struct note *find_note(const struct notes *notes, const char *id)
{
	for (size_t i = 0; i < notes->nr; i++)
		if (!strcmp(notes->items[i].id, id))
			return &notes->items[i];
	return NULL;
}

static void add_note(const char *id, const char *digits, void *payload)
{
	struct notes *notes = payload;
	struct note *note;

	if (refs_has(notes->refs, id) || find_note(notes, id))
		return;
	note = ALLOC_NEXT(notes->items, notes->nr, notes->alloc);
	snprintf(note->id, sizeof(note->id), "%s", id);
	snprintf(note->digits, sizeof(note->digits), "%s", digits);
}

/* --- what is recorded --- */

/* CKPT_ECORRUPT: the state is damaged, so there may have been any. */
static int read_notes(struct notes *out, struct store *store)
{
	json_t *lost = NULL, *digits;
	const char *id;
	int err = state_get(&lost, store, MEMBER);

	json_object_foreach(lost, id, digits)
		if (refs_valid_id(id))
			add_note(id, json_is_string(digits) ? json_string_value(digits) : "", out);
	json_decref(lost);
	return err;
}

static int write_notes(const struct notes *notes, struct store *store)
{
	json_t *lost = notes->nr ? json_object() : NULL;

	for (size_t i = 0; i < notes->nr; i++)
		json_object_set_new(lost, notes->items[i].id, json_string(notes->items[i].digits));
	return state_set(store, MEMBER, lost);
}

/* --- commits --- */

static int compare_refs(const void *a, const void *b)
{
	const struct ref_item *one = a, *other = b;
	int cmp = strcmp(one->id, other->id);

	return cmp ? cmp : memcmp(one->commit.id, other->commit.id, OID_SIZE);
}

/* Sort; the same commit may be in several packs. */
static void sort_unique(struct ref_list *list)
{
	size_t kept = 0;

	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare_refs);
	for (size_t i = 0; i < list->nr; i++)
		if (!kept || compare_refs(&list->items[kept - 1], &list->items[i]))
			list->items[kept++] = list->items[i];
	list->nr = kept;
}

/* Is it the commit of a checkpoint? Then it says of which. */
static void add_commit(struct ref_list *out, struct store *store, const struct oid *oid)
{
	struct strbuf text = STRBUF_INIT;
	struct ckpt_record record;
	struct ref_item ref = { .commit = *oid };
	const char *line;

	if (!objects_read(&text, store, oid, OBJECT_COMMIT)) {
		line = strstr(text.buf, "\nId: ");
		if (line) {
			line += strlen("\nId: ");
			snprintf(ref.id, sizeof(ref.id), "%.*s", (int)strcspn(line, "\n"), line);
		}
		if (refs_valid_id(ref.id) && !record_read(&record, store, &ref)) {
			refs_add(out, ref.id, oid);
			record_release(&record);
		}
	}
	strbuf_release(&text);
}

/* Those of other machines have refs of their own. */
static bool is_fetched(const struct fetched_list *fetched, const struct oid *oid)
{
	for (size_t i = 0; i < fetched->nr; i++)
		if (oid_equal(&fetched->items[i].ref.commit, oid))
			return true;
	return false;
}

int lost_commits(struct ref_list *out, struct store *store)
{
	struct fetched_list fetched;
	int err = objects_open(store);

	memset(out, 0, sizeof(*out));
	(void)fetched_list(&fetched, store);
	for (size_t i = 0; !err && i < packs_count(store->packs); i++) {
		struct pack_contents contents;

		if (packs_contents(&contents, store->packs, i))
			continue;
		for (size_t j = 0; contents.data && j < contents.nr; j++) {
			enum object_type type;
			uint64_t size;

			if (!packs_stat(&type, &size, store->packs, &contents.items[j].oid) &&
			    type == OBJECT_COMMIT && size <= RECORD_MAX &&
			    !is_fetched(&fetched, &contents.items[j].oid))
				add_commit(out, store, &contents.items[j].oid);
		}
		packs_contents_release(&contents);
	}
	sort_unique(out);
	fetched_release(&fetched);
	return err;
}

/* --- what happened to them --- */

enum fate { UNKNOWN, KEPT, GONE };

/* What the audit trail, newest first, said last about an id. */
static enum fate fate_of(const json_t *log, const char *id)
{
	static const char *const gone[] = { "drop", "evict", "prune" };
	json_t *entry;
	size_t i;

	json_array_foreach(log, i, entry)
	{
		const char *about = json_string_value(json_object_get(entry, "id")),
			   *action = json_string_value(json_object_get(entry, "action"));

		if (!about || !action || strcmp(about, id))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(gone); j++)
			if (!strcmp(action, gone[j]))
				return GONE;
		return KEPT;
	}
	return UNKNOWN;
}

/*
 * Without any refs, whoever rebuilt the manifest may have known none, and a damaged manifest has
 * forgotten some: look in the packs. A commit unknown to the trail is from a save that was killed
 * before it made its ref, unless the trail is lost as well, which is assumed only for a store that
 * was found damaged.
 */
static int add_from_packs(struct notes *notes, struct store *store, const json_t *log, bool any)
{
	struct ref_list commits;
	int err = lost_commits(&commits, store);

	if (err)
		return err;
	any = any || (!notes->refs->nr && !json_array_size(log) && store->damage.nr);
	for (size_t i = 0; i < commits.nr; i++) {
		char hex[OID_HEX + 1];

		oid_hex(hex, &commits.items[i].commit)[DIGITS] = '\0';
		if (any || fate_of(log, commits.items[i].id) == KEPT)
			add_note(commits.items[i].id, hex, notes);
	}
	refs_release(&commits);
	return 0;
}

/* Those that are recorded, followed by those that are not yet. */
static int collect_notes(struct notes *out, size_t *noted_out, bool *damaged_out,
			 struct store *store, const struct ref_list *refs, bool any)
{
	json_t *log = NULL;
	bool whole;
	size_t kept;
	int err;

	notes_init(out, refs);
	err = read_notes(out, store);
	*damaged_out = err == CKPT_ECORRUPT;
	if (any || *damaged_out)
		err = 0; /* with any, nothing is expected to be intact there */
	kept = *noted_out = out->nr;
	if (err)
		return err;
	whole = manifest_each(store, add_note, out) && !*damaged_out;
	if (refs->nr && out->nr == kept && whole)
		return 0;
	if (audit_read(&log, store, 0))
		log = json_array();
	if (!refs->nr || !whole)
		err = add_from_packs(out, store, log, any);
	for (size_t i = kept; i < out->nr; i++)
		if (fate_of(log, out->items[i].id) != GONE)
			out->items[kept++] = out->items[i];
	out->nr = kept;
	json_decref(log);
	return err;
}

int lost_note(struct store *store, const struct ref_list *refs)
{
	struct notes notes;
	size_t noted;
	bool damaged;
	int err = collect_notes(&notes, &noted, &damaged, store, refs, false);

	if (!err && (notes.nr > noted || damaged))
		err = write_notes(&notes, store);
	notes_release(&notes);
	return err;
}

void lost_rebuild_manifest(struct store *store)
{
	struct ref_list refs;

	if (refs_list(&refs, store))
		return;
	if (!lost_note(store, &refs))
		(void)manifest_rebuild(store);
	refs_release(&refs);
}

size_t lost_count(struct store *store, const struct ref_list *refs)
{
	bool agrees = manifest_agrees(store, refs);
	int still = agrees ? -1 : store_hold_still(store);
	struct ref_list now = { 0 };
	struct notes notes = { 0 };
	size_t noted;
	bool damaged;

	/* Whoever changes the store has not yet written what it did: look only while nobody does. */
	if (still >= 0 && !refs_list(&now, store)) {
		(void)collect_notes(&notes, &noted, &damaged, store, &now, false);
	} else {
		notes_init(&notes, refs);
		(void)read_notes(&notes, store);
	}
	noted = notes.nr;
	notes_release(&notes);
	refs_release(&now);
	fs_close(still);
	return noted;
}

/* Of several commits with the same id the one whose name is noted. */
static const struct oid *commit_of(const struct ref_list *commits, const struct note *note)
{
	const struct oid *found = NULL;
	char hex[OID_HEX + 1];

	for (size_t i = 0; i < commits->nr; i++) {
		if (strcmp(commits->items[i].id, note->id))
			continue;
		if (!found ||
		    !strncmp(oid_hex(hex, &commits->items[i].commit), note->digits, DIGITS))
			found = &commits->items[i].commit;
	}
	return found;
}

static int resolve_notes(struct ref_list *out, struct store *store, const struct notes *notes,
			 bool unknown_too)
{
	struct ref_list commits;
	int err;

	memset(out, 0, sizeof(*out));
	if (!notes->nr)
		return 0;
	err = lost_commits(&commits, store);
	if (err)
		return err;
	for (size_t i = 0; i < notes->nr; i++) {
		const struct oid *commit = commit_of(&commits, &notes->items[i]);

		if (commit || unknown_too)
			refs_add(out, notes->items[i].id, commit);
	}
	sort_unique(out);
	refs_release(&commits);
	return 0;
}

int lost_read(struct ref_list *out, struct store *store, const struct ref_list *refs)
{
	struct notes notes;
	int err;

	notes_init(&notes, refs);
	err = read_notes(&notes, store);
	memset(out, 0, sizeof(*out));
	if (!err)
		err = resolve_notes(out, store, &notes, false);
	notes_release(&notes);
	return err;
}

int lost_find(struct ref_list *out, struct store *store, const struct ref_list *refs, bool any)
{
	struct notes notes;
	size_t noted;
	bool damaged;
	int err = collect_notes(&notes, &noted, &damaged, store, refs, any);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = resolve_notes(out, store, &notes, true);
	notes_release(&notes);
	return err;
}

int lost_forget(struct store *store, const char *id)
{
	static const struct ref_list none;
	struct notes notes;
	struct note *note;
	int err;

	notes_init(&notes, &none);
	err = read_notes(&notes, store);
	note = find_note(&notes, id);
	if (!err && note) {
		*note = notes.items[--notes.nr];
		err = write_notes(&notes, store);
	}
	notes_release(&notes);
	return err;
}
