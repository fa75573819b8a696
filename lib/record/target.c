/* SPDX-License-Identifier: MIT */
#include "record/target.h"

#include "base/base.h"
#include "record/journal.h"
#include "record/lookup.h"
#include "store/store.h"

#include <sys/random.h>

bool target_valid_id(const char *id)
{
	return refs_valid_id(id) || composed_valid_id(id);
}

bool target_exists(struct store *store, const char *id)
{
	struct oid commit;

	return composed_valid_id(id) ? composed_find(&commit, store, id) : refs_exist(store, id);
}

int target_read(struct ckpt_record *out, struct store *store, const char *id)
{
	struct ref_item ref = { 0 };

	if (!composed_valid_id(id))
		return lookup_name(out, store, id);
	snprintf(ref.id, sizeof(ref.id), "%s", id);
	if (!composed_find(&ref.commit, store, id))
		return ckpt_error_set(CKPT_ENOTFOUND, "the state '%s' is not in the store", id);
	return record_read_saved(out, store, &ref);
}

int target_make_id(char out[CKPT_ID_SIZE], struct store *store, int64_t now)
{
	char stamp[CLOCK_ISO_SIZE];
	struct oid commit;
	uint32_t random;

	clock_format_id(stamp, now);
	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return ckpt_error_errno("unable to get random bytes");
		snprintf(out, CKPT_ID_SIZE, "cmp_%.15s_%06x", stamp, random & 0xffffff);
	} while (composed_find(&commit, store, out));
	return 0;
}

static int add_needed(struct strlist *out, struct store *store)
{
	struct undo_stack stack;
	struct journal journal;
	int err = journal_read(&journal, store);

	if (err && err != CKPT_ENOTFOUND)
		return err;
	if (!err) {
		strlist_add(out, journal.target);
		journal_release(&journal);
	}
	err = journal_undo_read(&stack, store);
	for (size_t i = 0; i < stack.nr; i++)
		strlist_add(out, stack.items[i].restored);
	journal_undo_release(&stack);
	return err;
}

void target_sweep(struct store *store)
{
	struct strlist all = STRLIST_INIT, needed = STRLIST_INIT;
	int err = composed_list(&all, store);

	if (!err && all.nr)
		err = add_needed(&needed, store);
	for (size_t i = 0; i < all.nr && !err; i++)
		if (!strlist_has(&needed, all.items[i]) &&
		    (!store->composed || strcmp(store->composed, all.items[i])))
			err = composed_remove(store, all.items[i]);
	strlist_release(&needed);
	strlist_release(&all);
}

const char *target_name(const struct ckpt_record *record)
{
	return *record->composed_for ? record->composed_for : record->id;
}
