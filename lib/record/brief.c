/* SPDX-License-Identifier: MIT */
#include "record/brief.h"

#include "base/base.h"
#include "record/lookup.h"
#include "store/store.h"

#define SECTION "records"

/* This many records are read as fast as the file is written. */
enum { READ_AGAIN_MAX = 16 };

enum flags {
	SCOPED = 1,
	STATE_ONLY = 2,
	AUTOMATIC = 4,
	SAFETY = 8,
	ALL_FLAGS = 15,
};

struct entry {
	char id[CKPT_ID_SIZE];
	struct oid commit;
	uint32_t flags;
	int64_t created_at, expiry;
};

_Static_assert(sizeof(struct entry) == 72, "no padding");

struct entries {
	struct cache_section section;
	const struct entry *items; /* in the order of ids; in the section */
	size_t nr;
	size_t next; /* where to look first */
};

/* --- the file --- */

static bool entry_is_sound(const struct entry *entry, const struct entry *before)
{
	return memchr(entry->id, '\0', sizeof(entry->id)) && refs_valid_id(entry->id) &&
	       !oid_is_zero(&entry->commit) && !(entry->flags & ~(uint32_t)ALL_FLAGS) &&
	       entry->created_at && (!before || strcmp(before->id, entry->id) < 0);
}

/* If it is not as it was written, it is ignored. */
static void load(struct entries *out, struct store *store)
{
	size_t nr;

	memset(out, 0, sizeof(*out));
	out->section = cache_open(store, SECTION);
	nr = out->section.len / sizeof(struct entry);
	out->items = (const struct entry *)(const void *)out->section.data;
	for (size_t i = 0; i < nr; i++)
		if (!entry_is_sound(&out->items[i], i ? &out->items[i - 1] : NULL))
			return;
	out->nr = nr;
}

static void release(struct entries *entries)
{
	cache_close(&entries->section);
}

static int compare_id(const void *id, const void *entry)
{
	return strcmp(id, ((const struct entry *)entry)->id);
}

/* The one about a ref, or NULL. Refs come by id as a rule: it is the one after the last. */
static const struct entry *find(struct entries *entries, const struct ref_item *ref)
{
	const struct entry *entry = NULL;

	if (entries->next < entries->nr && !strcmp(entries->items[entries->next].id, ref->id))
		entry = &entries->items[entries->next];
	else if (entries->nr)
		entry = bsearch(ref->id, entries->items, entries->nr, sizeof(*entry), compare_id);
	if (entry)
		entries->next = (size_t)(entry - entries->items) + 1;
	return entry && oid_equal(&entry->commit, &ref->commit) ? entry : NULL;
}

/* --- what it is about --- */

void brief_of(struct ckpt_brief *out, const struct ckpt_record *record)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->ref.id, record->id, sizeof(out->ref.id));
	out->ref.commit = record->commit;
	out->created_at = record->created_at;
	out->expiry = record->expiry;
	out->scoped = record->scope.nr > 0;
	out->state_only = record->state_only;
	out->automatic = record->automatic;
	out->safety = record->safety;
	out->imported = record->imported;
}

bool brief_fits(const struct ckpt_brief *brief, const struct ckpt_record *record)
{
	struct ckpt_brief now;

	brief_of(&now, record);
	return !strcmp(brief->ref.id, now.ref.id) &&
	       oid_equal(&brief->ref.commit, &now.ref.commit) &&
	       brief->created_at == now.created_at && brief->expiry == now.expiry &&
	       brief->scoped == now.scoped && brief->state_only == now.state_only &&
	       brief->automatic == now.automatic && brief->safety == now.safety;
}

static void from_entry(struct ckpt_brief *out, const struct entry *entry)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->ref.id, entry->id, sizeof(out->ref.id));
	out->ref.commit = entry->commit;
	out->created_at = entry->created_at;
	out->expiry = entry->expiry;
	out->scoped = entry->flags & SCOPED;
	out->state_only = entry->flags & STATE_ONLY;
	out->automatic = entry->flags & AUTOMATIC;
	out->safety = entry->flags & SAFETY;
}

/* What the commit says. */
static void to_entry(struct entry *out, const struct ckpt_brief *brief)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->id, brief->ref.id, sizeof(out->id));
	out->commit = brief->ref.commit;
	out->created_at = brief->created_at;
	out->expiry = brief->expiry;
	out->flags = (brief->scoped ? SCOPED : 0) | (brief->state_only ? STATE_ONLY : 0) |
		     (brief->automatic ? AUTOMATIC : 0) | (brief->safety ? SAFETY : 0);
}

static int read_one(struct ckpt_brief *out, struct store *store, const struct ref_item *ref,
		    const struct ckpt_records *read)
{
	struct ckpt_record record;
	size_t at = 0;
	int err;

	if (read)
		LOWER_BOUND(at, read->nr, strcmp(read->items[at].id, ref->id) < 0);
	if (read && at < read->nr && oid_equal(&read->items[at].commit, &ref->commit)) {
		brief_of(out, &read->items[at]);
		return 0;
	}
	err = record_read_saved(&record, store, ref);
	if (err)
		return err;
	brief_of(out, &record);
	record_release(&record);
	return 0;
}

/* --- all of them --- */

static int collect(struct ckpt_briefs *out, struct store *store, const struct ref_list *refs,
		   const struct ckpt_records *read, struct entries *known)
{
	int err = 0;

	out->items = xcalloc(refs->nr + 1, sizeof(*out->items));
	for (size_t i = 0; i < refs->nr && !err; i++) {
		const struct entry *entry = find(known, &refs->items[i]);

		if (entry) {
			from_entry(&out->items[out->nr++], entry);
			continue;
		}
		err = read_one(&out->items[out->nr], store, &refs->items[i], read);
		if (!err) {
			out->nr++;
			out->learned++;
		} else if (err == CKPT_ECORRUPT) {
			strlist_add(&out->damaged, ckpt_error_last());
		}
		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND)
			err = 0;
	}
	return err;
}

static int ask_keepers(struct ckpt_briefs *briefs, struct store *store)
{
	const struct keepers *keepers;
	int err = keepers_read(&keepers, store);

	for (size_t i = 0; i < briefs->nr && !err; i++) {
		struct ckpt_brief *brief = &briefs->items[i];

		brief->needed = keepers_need(keepers, &brief->ref);
		brief->pinned = brief->needed &&
				(keepers_has(keepers, KEEPER_PIN, brief->ref.id) ||
				 keepers_name_of(keepers, &brief->ref.commit));
		brief->imported = brief->needed &&
				  keepers_has(keepers, KEEPER_IMPORT, brief->ref.id);
	}
	return err;
}

int brief_read_refs(struct ckpt_briefs *out, struct store *store, const struct ref_list *refs,
		    const struct ckpt_records *read)
{
	struct entries known;
	int err;

	memset(out, 0, sizeof(*out));
	load(&known, store);
	err = collect(out, store, refs, read, &known);
	if (!err)
		err = ask_keepers(out, store);
	release(&known);
	if (err)
		brief_release(out);
	return err;
}

int brief_read(struct ckpt_briefs *out, struct store *store)
{
	struct ref_list refs;
	int err = refs_list(&refs, store);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = brief_read_refs(out, store, &refs, NULL);
	refs_release(&refs);
	return err;
}

void brief_release(struct ckpt_briefs *briefs)
{
	free(briefs->items);
	strlist_release(&briefs->damaged);
	memset(briefs, 0, sizeof(*briefs));
}

/* --- writing --- */

size_t brief_worth(const struct ckpt_briefs *briefs)
{
	return briefs->learned < READ_AGAIN_MAX ? 0 : briefs->nr * sizeof(struct entry);
}

void brief_keep(const struct ckpt_briefs *briefs, struct store *store)
{
	struct entry *entries;

	if (!brief_worth(briefs))
		return;
	entries = xcalloc(briefs->nr + 1, sizeof(*entries));
	for (size_t i = 0; i < briefs->nr; i++)
		to_entry(&entries[i], &briefs->items[i]);
	cache_set(store, SECTION, entries, briefs->nr * sizeof(*entries));
	free(entries);
}

void brief_forget(struct store *store)
{
	cache_set(store, SECTION, NULL, 0);
}
