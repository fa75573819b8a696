/* SPDX-License-Identifier: MIT */
#include "record/brief.h"

#include "record/lookup.h"

#define SECTION "records"

/* This many records are read as fast as the cache is written. */
enum { READ_AGAIN_MAX = 16 };

/* What is in the cache: of each up to `needed`, the rest is 0. */
_Static_assert(sizeof(struct ckpt_brief) == 80 && offsetof(struct ckpt_brief, needed) == 72,
	       "no padding");

struct entries {
	struct cache_section section;
	const struct ckpt_brief *items; /* in the order of ids */
	size_t nr;
	size_t next; /* where to look first */
};

/* --- the cache --- */

static bool is_sound(const struct ckpt_brief *brief, const struct ckpt_brief *before)
{
	const unsigned char *flags = (const unsigned char *)&brief->scoped;

	return memchr(brief->ref.id, '\0', sizeof(brief->ref.id)) && refs_valid_id(brief->ref.id) &&
	       !oid_is_zero(&brief->ref.commit) && brief->created_at &&
	       (flags[0] | flags[1] | flags[2] | flags[3]) <= 1 &&
	       (!before || strcmp(before->ref.id, brief->ref.id) < 0);
}

/* If it is not as it was written, it is ignored. */
static void load_entries(struct entries *out, struct store *store)
{
	size_t nr;

	memset(out, 0, sizeof(*out));
	if (store->briefs_wrong)
		return;
	out->section = cache_open(store, SECTION);
	nr = out->section.len / sizeof(*out->items);
	out->items = (const struct ckpt_brief *)(const void *)out->section.data;
	for (size_t i = 0; i < nr; i++)
		if (!is_sound(&out->items[i], i ? &out->items[i - 1] : NULL))
			return;
	out->nr = nr;
}

static void release_entries(struct entries *entries)
{
	cache_close(&entries->section);
}

static int compare_id(const void *id, const void *brief)
{
	return strcmp(id, ((const struct ckpt_brief *)brief)->ref.id);
}

/* The one about a ref, or NULL. Refs come by id as a rule: it is the one after the last. */
static const struct ckpt_brief *find_known(struct entries *entries, const struct ref_item *ref)
{
	const struct ckpt_brief *brief = NULL;

	if (entries->next < entries->nr && !strcmp(entries->items[entries->next].ref.id, ref->id))
		brief = &entries->items[entries->next];
	else if (entries->nr)
		brief = bsearch(ref->id, entries->items, entries->nr, sizeof(*brief), compare_id);
	if (brief)
		entries->next = (size_t)(brief - entries->items) + 1;
	return brief && oid_equal(&brief->ref.commit, &ref->commit) ? brief : NULL;
}

/* --- what it is about --- */

void brief_of(struct ckpt_brief *out, const struct ckpt_record *record)
{
	memset(out, 0, sizeof(*out));
	snprintf(out->ref.id, sizeof(out->ref.id), "%s", record->id);
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
	return !memcmp(brief, &now, offsetof(struct ckpt_brief, needed));
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

static int collect_briefs(struct ckpt_briefs *out, struct store *store, const struct ref_list *refs,
		   const struct ckpt_records *read, struct entries *known)
{
	bool gone = false;
	int err = 0;

	out->items = xcalloc(refs->nr + 1, sizeof(*out->items));
	for (size_t i = 0; i < refs->nr && !err; i++) {
		const struct ckpt_brief *brief = find_known(known, &refs->items[i]);

		if (brief) {
			out->items[out->nr++] = *brief;
			continue;
		}
		err = read_one(&out->items[out->nr], store, &refs->items[i], read);
		if (!err) {
			out->nr++;
			out->learned++;
		} else if (err == CKPT_ECORRUPT) {
			gone |= record_note_damage(&out->damaged, store, &refs->items[i]);
		}
		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND)
			err = 0;
	}
	if (gone && !err)
		record_tell_gone(&out->damaged, store, refs);
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
				 keepers_names_of(NULL, keepers, &brief->ref.commit));
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
	load_entries(&known, store);
	err = collect_briefs(out, store, refs, read, &known);
	if (!err)
		err = ask_keepers(out, store);
	release_entries(&known);
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
	return briefs->learned < READ_AGAIN_MAX ? 0 : briefs->nr * sizeof(*briefs->items);
}

void brief_keep(const struct ckpt_briefs *briefs, struct store *store)
{
	size_t rest = offsetof(struct ckpt_brief, needed);
	struct ckpt_brief *copy;

	if (!brief_worth(briefs))
		return;
	copy = xmalloc(brief_worth(briefs));
	memcpy(copy, briefs->items, brief_worth(briefs));
	for (size_t i = 0; i < briefs->nr; i++)
		memset((char *)&copy[i] + rest, 0, sizeof(*copy) - rest);
	cache_set(store, SECTION, copy, brief_worth(briefs));
	store->briefs_wrong = false;
	free(copy);
}

void brief_forget(struct store *store)
{
	store->briefs_wrong = true;
	cache_set(store, SECTION, NULL, 0);
}
